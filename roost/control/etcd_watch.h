// Follows what stands below a prefix in etcd, in a thread of its own: all keys of it are read when
// a watch says that something has changed, and every few seconds besides, which also tells that
// etcd is there (docs/decisions/0036-two-nodes.md).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "roost/control/etcd_messages.h"

namespace roost::control {

class EtcdWatch {
 public:
  struct Config {
    std::string url{};  // "http://127.0.0.1:2379"
    std::string prefix{};
    std::chrono::milliseconds interval{5'000};  // between two readings without a change
    std::chrono::milliseconds retry{1'000};     // after a failure
    std::chrono::milliseconds timeout{3'000};   // of a reading
    // Both are called on the watch's thread. When keys are read for the first time, after a
    // failure, or differ from those before; while it returns false, after each reading.
    std::function<bool(const EtcdKeys& keys)> on_keys{};
    // When a reading fails, each time; `reason`: "Failed to connect to 127.0.0.1 port 2379 ...".
    std::function<void(const std::string& reason)> on_away{};
  };

  // Reads from now on.
  explicit EtcdWatch(Config config);
  EtcdWatch(const EtcdWatch&) = delete;
  EtcdWatch& operator=(const EtcdWatch&) = delete;
  ~EtcdWatch();  // waits for a call that is under way

 private:
  class Follower;
  std::unique_ptr<Follower> follower_;
};

}  // namespace roost::control
