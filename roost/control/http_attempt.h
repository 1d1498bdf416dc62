// A health check by an HTTP request: good when the answer has a good status, and the text in its
// body if one is wanted. No more of the answer is read than it takes to know.
#pragma once

#include <curl/curl.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "roost/control/check_attempt.h"
#include "roost/control/health_checker.h"
#include "roost/control/http_transfers.h"

namespace roost::control {

class HttpAttempt final : public CheckAttempt {
 public:
  // The check must outlive this object.
  HttpAttempt(HttpTransfers& transfers, const HealthTarget& target, const HttpCheck& check,
              CheckDone done);
  ~HttpAttempt() override;

 private:
  static int take_socket(void* self, curl_socket_t socket, curlsocktype);
  // Libcurl's callbacks; each returns how many bytes it took, and fewer end the transfer.
  static size_t take_header(char* bytes, size_t size, size_t count, void* self);
  static size_t take_body(char* bytes, size_t size, size_t count, void* self);

  void set_request(const HealthTarget& target);
  void set_tls(const TlsSettings& tls);
  [[nodiscard]] bool take_header_line(std::string_view line);
  [[nodiscard]] bool take_body_part(std::string_view part);
  [[nodiscard]] long status() const;
  [[nodiscard]] bool is_good_status() const;
  [[nodiscard]] std::string failure_of(CURLcode code) const;
  [[nodiscard]] std::string error_words(CURLcode code) const;

  struct EndTransfer {
    void operator()(CURL* transfer) const { curl_easy_cleanup(transfer); }
  };
  struct FreeList {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };

  HttpTransfers& transfers_;
  const HttpCheck& check_;
  uint32_t mark_;
  CheckDone done_;
  std::array<char, CURL_ERROR_SIZE> error_{};
  std::unique_ptr<curl_slist, FreeList> headers_;
  std::unique_ptr<curl_slist, FreeList> connect_to_;
  std::unique_ptr<CURL, EndTransfer> transfer_;  // goes before what it points to
  std::string socket_failure_;
  size_t header_bytes_ = 0;
  std::string body_;
  bool has_text_ = false;   // the body, as far as it was read
  bool is_enough_ = false;  // was read to know
};

}  // namespace roost::control
