// A POST of JSON by libcurl, whose answer comes in parts: as much of one as there is, or a stream
// that does not end. Lives on the thread of its transfers' context.
#pragma once

#include <curl/curl.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "roost/control/http_transfers.h"

namespace roost::control {

class HttpCall {
 public:
  struct Request {
    std::string url{};
    std::string body{};
    std::chrono::milliseconds timeout{};  // of all of it; 0: of the connection's begin alone
  };
  // Whether to go on; called within the transfers, so that the call may not be destroyed there.
  using OnPart = std::function<bool(std::string_view part)>;
  // Why it failed; empty if the answer came to its end. The call may be destroyed there.
  using OnEnd = std::function<void(const std::string& failure)>;

  HttpCall(HttpTransfers& transfers, Request request, OnPart on_part, OnEnd on_end);
  HttpCall(const HttpCall&) = delete;
  HttpCall& operator=(const HttpCall&) = delete;
  ~HttpCall();  // ends it without a word

 private:
  static size_t take_part(char* bytes, size_t size, size_t count, void* self);

  struct EndTransfer {
    void operator()(CURL* transfer) const { curl_easy_cleanup(transfer); }
  };
  struct FreeList {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };

  HttpTransfers& transfers_;
  Request request_;
  OnPart on_part_;
  std::array<char, CURL_ERROR_SIZE> error_{};
  std::unique_ptr<curl_slist, FreeList> headers_;
  std::unique_ptr<CURL, EndTransfer> transfer_;  // goes before what it points to
};

}  // namespace roost::control
