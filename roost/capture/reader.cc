#include "roost/capture/reader.h"

#include <pcap/pcap.h>

#include <array>

namespace roost::capture {

namespace {

constexpr uint64_t kMicrosecondsPerSecond = 1'000'000;

uint64_t microseconds(const timeval& time) {
  return static_cast<uint64_t>(time.tv_sec) * kMicrosecondsPerSecond +
         static_cast<uint64_t>(time.tv_usec);
}

std::string link_type_name(int link_type) {
  const char* name = pcap_datalink_val_to_name(link_type);
  const char* description = pcap_datalink_val_to_description(link_type);
  if (name == nullptr) return "number " + std::to_string(link_type);
  return description == nullptr ? name : std::string(name) + " (" + description + ")";
}

}  // namespace

void Reader::Close::operator()(pcap* file) const { pcap_close(file); }

Result<Reader> Reader::open(const std::string& path) {
  std::array<char, PCAP_ERRBUF_SIZE> reason{};
  Reader reader(pcap_open_offline(path.c_str(), reason.data()));
  if (reader.file_ == nullptr) {
    return Error{path + ": not a capture that libpcap reads: " + reason.data() +
                 "; save it as pcap or pcapng, with Ethernet frames"};
  }
  if (const int link_type = pcap_datalink(reader.file_.get()); link_type != DLT_EN10MB) {
    return Error{path + ": its link type is " + link_type_name(link_type) +
                 ", not Ethernet; capture on one Ethernet interface (not on \"any\")"};
  }
  return reader;
}

std::optional<Frame> Reader::next() {
  pcap_pkthdr* header = nullptr;
  const u_char* bytes = nullptr;
  const int outcome = pcap_next_ex(file_.get(), &header, &bytes);
  if (outcome == PCAP_ERROR) cut_reason_ = pcap_geterr(file_.get());
  if (outcome != 1) return {};
  return Frame{{bytes, header->caplen}, header->len, microseconds(header->ts)};
}

}  // namespace roost::capture
