#include "roost/trace/tracer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "roost/control/ask_workers.h"
#include "roost/io/packet_filter.h"
#include "roost/io/pcapng_file.h"

namespace roost::trace {

namespace {

constexpr size_t kKeptMax = 256;  // for `roost ctl trace`; older ones go
constexpr std::chrono::milliseconds kLookEvery{1};

// Gives a worker its watch, or takes it away.
class WatchRequest final : public node::Request {
 public:
  WatchRequest(WatchPoint& point, Watch* watch) : point_(point), watch_(watch) {}
  bool step() override {
    point_.set_watch(watch_);
    return true;
  }

 private:
  WatchPoint& point_;
  Watch* watch_;
};

using Direction = io::PcapngFile::Direction;

}  // namespace

// The thread that writes traces, and all it needs.
class Tracer::TraceWriter {
 public:
  TraceWriter(const Config& config, TraceOptions options, io::PacketFilter filter,
              std::optional<io::PcapngFile> file)
      : config_(config),
        options_(std::move(options)),
        filter_(std::move(filter)),
        file_(std::move(file)) {}
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;
  ~TraceWriter() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
  }

  void start() {
    for (size_t worker = 0; worker < config_.points.size(); ++worker) {
      const Watch::Config own = {.worker = static_cast<uint16_t>(worker),
                                 .is_replay = config_.is_replay,
                                 .tick_nanoseconds = config_.tick_nanoseconds};
      watches_.push_back(std::make_unique<Watch>(own, filter_));
    }
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

  [[nodiscard]] Watch* watch(size_t worker) { return watches_[worker].get(); }

  // When no worker writes any more: writes the rest, and ends the file.
  std::optional<Error> finish() {
    thread_.request_stop();
    thread_.join();
    while (drain_rings()) {
    }
    missed_count_ = 0;
    for (const auto& watch : watches_) missed_count_ += watch->missed_count;
    if (file_) capture_error_ = file_->finish(missed_count_);
    return capture_error_;
  }

  [[nodiscard]] const TraceOptions& options() const { return options_; }
  [[nodiscard]] uint64_t traced_count() const { return traced_count_; }
  [[nodiscard]] uint64_t missed_count() const { return missed_count_; }

  // What was kept since the last time.
  control::Json take() {
    const std::scoped_lock lock(mutex_);
    control::Json packets = control::Json::array();
    for (std::string& text : kept_) packets.push_back(std::move(text));
    kept_.clear();
    return {{"filter", options_.filter},
            {"seen", traced_count_},
            {"missed", missed_count_},
            {"not_kept", std::exchange(not_kept_count_, 0)},
            {"packets", std::move(packets)}};
  }

 private:
  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      if (drain_rings()) continue;
      if (file_) file_->flush();
      end_capture_if_it_failed();
      std::this_thread::sleep_for(kLookEvery);
    }
  }

  bool drain_rings() {
    bool is_any = false;
    for (const auto& watch : watches_) {
      const PacketTrace* trace = watch->ring.front();
      if (trace == nullptr) continue;
      write_out(*trace);
      watch->ring.release();
      is_any = true;
    }
    return is_any;
  }

  // Mostly a full disk. If no client wants text either, workers need not trace any more.
  void end_capture_if_it_failed() {
    if (!file_) return;
    capture_error_ = file_->failure();
    if (!capture_error_) return;
    config_.tell(control::Severity::kError,
                 capture_error_->message + "; the capture ends here, and the run goes on");
    file_.reset();
    if (options_.is_printed) return;
    for (const auto& watch : watches_) watch->ring.close();
  }

  void write_out(const PacketTrace& trace) {
    std::string words = words_of(trace, config_.words);
    if (file_) write(*file_, trace, words);
    end_capture_if_it_failed();
    if (options_.is_printed) config_.print(words);
    const std::scoped_lock lock(mutex_);
    ++traced_count_;
    missed_count_ += trace.missed_before;
    kept_.push_back(std::move(words));
    if (kept_.size() <= kKeptMax) return;
    kept_.pop_front();
    ++not_kept_count_;
  }

  // As it came, with the words; then as it left, by each port.
  static void write(io::PcapngFile& file, const PacketTrace& trace, const std::string& words) {
    if (!trace.is_own) {
      file.write({.interface = trace.in_port,
                  .nanoseconds = trace.nanoseconds,
                  .direction = Direction::kIn,
                  .bytes = trace.received.kept(),
                  .total_bytes = trace.received.total_bytes,
                  .comment = words});
    }
    const auto write_sent = [&](uint16_t port, const PacketTrace::Form& form) {
      file.write({.interface = port,
                  .nanoseconds = trace.nanoseconds,
                  .direction = Direction::kOut,
                  .bytes = form.kept(),
                  .total_bytes = form.total_bytes,
                  .comment = trace.is_own ? std::string_view(words) : std::string_view()});
    };
    if (trace.verdict.is_forward()) write_sent(trace.verdict.out_port(), trace.sent);
    for (const net::PortGroup& group : trace.port_groups()) {
      const PacketTrace::Form form = sent_by(trace, group);
      for (const unsigned port : group.ports) write_sent(static_cast<uint16_t>(port), form);
    }
  }

  const Config& config_;
  TraceOptions options_;
  io::PacketFilter filter_;
  std::optional<io::PcapngFile> file_;
  std::optional<Error> capture_error_;
  std::vector<std::unique_ptr<Watch>> watches_;  // by worker
  std::mutex mutex_;                             // of what follows
  std::deque<std::string> kept_;
  uint64_t traced_count_ = 0;
  uint64_t missed_count_ = 0;
  uint64_t not_kept_count_ = 0;
  std::jthread thread_;
};

