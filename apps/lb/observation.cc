#include "apps/lb/observation.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <thread>
#include <utility>

#include "roost/io/pcapng_file.h"

namespace roost::lb {

namespace {

constexpr size_t kKeptMax = 256;  // for `roost ctl trace`; older ones go
constexpr std::chrono::milliseconds kLookEvery{1};
constexpr std::chrono::seconds kAnswerWaitMax{5};

// Gives a worker its watch, or takes it away.
class WatchRequest final : public node::Request {
 public:
  WatchRequest(WatchedDatapath& datapath, Watch* watch) : datapath_(datapath), watch_(watch) {}
  bool step() override {
    datapath_.set_watch(watch_);
    return true;
  }

 private:
  WatchedDatapath& datapath_;
  Watch* watch_;
};

using Direction = io::PcapngFile::Direction;

}  // namespace

// The thread that tells, and all it needs.
class Observation::Teller {
 public:
  Teller(const lb::Config& lb_config, WatchOptions options, io::PacketFilter filter,
         std::optional<io::PcapngFile> file, TellEvent tell_event)
      : tell_event_(std::move(tell_event)),
        options_(std::move(options)),
        filter_(std::move(filter)),
        file_(std::move(file)),
        lb_config_(lb_config) {}
  Teller(const Teller&) = delete;
  Teller& operator=(const Teller&) = delete;
  ~Teller() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
  }

  void start(size_t worker_count, const Config& config) {
    const Watch::Config common = {.is_replay = config.is_replay,
                                  .tick_nanoseconds = lb_config_.tick_microseconds * 1'000};
    for (size_t worker = 0; worker < worker_count; ++worker) {
      Watch::Config own = common;
      own.worker = static_cast<uint16_t>(worker);
      watches_.push_back(std::make_unique<Watch>(own, filter_));
    }
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

  [[nodiscard]] Watch* watch(size_t worker) { return watches_[worker].get(); }

  // When no worker writes any more: tells the rest, and ends the file.
  std::optional<Error> finish() {
    thread_.request_stop();
    thread_.join();
    while (tell_what_is_there()) {
    }
    missed_count_ = 0;
    for (const auto& watch : watches_) missed_count_ += watch->missed_count;
    if (file_) capture_error_ = file_->finish(missed_count_);
    return capture_error_;
  }

  [[nodiscard]] const WatchOptions& options() const { return options_; }
  [[nodiscard]] uint64_t told_count() const { return told_count_; }
  [[nodiscard]] uint64_t missed_count() const { return missed_count_; }

  // What was kept since the last time.
  Json take() {
    const std::scoped_lock lock(mutex_);
    Json packets = Json::array();
    for (std::string& text : kept_) packets.push_back(std::move(text));
    kept_.clear();
    return {{"filter", options_.filter},
            {"seen", told_count_},
            {"missed", missed_count_},
            {"not_kept", std::exchange(not_kept_count_, 0)},
            {"packets", std::move(packets)}};
  }

 private:
  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      if (tell_what_is_there()) continue;
      if (file_) file_->flush();
      end_capture_if_it_failed();
      std::this_thread::sleep_for(kLookEvery);
    }
  }

  bool tell_what_is_there() {
    bool is_any = false;
    for (const auto& watch : watches_) {
      const Sighting* sighting = watch->ring.front();
      if (sighting == nullptr) continue;
      tell(*sighting);
      watch->ring.release();
      is_any = true;
    }
    return is_any;
  }

  // The disk is full, above all. If nobody wants words either, workers need not look any more.
  void end_capture_if_it_failed() {
    if (!file_) return;
    capture_error_ = file_->failure();
    if (!capture_error_) return;
    tell_event_(Severity::kError,
                capture_error_->message + "; the capture ends here, and the run goes on");
    file_.reset();
    if (options_.is_told) return;
    for (const auto& watch : watches_) watch->ring.close();
  }

  void tell(const Sighting& sighting) {
    std::string words = words_of(sighting);
    if (file_) write(sighting, words);
    end_capture_if_it_failed();
    if (options_.is_told) fmt::print(stderr, "{}\n", words);
    const std::scoped_lock lock(mutex_);
    ++told_count_;
    missed_count_ += sighting.missed_before;
    kept_.push_back(std::move(words));
    if (kept_.size() <= kKeptMax) return;
    kept_.pop_front();
    ++not_kept_count_;
  }

  // As it came, with the words; then as it left.
  void write(const Sighting& sighting, const std::string& words) {
    if (!sighting.is_own) {
      file_->write({.interface = sighting.in_port,
                    .nanoseconds = sighting.nanoseconds,
                    .direction = Direction::kIn,
                    .bytes = sighting.received.kept(),
                    .total_bytes = sighting.received.total_bytes,
                    .comment = words});
    }
    if (!sighting.verdict.is_forward()) return;
    file_->write({.interface = sighting.verdict.out_port(),
                  .nanoseconds = sighting.nanoseconds,
                  .direction = Direction::kOut,
                  .bytes = sighting.sent.kept(),
                  .total_bytes = sighting.sent.total_bytes,
                  .comment = sighting.is_own ? std::string_view(words) : std::string_view()});
  }

