#include "roost/control/http_attempt.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "roost/config/message_text.h"
#include "roost/control/socket_mark.h"

namespace roost::control {

namespace {

constexpr size_t kAnswerKibMax = 64;  // of an answer's headers, and of its body
constexpr size_t kAnswerBytesMax = kAnswerKibMax * 1'024;
constexpr long kInterimStatusEnd = 200;  // "100 Continue" is no answer yet

std::string statuses_text(const std::vector<StatusRange>& statuses) {
  std::string text;
  for (const StatusRange& range : statuses) {
    if (!text.empty()) text += ", ";
    text += std::to_string(range.first);
    if (range.last != range.first) text += "-" + std::to_string(range.last);
  }
  return text;
}

}  // namespace

HttpAttempt::HttpAttempt(HttpTransfers& transfers, const HealthTarget& target,
                         const HttpCheck& check, CheckDone done)
    : transfers_(transfers),
      check_(check),
      mark_(target.mark),
      done_(std::move(done)),
      transfer_(curl_easy_init()) {
  set_request(target);
  if (check.tls) set_tls(*check.tls);
  CURL* const transfer = transfer_.get();
  curl_easy_setopt(transfer, CURLOPT_ERRORBUFFER, error_.data());
  curl_easy_setopt(transfer, CURLOPT_SOCKOPTFUNCTION, &HttpAttempt::take_socket);
  curl_easy_setopt(transfer, CURLOPT_SOCKOPTDATA, this);
  curl_easy_setopt(transfer, CURLOPT_HEADERFUNCTION, &HttpAttempt::take_header);
  curl_easy_setopt(transfer, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(transfer, CURLOPT_WRITEFUNCTION, &HttpAttempt::take_body);
  curl_easy_setopt(transfer, CURLOPT_WRITEDATA, this);
  // The checker's own timeout ends what takes too long.
  curl_easy_setopt(transfer, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(target.timeout.count()) + 1'000L);
  curl_easy_setopt(transfer, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(transfer, CURLOPT_PROXY, "");  // whatever the environment says
  curl_easy_setopt(transfer, CURLOPT_FRESH_CONNECT, 1L);
  curl_easy_setopt(transfer, CURLOPT_FORBID_REUSE, 1L);
  transfers_.add(transfer, [this](CURLcode code) {
    const CheckDone told = std::move(done_);
    told(failure_of(code));
  });
}

HttpAttempt::~HttpAttempt() { transfers_.remove(transfer_.get()); }

void HttpAttempt::set_request(const HealthTarget& target) {
  CURL* const transfer = transfer_.get();
  const std::string endpoint = net::endpoint_text(target.address, target.port);
  const std::string authority =
      check_.host.empty() ? endpoint : fmt::format("{}:{}", check_.host, target.port);
  const std::string scheme = check_.tls ? "https" : "http";
  curl_easy_setopt(transfer, CURLOPT_PROTOCOLS_STR, scheme.c_str());
  curl_easy_setopt(transfer, CURLOPT_URL, fmt::format("{}://{}/", scheme, authority).c_str());
  curl_easy_setopt(transfer, CURLOPT_REQUEST_TARGET, check_.path.c_str());
  curl_easy_setopt(transfer, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(transfer, CURLOPT_USERAGENT, "roost-health");
  if (check_.is_head) curl_easy_setopt(transfer, CURLOPT_NOBODY, 1L);

  headers_.reset(curl_slist_append(headers_.release(), "Connection: close"));
  if (!check_.host.empty()) {  // as it was given, without the port
    headers_.reset(curl_slist_append(headers_.release(), ("Host: " + check_.host).c_str()));
    // The target is where the name leads: no name is looked up.
    connect_to_.reset(curl_slist_append(nullptr, ("::" + endpoint).c_str()));
    curl_easy_setopt(transfer, CURLOPT_CONNECT_TO, connect_to_.get());
  }
  curl_easy_setopt(transfer, CURLOPT_HTTPHEADER, headers_.get());
}

void HttpAttempt::set_tls(const TlsSettings& tls) {
  CURL* const transfer = transfer_.get();
  curl_easy_setopt(transfer, CURLOPT_SSL_VERIFYPEER, tls.verify ? 1L : 0L);
  curl_easy_setopt(transfer, CURLOPT_SSL_VERIFYHOST, tls.verify ? 2L : 0L);
  // One that goes on with an older session would not show its certificate.
  curl_easy_setopt(transfer, CURLOPT_SSL_SESSIONID_CACHE, 0L);
  if (tls.ca.empty()) return;
  curl_easy_setopt(transfer, CURLOPT_CAINFO, tls.ca.c_str());
  curl_easy_setopt(transfer, CURLOPT_CAPATH, nullptr);  // the system's do not count beside it
}

int HttpAttempt::take_socket(void* self, curl_socket_t socket, curlsocktype) {
  auto* attempt = static_cast<HttpAttempt*>(self);
  attempt->socket_failure_ = mark_socket(socket, attempt->mark_);
  return attempt->socket_failure_.empty() ? CURL_SOCKOPT_OK : CURL_SOCKOPT_ERROR;
}

size_t HttpAttempt::take_header(char* bytes, size_t size, size_t count, void* self) {
  const std::string_view line(bytes, size * count);
  return static_cast<HttpAttempt*>(self)->take_header_line(line) ? line.size() : 0;
}

// Whether to go on.
bool HttpAttempt::take_header_line(std::string_view line) {
  header_bytes_ += line.size();
  if (header_bytes_ > kAnswerBytesMax) return false;
  const bool is_end = line == "\r\n" || line == "\n";
  if (is_end && status() >= kInterimStatusEnd) {
    is_enough_ = check_.body.empty() || !is_good_status();
  }
  return !is_enough_;
}

size_t HttpAttempt::take_body(char* bytes, size_t size, size_t count, void* self) {
  const std::string_view part(bytes, size * count);
  return static_cast<HttpAttempt*>(self)->take_body_part(part) ? part.size() : 0;
}

// Whether to go on. The text may stand across two parts.
bool HttpAttempt::take_body_part(std::string_view part) {
  const size_t overlap = std::min(body_.size(), check_.body.size() - 1);
  const size_t from = body_.size() - overlap;
  body_ += part.substr(0, kAnswerBytesMax - body_.size());
  has_text_ = body_.find(check_.body, from) != std::string::npos;
  is_enough_ = has_text_ || body_.size() == kAnswerBytesMax;
  return !is_enough_;
}

long HttpAttempt::status() const {
  long status = 0;
  curl_easy_getinfo(transfer_.get(), CURLINFO_RESPONSE_CODE, &status);
  return status;
}

bool HttpAttempt::is_good_status() const {
  return std::ranges::any_of(check_.statuses, [status = status()](const StatusRange& range) {
    return status >= range.first && status <= range.last;
  });
}

std::string HttpAttempt::failure_of(CURLcode code) const {
  if (header_bytes_ > kAnswerBytesMax) {
    return fmt::format("the headers of its answer are longer than {} KiB", kAnswerKibMax);
  }
  if (!is_enough_ && code != CURLE_OK) return error_words(code);
  if (!is_good_status()) {
    return fmt::format("status {} instead of {}", status(), statuses_text(check_.statuses));
  }
  if (check_.body.empty() || has_text_) return "";
  const std::string text = config::in_quotes(check_.body);
  if (body_.size() < kAnswerBytesMax) return "its body does not contain " + text;
  return fmt::format("the first {} KiB of its body do not contain {}", kAnswerKibMax, text);
}

// Those of the system where it refused a connection: libcurl's have times in them, which differ.
std::string HttpAttempt::error_words(CURLcode code) const {
  if (!socket_failure_.empty()) return socket_failure_;
  long error = 0;
  curl_easy_getinfo(transfer_.get(), CURLINFO_OS_ERRNO, &error);
  if (code == CURLE_COULDNT_CONNECT && error != 0) {
    return std::generic_category().message(static_cast<int>(error));
  }
  const std::string words = error_.data();
  return words.empty() ? curl_easy_strerror(code) : words;
}

}  // namespace roost::control
