#include "roost/control/http_transfers.h"

#include <asio/posix/stream_descriptor.hpp>
#include <chrono>
#include <csignal>
#include <system_error>
#include <utility>

namespace roost::control {

void block_broken_pipe_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

struct HttpTransfers::Watch {
  explicit Watch(asio::io_context& context) : descriptor(context) {}

  asio::posix::stream_descriptor descriptor;  // the socket stays libcurl's
  int wanted = CURL_POLL_NONE;                // of CURL_POLL_IN and CURL_POLL_OUT
  int waiting = CURL_POLL_NONE;               // what the context waits for
};

HttpTransfers::HttpTransfers(asio::io_context& context) : context_(context), timer_(context) {
  // What is global is made once, and lives as long as the process.
  static const CURLcode is_ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  static_cast<void>(is_ready);
  multi_ = curl_multi_init();
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &HttpTransfers::watch_socket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &HttpTransfers::set_timer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
}

HttpTransfers::~HttpTransfers() {
  while (!transfers_.empty()) remove(transfers_.begin()->first);
  curl_multi_cleanup(multi_);
}

void HttpTransfers::add(CURL* transfer, Done done) {
  transfers_[transfer] = std::move(done);
  curl_multi_add_handle(multi_, transfer);
}

void HttpTransfers::remove(CURL* transfer) {
  if (transfers_.erase(transfer) != 0) curl_multi_remove_handle(multi_, transfer);
}

int HttpTransfers::watch_socket(CURL*, curl_socket_t socket, int wanted, void* self, void*) {
  return static_cast<HttpTransfers*>(self)->want(socket, wanted);
}

int HttpTransfers::want(curl_socket_t socket, int wanted) {
  if (wanted == CURL_POLL_REMOVE) {
    const auto known = watches_.find(socket);
    if (known == watches_.end()) return 0;
    known->second->wanted = CURL_POLL_NONE;
    known->second->descriptor.release();
    watches_.erase(known);
    return 0;
  }
  std::shared_ptr<Watch>& watch = watches_[socket];
  if (watch == nullptr) {
    watch = std::make_shared<Watch>(context_);
    std::error_code error;
    watch->descriptor.assign(socket, error);
    if (error) {
      watches_.erase(socket);
      return -1;  // the transfer fails
    }
  }
  watch->wanted = wanted;
  wait(watch);
  return 0;
}

void HttpTransfers::wait(const std::shared_ptr<Watch>& watch) {
  wait_for(watch, CURL_POLL_IN, CURL_CSELECT_IN);
  wait_for(watch, CURL_POLL_OUT, CURL_CSELECT_OUT);
}

void HttpTransfers::wait_for(const std::shared_ptr<Watch>& watch, int wanted, int event) {
  if ((watch->wanted & wanted) == 0 || (watch->waiting & wanted) != 0) return;
  watch->waiting |= wanted;
  const auto kind = wanted == CURL_POLL_IN ? asio::posix::stream_descriptor::wait_read
                                           : asio::posix::stream_descriptor::wait_write;
  watch->descriptor.async_wait(kind, [this, watch, wanted, event](std::error_code error) {
    watch->waiting &= ~wanted;
    // Libcurl may have given the socket up meanwhile, and its number may be another one's.
    if (watch->wanted == CURL_POLL_NONE) return;
    if ((watch->wanted & wanted) != 0) {
      act(watch->descriptor.native_handle(), error ? CURL_CSELECT_ERR : event);
    }
    wait(watch);
  });
}

int HttpTransfers::set_timer(CURLM*, long milliseconds, void* self) {
  auto* transfers = static_cast<HttpTransfers*>(self);
  if (milliseconds < 0) {
    transfers->timer_.cancel();
    return 0;
  }
  transfers->timer_.expires_after(std::chrono::milliseconds(milliseconds));
  transfers->timer_.async_wait([transfers](std::error_code error) {
    if (!error) transfers->act(CURL_SOCKET_TIMEOUT, 0);
  });
  return 0;
}

void HttpTransfers::act(curl_socket_t socket, int events) {
  int running = 0;
  curl_multi_socket_action(multi_, socket, events, &running);
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL* const transfer = message->easy_handle;
    const CURLcode code = message->data.result;
    const auto known = transfers_.find(transfer);
    if (known == transfers_.end()) continue;
    const Done done = std::move(known->second);
    remove(transfer);
    done(code);
  }
}

}  // namespace roost::control
