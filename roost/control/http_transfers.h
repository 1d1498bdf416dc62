// libcurl's transfers on an asio context: libcurl says which sockets and which time it waits for,
// the context waits. No thread, no call that blocks.
//
// Everything here is called on the context's thread, and the context is not run any more when this
// object is destroyed.
#pragma once

#include <curl/curl.h>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <functional>
#include <map>
#include <memory>

namespace roost::control {

// Libraries write to connections that peers have closed. For the thread that runs the context.
void block_broken_pipe_signals();

class HttpTransfers {
 public:
  // How a transfer ended. Called by the context, once.
  using Done = std::function<void(CURLcode code)>;

  explicit HttpTransfers(asio::io_context& context);
  HttpTransfers(const HttpTransfers&) = delete;
  HttpTransfers& operator=(const HttpTransfers&) = delete;
  ~HttpTransfers();

  // Begins a transfer, whose handle must live until it is done or removed.
  void add(CURL* transfer, Done done);
  // Ends it without a word. Not by a callback of libcurl's. One that is over may be removed again.
  void remove(CURL* transfer);

 private:
  struct Watch;  // of a socket that libcurl waits for

  static int watch_socket(CURL*, curl_socket_t socket, int wanted, void* self, void*);
  static int set_timer(CURLM*, long milliseconds, void* self);
  int want(curl_socket_t socket, int wanted);
  void wait(const std::shared_ptr<Watch>& watch);
  void wait_for(const std::shared_ptr<Watch>& watch, int wanted, int event);
  void act(curl_socket_t socket, int events);

  asio::io_context& context_;
  asio::steady_timer timer_;
  std::map<curl_socket_t, std::shared_ptr<Watch>> watches_;
  std::map<CURL*, Done> transfers_;
  CURLM* multi_;
};

}  // namespace roost::control