  TellEvent tell_event_;
  WatchOptions options_;
  io::PacketFilter filter_;
  std::optional<io::PcapngFile> file_;
  std::optional<Error> capture_error_;
  lb::Config lb_config_;
  std::vector<std::unique_ptr<Watch>> watches_;  // by worker
  std::mutex mutex_;                             // of what follows
  std::deque<std::string> kept_;
  uint64_t told_count_ = 0;
  uint64_t missed_count_ = 0;
  uint64_t not_kept_count_ = 0;
  std::jthread thread_;
};

Observation::Observation(const lb::Config& lb_config, Config config)
    : lb_config_(lb_config), config_(std::move(config)) {}

Observation::~Observation() = default;

Result<std::unique_ptr<Observation::Teller>> Observation::make_teller(
    const WatchOptions& options) const {
  auto filter = io::PacketFilter::compile(options.filter);
  if (!filter) return filter.error();
  std::optional<io::PcapngFile> file;
  if (!options.capture_path.empty()) {
    auto made = io::PcapngFile::create({.path = options.capture_path,
                                        .interfaces = config_.ports,
                                        .snap_bytes = kSightedBytesMax,
                                        .application = "roost lb",
                                        .filter = options.filter});
    if (!made) return made.error();
    file.emplace(std::move(made).value());
  }
  auto teller = std::make_unique<Teller>(lb_config_, options, std::move(filter).value(),
                                         std::move(file), config_.tell);
  teller->start(config_.datapaths.size(), config_);
  return teller;
}

std::optional<Error> Observation::begin(const WatchOptions& options) {
  if (!options.is_wanted()) return {};
  auto teller = make_teller(options);
  if (!teller) return teller.error();
  teller_ = std::move(teller).value();
  for (size_t worker = 0; worker < config_.datapaths.size(); ++worker) {
    config_.datapaths[worker]->set_watch(teller_->watch(worker));
  }
  return {};
}

std::optional<Error> Observation::ask_all(bool is_on) {
  std::deque<WatchRequest> requests;
  std::vector<node::Request*> pointers;
  for (size_t worker = 0; worker < config_.datapaths.size(); ++worker) {
    requests.emplace_back(*config_.datapaths[worker], is_on ? teller_->watch(worker) : nullptr);
    pointers.push_back(&requests.back());
  }
  for (const node::Answer answer : config_.room->ask(pointers, kAnswerWaitMax)) {
    if (answer == node::Answer::kClosed) return Error{"the balancer is ending"};
    if (answer == node::Answer::kTimedOut) return Error{"a worker does not answer; ask again"};
  }
  return {};
}

Result<Json> Observation::trace(const Json& parameters) {
  const std::string action = parameters.value("action", "show");
  const std::string filter = parameters.value("filter", "");
  if (action == "on") return turn_on(filter);
  if (!filter.empty()) return Error{"trace: a filter goes with `on`"};
  if (action == "off") return turn_off();
  if (teller_ == nullptr) return Error{"nothing is traced; give `on` and a filter"};
  return teller_->take();
}

Result<Json> Observation::turn_on(const std::string& filter) {
  if (filter.empty()) return Error{"trace: give `on` and a filter, as for tcpdump"};
  if (teller_ != nullptr) {
    return Error{teller_->options().is_wanted()
                     ? "packets are watched already, by --capture or --trace of this run"
                     : "packets are traced already; give `off` first"};
  }
  auto teller = make_teller({.filter = filter});
  if (!teller) return teller.error();
  teller_ = std::move(teller).value();
  if (auto error = ask_all(true)) return *error;
  return teller_->take();
}

// What was seen until then is the answer. While a worker has its watch, the watch stays.
Result<Json> Observation::turn_off() {
  if (teller_ == nullptr) return Error{"nothing is traced"};
  if (teller_->options().is_wanted()) {
    return Error{"--capture and --trace end with the run"};
  }
  if (auto error = ask_all(false)) return *error;
  const std::optional<Error> error = teller_->finish();
  Json seen = teller_->take();
  teller_.reset();
  if (error) return *error;
  return seen;
}

std::optional<Error> Observation::finish() {
  if (teller_ == nullptr) return {};
  std::optional<Error> error = teller_->finish();
  if (teller_->options().is_wanted()) {
    fmt::print(stderr, "roost: {} packets watched, {} found no room and are missing\n",
               teller_->told_count(), teller_->missed_count());
  }
  teller_.reset();
  return error;
}

}  // namespace roost::lb
