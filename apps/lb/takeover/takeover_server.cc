// The side that is taken over from.
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "apps/lb/takeover/takeover.h"

namespace roost::lb {

namespace {

using control::Json;
using std::chrono::milliseconds;

constexpr milliseconds kNextMax{-1};  // for as long as it takes
constexpr milliseconds kHelloMax{5'000};
constexpr milliseconds kReadyMax{60'000};  // it opens ports and maps memory
constexpr milliseconds kTurnMax{5'000};
constexpr milliseconds kTakenMax{10'000};

// Messages are another process's: they may be anything.
uint64_t number_in(const Json& message, const char* name) {
  const auto found = message.find(name);
  return found != message.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
}

std::optional<std::string> reason_to_give_up(const Json& message) {
  const auto found = message.find("gives_up");
  if (found == message.end()) return {};
  return found->is_string() ? found->get<std::string>() : "it gives up";
}

Error unexpected(const Json& message) {
  return Error{reason_to_give_up(message).value_or("the other process says what is not expected")};
}

}  // namespace

std::optional<Error> Takeover::serve(Hooks hooks) {
  hooks_ = std::move(hooks);
  const auto establish = [this]() -> std::optional<Error> {
    if (auto error = directory_.write_roster(roster_)) return error;
    if (auto error = directory_.write_manifest(manifest_)) return error;
    auto listener = listen_for_handover(directory_.socket_path());
    if (!listener) return listener.error();
    listener_.emplace(std::move(listener).value());
    return {};
  };
  // Who has taken over has packets waiting; his files are there already.
  if (!adopted_) {
    if (auto error = establish()) return error;
  }
  cancel_.emplace(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  server_ = std::thread([this, establish] {
    if (hooks_.begin) hooks_.begin();
    const std::optional<Error> error = adopted_ ? establish() : std::nullopt;
    if (!error) return serve_clients();
    tell_("nobody can take over from this process: " + error->message);
  });
  return {};
}

void Takeover::end() {
  if (!server_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
    changed_.notify_all();
  }
  constexpr uint64_t kOne = 1;
  static_cast<void>(!write(cancel_ ? cancel_->number() : -1, &kOne, sizeof(kOne)));
  server_.join();
  if (phase_ == Phase::kTaken) return;  // the socket is another process's
  unlink(directory_.socket_path().c_str());
}

void Takeover::serve_clients() {
  const int cancel = cancel_ ? cancel_->number() : -1;
  const int listener = listener_ ? listener_->number() : -1;
  while (wait_to_read(listener, cancel, kNextMax)) {
    FileDescriptor client(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
    if (client.number() < 0) continue;
    HandoverLink link(std::move(client), cancel);
    serve_one(link);
    const std::scoped_lock lock(mutex_);
    if (phase_ == Phase::kTaken) return;
  }
}

void Takeover::serve_one(HandoverLink& link) {
  std::optional<Error> error = greet(link);
  if (!error) {
    error = let_take_over(link);
    if (!error) return tell_("another process has taken over; this one ends");
    go_on();
  }
  tell_("a takeover came to nothing, and this process goes on: " + error->message);
}

// Until the other one has said what it is, nothing is disturbed here.
std::optional<Error> Takeover::greet(HandoverLink& link) {
  const Result<Json> hello = link.receive(kHelloMax);
  if (!hello) return hello.error();
  if (auto reason = reason_to_give_up(hello.value())) return Error{*reason};
  const auto format = number_in(hello.value(), "hello");
  if (format == Manifest::kFormat) return {};
  const std::string reason = fmt::format("format {} is asked for, and the connections are of {}",
                                         format, Manifest::kFormat);
  static_cast<void>(link.send({{"refused", reason}}));
  return Error{reason};
}

// An error: it came to nothing, and go_on() must follow.
std::optional<Error> Takeover::let_take_over(HandoverLink& link) {
  hooks_.close_sockets();
  {
    const std::scoped_lock lock(mutex_);
    is_ours_ = false;
  }
  if (!link.send({{"ready", true}})) return Error{"the other process has gone"};
  const Result<Json> stop = link.receive(kReadyMax);
  if (!stop) return stop.error();
  if (!stop.value().contains("stop")) return unexpected(stop.value());
  set_phase(Phase::kStopping);
  hooks_.interrupt();
  if (!wait_for_stop()) return Error{"a worker does not stop"};
  if (auto error = give_away(link)) return error;
  set_phase(Phase::kTaken);
  return {};
}

// The workers stand still, and the lock and the routes go along with the word.
std::optional<Error> Takeover::give_away(HandoverLink& link) {
  Json word = {{"stopped", std::chrono::nanoseconds(stopped_at_.time_since_epoch()).count()}};
  std::vector<int> descriptors = {directory_.lock_descriptor()};
  const std::optional<HandedRoutes> routes =
      hooks_.give_routes_away ? hooks_.give_routes_away() : std::nullopt;
  if (routes) {
    word["routes"] = Json::array();
    for (const net::IpAddress& address : routes->addresses) {
      word["routes"].push_back(address.format());
    }
    descriptors.push_back(routes->device.number());
  }
  if (!link.send(word, descriptors)) return Error{"the other process has gone"};
  const Result<Json> taken = link.receive(kTakenMax);
  if (!taken) return taken.error();
  if (!taken.value().contains("taken")) return unexpected(taken.value());
  // With this word, and not before, this process has nothing any more.
  if (!link.send({{"gone", true}})) return Error{"the other process has gone"};
  return {};
}

// All that was done for the other process is undone, and what it would have done is done here.
void Takeover::go_on() {
  std::vector<std::optional<Error>> errors;
  if (hooks_.take_routes_back) errors.push_back(hooks_.take_routes_back());
  set_phase(Phase::kGoesOn);
  {
    const std::scoped_lock lock(mutex_);
    is_ours_ = true;
    errors.push_back(directory_.write_roster(roster_));
    if (is_ending_) return;
  }
  errors.push_back(hooks_.open_sockets());
  for (const std::optional<Error>& error : errors) {
    if (error) tell_(error->message);
  }
}

void Takeover::set_phase(Phase phase) {
  const std::scoped_lock lock(mutex_);
  phase_ = phase;
  changed_.notify_all();
}

bool Takeover::wait_for_stop() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kTurnMax, [this] { return phase_ == Phase::kStopped || is_ending_; });
  return phase_ == Phase::kStopped;
}

bool Takeover::goes_on(std::span<State* const> states) {
  std::unique_lock lock(mutex_);
  if (phase_ != Phase::kStopping) return true;  // too late for him who asked
  stopped_at_ = std::chrono::steady_clock::now();
  phase_ = Phase::kStopped;
  changed_.notify_all();
  changed_.wait(lock, [this] { return phase_ == Phase::kGoesOn || phase_ == Phase::kTaken; });
  if (phase_ == Phase::kGoesOn) return true;
  for (State* state : states) state->move_out();
  return false;
}

std::optional<Error> Takeover::change_roster(const Roster& roster) {
  const std::scoped_lock lock(mutex_);
  if (!is_ours_) return Error{kIsTakenOver};
  roster_ = roster;
  return directory_.write_roster(roster_);
}

std::optional<Error> Takeover::note_roster(const Roster& roster) {
  const std::scoped_lock lock(mutex_);
  roster_ = roster;
  if (!is_ours_) return Error{kIsTakenOver};
  return directory_.write_roster(roster_);
}

}  // namespace roost::lb
