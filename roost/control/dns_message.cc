#include "roost/control/dns_message.h"

#include <arpa/nameser.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <resolv.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace roost::control {

namespace {

constexpr std::string_view kOfAnother = "its answer is to another request";

const uint8_t* bytes_of(std::string_view text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

bool has_number_of(std::string_view request, std::string_view answer) {
  return request.substr(0, sizeof(uint16_t)) == answer.substr(0, sizeof(uint16_t));
}

char in_lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Whether it repeats the name, type and class that were asked for: all behind the request's header,
// and uncompressed, because they come first. Lengths of labels are no letters.
bool repeats_request(std::string_view request, std::string_view answer) {
  const std::string_view asked = request.substr(NS_HFIXEDSZ);
  const std::string_view repeated = answer.substr(NS_HFIXEDSZ, asked.size());
  return std::ranges::equal(asked, repeated, {}, in_lower_case, in_lower_case);
}

}  // namespace

std::string dns_request(const DnsCheck& check) {
  struct __res_state resolver = {};  // without the host's resolv.conf
  resolver.options = RES_RECURSE;
  std::string request(NS_PACKETSZ, '\0');
  const int bytes =
      res_nmkquery(&resolver, ns_o_query, check.name.c_str(), ns_c_in, check.type, nullptr, 0,
                   nullptr, reinterpret_cast<uint8_t*>(request.data()), NS_PACKETSZ);
  request.resize(bytes < 0 ? 0 : static_cast<size_t>(bytes));
  return request;
}

std::string dns_failure(const DnsCheck& check, std::string_view request, std::string_view answer) {
  ns_msg message = {};
  if (ns_initparse(bytes_of(answer), static_cast<int>(answer.size()), &message) != 0) {
    return "its answer is no DNS message";
  }
  if (!has_number_of(request, answer) || ns_msg_getflag(message, ns_f_qr) == 0) {
    return std::string(kOfAnother);
  }
  const auto rcode = static_cast<size_t>(ns_msg_getflag(message, ns_f_rcode));
  if (rcode != check.rcode) {
    const std::string given = rcode < kRcodeNames.size() ? std::string(kRcodeNames[rcode])
                                                         : fmt::format("code {}", rcode);
    return fmt::format("it answers {} instead of {}", given, kRcodeNames[check.rcode]);
  }
  // An error may come without what was asked for.
  const bool may_lack_it = rcode != ns_r_noerror && ns_msg_count(message, ns_s_qd) == 0;
  return may_lack_it || repeats_request(request, answer) ? "" : std::string(kOfAnother);
}

}  // namespace roost::control
