// What a service manager is notified of: nothing that is not true at that moment. The manager
// here is the other end of the protocol: a datagram socket. Nothing waits for a time; datagrams
// come in the order in which they were sent.
#include "roost/control/service_notice.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "roost/base/file_descriptor.h"

namespace roost::control {
namespace {

class Manager {
 public:
  explicit Manager(const char* watchdog_microseconds = nullptr) {
    std::string folder = "/tmp/roost-notice-XXXXXX";
    EXPECT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    const std::string path = folder + "/notify";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    // So that a silent process fails the test instead of hanging it.
    const timeval patience{.tv_sec = 60, .tv_usec = 0};
    EXPECT_EQ(setsockopt(socket_.number(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)),
              0);
    EXPECT_EQ(bind(socket_.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
              0);
    setenv("NOTIFY_SOCKET", path.c_str(), 1);
    if (watchdog_microseconds != nullptr) setenv("WATCHDOG_USEC", watchdog_microseconds, 1);
  }
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;
  ~Manager() {
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    std::filesystem::remove_all(folder_);
  }

  std::string receive() {
    std::array<char, 1'024> text{};
    const ssize_t bytes = recv(socket_.number(), text.data(), text.size(), 0);
    if (bytes <= 0) throw std::runtime_error("the process says nothing");
    return {text.data(), static_cast<size_t>(bytes)};
  }

  void forget_what_was_said() {
    std::array<char, 1'024> text{};
    while (recv(socket_.number(), text.data(), text.size(), MSG_DONTWAIT) > 0) {
    }
  }

  // All that was said up to a message that has this in it, that one included.
  std::vector<std::string> receive_until(const std::string& words) {
    std::vector<std::string> received;
    do received.push_back(receive());
    while (received.back().find(words) == std::string::npos);
    return received;
  }

 private:
  std::string folder_;
  FileDescriptor socket_{socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
};

bool holds(const std::vector<std::string>& received, const std::string& words) {
  for (const std::string& message : received) {
    if (message.find(words) != std::string::npos) return true;
  }
  return false;
}

// Two workers, each of which takes turns or hangs.
class TwoWorkers {
 public:
  TwoWorkers() {
    for (size_t i = 0; i < 2; ++i) {
      threads_.emplace_back([this, i] {
        while (!is_over_.load(std::memory_order_relaxed)) {
          const bool is_well = takes_turns[i].load(std::memory_order_relaxed);
          if (is_well) mailboxes.mailbox(i).serve();
          hangs[i].store(!is_well, std::memory_order_relaxed);
        }
        mailboxes.mailbox(i).close();
      });
    }
  }
  TwoWorkers(const TwoWorkers&) = delete;
  TwoWorkers& operator=(const TwoWorkers&) = delete;
  ~TwoWorkers() {
    is_over_.store(true, std::memory_order_relaxed);
    for (std::thread& thread : threads_) thread.join();
  }

  node::WorkerMailboxes mailboxes{2};
  std::array<std::atomic<bool>, 2> takes_turns{};
  std::array<std::atomic<bool>, 2> hangs{};  // takes no more turns for sure

 private:
  std::atomic<bool> is_over_{false};
  std::vector<std::thread> threads_;
};

TEST(ServiceNotice, without_a_manager_there_is_none) {
  unsetenv("NOTIFY_SOCKET");
  node::WorkerMailboxes mailboxes(1);
  EXPECT_EQ(ServiceNotice::start(mailboxes), nullptr);
}

TEST(ServiceNotice, ready_is_said_once_all_workers_take_turns) {
  Manager manager("80000");
  TwoWorkers workers;
  workers.takes_turns[0] = true;
  auto notice = ServiceNotice::start(workers.mailboxes);
  EXPECT_FALSE(holds(manager.receive_until("worker 1 takes no turn"), "READY"));
  EXPECT_FALSE(holds(manager.receive_until("worker 1 takes no turn"), "READY"));
  workers.takes_turns[1] = true;
  EXPECT_FALSE(holds(manager.receive_until("READY=1"), "WATCHDOG"));
  EXPECT_FALSE(holds(manager.receive_until("2 workers process packets"), "READY"));
  EXPECT_FALSE(holds(manager.receive_until("WATCHDOG=1"), "READY"));
  notice.reset();
  const auto last = manager.receive_until("STOPPING=1");
  EXPECT_FALSE(holds(last, "READY"));
}

TEST(ServiceNotice, a_worker_that_hangs_does_not_feed_the_watchdog) {
  Manager manager("80000");
  TwoWorkers workers;
  workers.takes_turns[0] = true;
  workers.takes_turns[1] = true;
  const auto notice = ServiceNotice::start(workers.mailboxes);
  manager.receive_until("WATCHDOG=1");
  manager.receive_until("WATCHDOG=1");
  workers.takes_turns[0] = false;
  while (!workers.hangs[0]) std::this_thread::yield();
  manager.forget_what_was_said();
  // What was asked before may still be answered well; what is asked after this is not.
  manager.receive_until("worker 0 takes no turn");
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(holds(manager.receive_until("worker 0 takes no turn"), "WATCHDOG"));
  }
  workers.takes_turns[0] = true;
  EXPECT_FALSE(holds(manager.receive_until("WATCHDOG=1"), "READY"));
}

// A walk that never ends, over a table that is too large.
struct EndlessRequest final : node::Request {
  bool step() override { return false; }
};

TEST(ServiceNotice, the_watchdog_does_not_wait_behind_requests) {
  Manager manager("80000");
  TwoWorkers workers;
  workers.takes_turns[0] = true;
  workers.takes_turns[1] = true;
  auto notice = ServiceNotice::start(workers.mailboxes);
  manager.receive_until("WATCHDOG=1");
  // Three askers, one behind the other, each for longer than the watchdog's patience.
  std::atomic<int> done_count = 0;
  std::vector<std::thread> askers;
  for (int i = 0; i < 3; ++i) {
    askers.emplace_back([&] {
      EndlessRequest endless;
      node::Request* const requests[] = {&endless, &endless};
      const std::vector<node::Answer> answers =
          workers.mailboxes.ask(requests, std::chrono::milliseconds(2'000));
      EXPECT_EQ(answers,
                (std::vector<node::Answer>{node::Answer::kTimedOut, node::Answer::kTimedOut}));
      ++done_count;
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  manager.forget_what_was_said();
  for (int i = 0; i < 5; ++i) manager.receive_until("WATCHDOG=1");
  EXPECT_EQ(done_count, 0) << "the watchdog was fed after the requests, not beside them";
  notice.reset();  // before what it says fills the socket
  for (std::thread& asker : askers) asker.join();
}

TEST(ServiceNotice, without_a_watchdog_none_is_fed) {
  Manager manager;
  TwoWorkers workers;
  workers.takes_turns[0] = true;
  workers.takes_turns[1] = true;
  auto notice = ServiceNotice::start(workers.mailboxes);
  manager.receive_until("READY=1");
  notice.reset();
  EXPECT_FALSE(holds(manager.receive_until("STOPPING=1"), "WATCHDOG"));
}

}  // namespace
}  // namespace roost::control
