// The side that takes over.
#include "apps/lb/takeover/takeover.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/lb/config/config_change.h"

namespace roost::lb {

namespace {

using control::Json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kAnswerMax{5'000};
constexpr milliseconds kStopMax{10'000};
constexpr milliseconds kForever{-1};

Error goes_on_there(const std::string& reason) {
  return Error{"nothing is taken over, and the other process goes on: " + reason};
}

// What the other process says when its workers stand still.
struct Stopped {
  int64_t at = 0;  // nanoseconds of the steady clock
  std::optional<std::vector<net::IpAddress>> routes{};
};

std::optional<Stopped> read_stopped(const Json& message) {
  try {
    Stopped stopped{.at = message.at("stopped")};
    if (!message.contains("routes")) return stopped;
    stopped.routes.emplace();
    for (const Json& text : message.at("routes")) {
      const Result<net::IpAddress> address = net::IpAddress::parse(text.get<std::string>());
      if (!address) return {};
      stopped.routes->push_back(address.value());
    }
    return stopped;
  } catch (const Json::exception&) {
    return {};
  }
}

uint64_t microseconds_since(int64_t nanoseconds) {
  const int64_t now = std::chrono::nanoseconds(steady_clock::now().time_since_epoch()).count();
  return static_cast<uint64_t>(std::max<int64_t>(1'000, now - nanoseconds)) / 1'000;
}

}  // namespace

Result<std::unique_ptr<Takeover>> Takeover::begin(const Config& config, bool takes_over,
                                                  RunSeeds& seeds, Tell tell) {
  auto directory = StateDirectory::open(config.state);
  if (!directory) return directory.error();
  std::unique_ptr<Takeover> made(
      new Takeover(std::move(directory).value(), config, std::move(tell)));
  if (auto error = made->find(takes_over, seeds)) return *error;
  if (made->adopted_) return made;
  auto roster = next_roster(config, {});
  if (!roster) return roster.error();
  made->roster_ = std::move(roster).value();
  made->directory_.clear();
  made->manifest_ = {.boot = read_boot(),
                     .start_cycles = seeds.start_cycles,
                     .tick_cycles = seeds.tick_cycles,
                     .owner_seed = seeds.owner_seed,
                     .worker_count = seeds.worker_count,
                     .configuration = config.text};
  for (size_t family = 0; family < made->manifest_.has_tables.size(); ++family) {
    made->manifest_.has_tables[family] = !made->roster_.registry.families[family].services.empty();
  }
  return made;
}

std::optional<Error> Takeover::find(bool takes_over, RunSeeds& seeds) {
  auto link = takes_over ? HandoverLink::connect(directory_.socket_path()) : std::nullopt;
  if (link) {
    link_.emplace(std::move(*link));
    auto error = agree(seeds);
    if (error) static_cast<void>(link_->send({{"gives_up", error->message}}));
    return error;
  }
  if (!directory_.try_lock()) {
    return Error{fmt::format(
        "[lb] state: a process has {} and {}", directory_.path(),
        takes_over ? "lets nobody take over now; it begins or ends, so try again"
                   : "goes on; take over from it with --takeover, end it, or name another one")};
  }
  if (!takes_over) return {};
  if (!directory_.has_manifest()) {
    tell_("there are no connections to take over in " + directory_.path() + "; begun anew");
    return {};
  }
  if (const auto error = take_left(seeds)) {
    adopted_.reset();
    lent_.clear();
    tell_("connections of a process that has ended are not adopted, and begun anew: " +
          error->message);
  }
  return {};
}

// With the process that is there. What its files say is compared before it is disturbed.
std::optional<Error> Takeover::agree(RunSeeds& seeds) {
  const Result<Manifest> manifest = directory_.read_manifest();
  if (!manifest) return goes_on_there(manifest.error().message);
  if (const auto error = compare(manifest.value())) return goes_on_there(error->message);
  if (!link_->send({{"hello", Manifest::kFormat}})) return goes_on_there("it has gone");
  Result<Json> answer = link_->receive(kAnswerMax);
  if (!answer) return goes_on_there(answer.error().message);
  if (answer.value().contains("refused")) {
    return goes_on_there(answer.value().value("refused", ""));
  }
  if (const auto error = read_adopted(manifest.value(), seeds)) {
    return goes_on_there(error->message);
  }
  return {};
}

// What another process left. The seeds are its own only if all of it can be adopted.
std::optional<Error> Takeover::take_left(RunSeeds& seeds) {
  const Result<Manifest> manifest = directory_.read_manifest();
  if (!manifest) return manifest.error();
  if (auto error = compare(manifest.value())) return error;
  RunSeeds found = seeds;
  if (auto error = read_adopted(manifest.value(), found)) return error;
  if (auto error = audit_left(found.worker_count)) return error;
  seeds = found;
  return {};
}

std::optional<Error> Takeover::compare(const Manifest& manifest) const {
  ConfigOutcome running = parse_config(manifest.configuration);
  if (!running.config) {
    return config::error_of(running.faults, "the other process's configuration");
  }
  running.config->workers.count = manifest.worker_count;
  const auto faults = refused_changes(*running.config, config_, manifest.has_tables);
  if (faults.empty()) return {};
  return config::error_of(faults, "the configuration");
}

std::optional<Error> Takeover::read_adopted(const Manifest& manifest, RunSeeds& seeds) {
  const Result<Roster> before = directory_.read_roster();
  if (!before) return before.error();
  Result<Roster> roster = next_roster(config_, before.value());
  if (!roster) return roster.error();
  adopted_ = std::move(roster).value();
  roster_ = *adopted_;
  manifest_ = manifest;
  manifest_.configuration = config_.text;
  seeds = {.worker_count = manifest.worker_count,
           .owner_seed = manifest.owner_seed,
           .start_cycles = manifest.start_cycles,
           .tick_cycles = manifest.tick_cycles};
  return {};
}

// By states that are made for it and thrown away: what is adopted of one worker alone would leave
// flows of the others without their connections.
std::optional<Error> Takeover::audit_left(size_t worker_count) {
  const std::vector<net::MacAddress> macs(config_.network.ports.size(), {{2, 0, 0, 0, 0, 1}});
  for (size_t worker = 0; worker < worker_count; ++worker) {
    auto state = State::create(config_, macs, share(worker));
    if (!state) return state.error();
    const bool is_readable = state.value().is_readable();
    if (is_readable) state.value().adopt();
    if (!is_readable || !state.value().tracker().audit()) {
      return Error{fmt::format("those of worker {} are not whole", worker)};
    }
  }
  lent_.clear();
  return {};
}

WorkerShare Takeover::share(size_t worker) {
  return {.worker = worker,
          .worker_count = manifest_.worker_count,
          .registry = adopted_ ? &adopted_->registry : nullptr,
          .lend = [this, worker](size_t family, const conntrack::TableBytes& bytes) {
            return lend({worker, family}, bytes);
          }};
}

Result<conntrack::TableMemory> Takeover::lend(const StateDirectory::Place& place,
                                              const conntrack::TableBytes& bytes) {
  auto lent =
      adopted_ ? directory_.find_memory(place, bytes) : directory_.make_memory(place, bytes);
  if (!lent) return lent.error();
  const std::scoped_lock lock(lent_mutex_);
  lent_.push_back(std::move(lent.value().file));
  return lent.value().memory;
}

std::optional<Error> Takeover::adopt(std::span<State* const> states,
                                     const std::function<void()>& discard) {
  if (!adopted_) return {};
  report_.takeovers = 1;
  if (!link_) {
    for (State* state : states) state->adopt();
    return {};
  }
  discard();
  if (!link_->send({{"stop", true}})) return goes_on_there("it has gone");
  Result<Json> stopped = link_->receive(kStopMax);
  if (!stopped) return goes_on_there(stopped.error().message);
  std::vector<FileDescriptor> descriptors = link_->take_descriptors();
  const std::optional<Stopped> word = read_stopped(stopped.value());
  if (!word || descriptors.size() != (word->routes ? 2U : 1U)) {
    return goes_on_there("its workers have not stopped");
  }
  for (State* state : states) {
    if (state->has_backends()) continue;
    const std::string reason = "connections have backends that its roster does not name";
    static_cast<void>(link_->send({{"gives_up", reason}}));
    return goes_on_there(reason);
  }
  // However long it takes: one of the two must know that it has them, and only one.
  if (!link_->send({{"taken", true}})) return goes_on_there("it has gone");
  const Result<Json> gone = link_->receive(kForever);
  if (!gone) return goes_on_there(gone.error().message);
  for (State* state : states) state->adopt();
  directory_.take_lock(std::move(descriptors.front()));
  if (word->routes) routes_.emplace(std::move(descriptors.back()), *word->routes);
  link_.reset();
  report_.pause_microseconds = microseconds_since(word->at);
  return {};
}

std::optional<HandedRoutes> Takeover::take_routes() { return std::exchange(routes_, std::nullopt); }

}  // namespace roost::lb