Tracer::Tracer(Config config) : config_(std::move(config)) {}

Tracer::~Tracer() = default;

Result<std::unique_ptr<Tracer::TraceWriter>> Tracer::make_writer(
    const TraceOptions& options) const {
  auto filter = io::PacketFilter::compile(options.filter);
  if (!filter) return filter.error();
  std::optional<io::PcapngFile> file;
  if (!options.capture_path.empty()) {
    auto made = io::PcapngFile::create({.path = options.capture_path,
                                        .interfaces = config_.ports,
                                        .snap_bytes = kTracedBytesMax,
                                        .application = config_.application,
                                        .filter = options.filter});
    if (!made) return made.error();
    file.emplace(std::move(made).value());
  }
  auto writer =
      std::make_unique<TraceWriter>(config_, options, std::move(filter).value(), std::move(file));
  writer->start();
  return writer;
}

std::optional<Error> Tracer::begin(const TraceOptions& options) {
  if (!options.is_wanted()) return {};
  auto writer = make_writer(options);
  if (!writer) return writer.error();
  writer_ = std::move(writer).value();
  for (size_t worker = 0; worker < config_.points.size(); ++worker) {
    config_.points[worker]->set_watch(writer_->watch(worker));
  }
  return {};
}

std::optional<Error> Tracer::ask(bool is_on) {
  control::Requests<WatchRequest> requests;
  for (size_t worker = 0; worker < config_.points.size(); ++worker) {
    requests.add(*config_.points[worker], is_on ? writer_->watch(worker) : nullptr);
  }
  return control::ask_workers(*config_.mailboxes, requests.posted()).error(config_.words.function);
}

Result<control::Json> Tracer::trace(const control::Json& parameters) {
  const std::string action = parameters.value("action", "show");
  const std::string filter = parameters.value("filter", "");
  if (action == "on") return turn_on(filter);
  if (!filter.empty()) return Error{"trace: a filter goes with `on`"};
  if (action == "off") return turn_off();
  if (writer_ == nullptr) return Error{"nothing is traced; give `on` and a filter"};
  return writer_->take();
}

Result<control::Json> Tracer::turn_on(const std::string& filter) {
  if (filter.empty()) return Error{"trace: give `on` and a filter, as for tcpdump"};
  if (writer_ != nullptr) {
    return Error{writer_->options().is_wanted()
                     ? "packets are watched already, by --capture or --trace of this run"
                     : "packets are traced already; give `off` first"};
  }
  auto writer = make_writer({.filter = filter});
  if (!writer) return writer.error();
  writer_ = std::move(writer).value();
  if (auto error = ask(true)) return *error;
  return writer_->take();
}

// What was seen until then is the answer. While a worker has its watch, the watch stays.
Result<control::Json> Tracer::turn_off() {
  if (writer_ == nullptr) return Error{"nothing is traced"};
  if (writer_->options().is_wanted()) {
    return Error{"--capture and --trace end with the run"};
  }
  if (auto error = ask(false)) return *error;
  const std::optional<Error> error = writer_->finish();
  control::Json seen = writer_->take();
  writer_.reset();
  if (error) return *error;
  return seen;
}

std::optional<Error> Tracer::finish() {
  if (writer_ == nullptr) return {};
  std::optional<Error> error = writer_->finish();
  if (writer_->options().is_wanted()) {
    config_.print(fmt::format("roost: {} packets watched, {} found no room and are missing",
                              writer_->traced_count(), writer_->missed_count()));
  }
  writer_.reset();
  return error;
}

}  // namespace roost::trace
