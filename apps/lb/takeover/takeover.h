// How this process came to its connections, and how the next one will: the side that takes over, at
// the start of a run, and the side that is taken over from, until its end
// (docs/decisions/0035-takeover.md).
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apps/lb/datapath/state.h"
#include "apps/lb/takeover/handed_routes.h"
#include "apps/lb/takeover/handover_link.h"
#include "apps/lb/takeover/roster.h"
#include "apps/lb/takeover/state_directory.h"
#include "apps/lb/takeover/takeover_report.h"

namespace roost::lb {

// What a run knows before anything is made, or takes over instead.
struct RunSeeds {
  size_t worker_count = 1;
  uint64_t owner_seed = 0;
  uint64_t start_cycles = 0;
  uint64_t tick_cycles = 1;
};

class Takeover {
 public:
  using Tell = std::function<void(std::string_view)>;

  // Before ports are opened. With `takes_over` it goes on with what is there: `seeds` are that
  // one's then. An error: somebody has the directory, cannot be taken over from, or refuses; he
  // goes on. What is found and cannot be adopted is begun anew, and `tell` is told.
  [[nodiscard]] static Result<std::unique_ptr<Takeover>> begin(const Config& config,
                                                               bool takes_over, RunSeeds& seeds,
                                                               Tell tell);
  Takeover(const Takeover&) = delete;
  Takeover& operator=(const Takeover&) = delete;
  ~Takeover() { end(); }

  // Where services and backends stand, and what is said of them; nothing of a run that began anew.
  [[nodiscard]] const Roster* adopted() const { return adopted_ ? &*adopted_ : nullptr; }
  // A worker's share, with its memory from here. Workers may call it at the same time.
  [[nodiscard]] WorkerShare share(size_t worker);

  // The last step before packets flow, on the main thread: the other process stops its workers, and
  // ends; this one has the connections. `discard` throws away what ports have received. An error:
  // it does not come to that, and the other one goes on.
  [[nodiscard]] std::optional<Error> adopt(std::span<State* const> states,
                                           const std::function<void()>& discard);
  // From begin() to adopt(): another process has the connections.
  [[nodiscard]] bool awaits_connections() const { return link_.has_value(); }
  // Those that came with the connections, once; nothing if there were none.
  [[nodiscard]] std::optional<HandedRoutes> take_routes();
  [[nodiscard]] const TakeoverReport& report() const { return report_; }

  // What is done here on the thread that serves: first of all, and for the next process.
  struct Hooks {
    std::function<void()> begin{};
    std::function<void()> close_sockets{};  // others must be able to open the same
    std::function<std::optional<Error>()> open_sockets{};
    std::function<void()> interrupt{};  // workers stop, and goes_on() is called
    std::function<std::optional<HandedRoutes>()> give_routes_away{};
    std::function<std::optional<Error>()> take_routes_back{};
  };
  // From now on another process may take over, in a thread of its own until end().
  [[nodiscard]] std::optional<Error> serve(Hooks hooks);
  // The main thread, when the workers have stopped for an interrupt: false when another process has
  // all connections.
  [[nodiscard]] bool goes_on(std::span<State* const> states);
  void end();

  // Before workers are told: what the indices stand for. An error, while another process is about
  // to write it itself: nothing may change now.
  [[nodiscard]] std::optional<Error> change_roster(const Roster& roster);
  // What is said of backends has changed. An error: the other process does not know.
  [[nodiscard]] std::optional<Error> note_roster(const Roster& roster);

 private:
  enum class Phase : uint8_t { kRunning, kStopping, kStopped, kGoesOn, kTaken };
  static constexpr const char* kIsTakenOver =
      "another process is taking over; ask again, and who goes on answers";

  Takeover(StateDirectory directory, const Config& config, Tell tell)
      : directory_(std::move(directory)), config_(config), tell_(std::move(tell)) {}

  // The side that takes over.
  [[nodiscard]] std::optional<Error> find(bool takes_over, RunSeeds& seeds);
  [[nodiscard]] std::optional<Error> agree(RunSeeds& seeds);
  [[nodiscard]] std::optional<Error> take_left(RunSeeds& seeds);
  [[nodiscard]] std::optional<Error> compare(const Manifest& manifest) const;
  [[nodiscard]] std::optional<Error> read_adopted(const Manifest& manifest, RunSeeds& seeds);
  [[nodiscard]] std::optional<Error> audit_left(size_t worker_count);
  [[nodiscard]] Result<conntrack::TableMemory> lend(const StateDirectory::Place& place,
                                                    const conntrack::TableBytes& bytes);

  // The side that is taken over from, on the thread that serves.
  void serve_clients();
  void serve_one(HandoverLink& link);
  [[nodiscard]] std::optional<Error> greet(HandoverLink& link);
  [[nodiscard]] std::optional<Error> let_take_over(HandoverLink& link);
  [[nodiscard]] std::optional<Error> give_away(HandoverLink& link);
  void go_on();
  void set_phase(Phase phase);
  [[nodiscard]] bool wait_for_stop();

  StateDirectory directory_;
  Config config_;
  Tell tell_;
  std::optional<HandoverLink> link_;  // to the process that is taken over from
  std::optional<Roster> adopted_;
  std::optional<HandedRoutes> routes_;
  Manifest manifest_;
  std::mutex lent_mutex_;
  std::vector<SharedFile> lent_;
  TakeoverReport report_{};

  Hooks hooks_;
  std::optional<FileDescriptor> listener_;
  std::optional<FileDescriptor> cancel_;
  std::thread server_;
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  Phase phase_ = Phase::kRunning;
  std::chrono::steady_clock::time_point stopped_at_{};
  Roster roster_;           // the last one, or what would be
  bool is_ours_ = true;     // the roster's file
  bool is_ending_ = false;  // the workers stop for good
};

}  // namespace roost::lb
