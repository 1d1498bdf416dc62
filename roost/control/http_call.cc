#include "roost/control/http_call.h"

#include <utility>

namespace roost::control {

namespace {

constexpr long kConnectMilliseconds = 3'000;

}  // namespace

HttpCall::HttpCall(HttpTransfers& transfers, Request request, OnPart on_part, OnEnd on_end)
    : transfers_(transfers),
      request_(std::move(request)),
      on_part_(std::move(on_part)),
      headers_(curl_slist_append(nullptr, "Content-Type: application/json")),
      transfer_(curl_easy_init()) {
  CURL* const transfer = transfer_.get();
  curl_easy_setopt(transfer, CURLOPT_URL, request_.url.c_str());
  curl_easy_setopt(transfer, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(transfer, CURLOPT_POSTFIELDS, request_.body.c_str());
  curl_easy_setopt(transfer, CURLOPT_POSTFIELDSIZE, static_cast<long>(request_.body.size()));
  curl_easy_setopt(transfer, CURLOPT_HTTPHEADER, headers_.get());
  curl_easy_setopt(transfer, CURLOPT_USERAGENT, "roost");
  curl_easy_setopt(transfer, CURLOPT_ERRORBUFFER, error_.data());
  curl_easy_setopt(transfer, CURLOPT_WRITEFUNCTION, &HttpCall::take_part);
  curl_easy_setopt(transfer, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(transfer, CURLOPT_CONNECTTIMEOUT_MS, kConnectMilliseconds);
  curl_easy_setopt(transfer, CURLOPT_TIMEOUT_MS, static_cast<long>(request_.timeout.count()));
  curl_easy_setopt(transfer, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(transfer, CURLOPT_PROXY, "");  // whatever the environment says
  transfers_.add(transfer, [this, on_end = std::move(on_end)](CURLcode code) {
    const std::string words = error_.data();
    on_end(code == CURLE_OK ? "" : words.empty() ? curl_easy_strerror(code) : words);
  });
}

HttpCall::~HttpCall() { transfers_.remove(transfer_.get()); }

size_t HttpCall::take_part(char* bytes, size_t size, size_t count, void* self) {
  const std::string_view part(bytes, size * count);
  return static_cast<HttpCall*>(self)->on_part_(part) ? part.size() : 0;
}

}  // namespace roost::control
