#include "apps/assets/control/asset_log.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace roost::assets {

namespace {

constexpr std::chrono::milliseconds kWriteEvery{100};

control::Json line_of(const Discovery& discovery, const TickTime& time) {
  constexpr std::array kKinds = {"host", "syn", "service"};
  control::Json json = {{"found", kKinds.at(static_cast<size_t>(discovery.kind))},
                        {"time", time.text(discovery.seen)}};
  json.update(host_json(discovery.host));
  if (discovery.syn) json["syn"] = discovery.syn->format();
  if (discovery.kind == Discovery::Kind::kService) {
    json["protocol"] = protocol_name(discovery.protocol);
    json["port"] = discovery.port;
  }
  return json;
}

uint32_t hosts_of_all(const Config& config, size_t worker_count) {
  return static_cast<uint32_t>(
      std::min<uint64_t>(UINT32_MAX / 2, uint64_t{config.hosts_max} * worker_count));
}

}  // namespace

AssetLog::AssetLog(const Config& config, const std::vector<Observer*>& states, const TickTime& time,
                   control::TellEvent tell)
    : path_(config.log),
      known_config_{.hosts_max = hosts_of_all(config, states.size()),
                    .services_max = config.services_max,
                    .hash_seed = config.hash_seed},
      time_(time),
      tell_(std::move(tell)) {
  if (path_.empty()) return;
  for (Observer* state : states) rings_.push_back(state->discoveries());
}

// Without memory for a line the program ends, here as anywhere.
// NOLINTNEXTLINE(bugprone-exception-escape)
AssetLog::~AssetLog() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
  write_new();
}

std::optional<Error> AssetLog::start() {
  if (path_.empty()) return {};
  if (rings_.size() > 1) {
    auto known = AssetTable::create(known_config_);
    if (!known) return known.error();
    known_.emplace(std::move(known).value());
  }
  if (auto error = reopen()) return error;
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  return {};
}

std::optional<Error> AssetLog::reopen() {
  if (path_.empty()) return {};
  std::ofstream file(path_, std::ios::app);
  if (!file)
    return Error{"[assets] log: " + path_ +
                 " cannot be written; give a path where this "
                 "program may write"};
  const std::scoped_lock lock(mutex_);
  file_ = std::move(file);
  has_failed_ = false;
  return {};
}

void AssetLog::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    write_new();
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, stop, kWriteEvery, [&] { return stop.stop_requested(); });
  }
}

void AssetLog::write_new() {
  const std::scoped_lock lock(mutex_);
  for (SpscRing<Discovery>* ring : rings_) {
    while (const Discovery* discovery = ring->front()) {
      if (!is_known(*discovery)) file_ << line_of(*discovery, time_).dump() << '\n';
      ring->release();
    }
  }
  file_.flush();
  if (file_ || std::exchange(has_failed_, true)) return;
  tell_(control::Severity::kError,
        path_ + " cannot be written; lines are lost until `roost ctl reload` opens it again");
}

bool AssetLog::is_known(const Discovery& discovery) {
  if (!known_) return false;
  const auto seen = known_->see(discovery.host, discovery.seen);
  if (discovery.kind == Discovery::Kind::kHost) return !seen.is_new;
  if (discovery.kind == Discovery::Kind::kSyn)
    return std::exchange(known_->at(seen.place).value.syn, discovery.syn).has_value();
  return !known_->see_service(seen.place, discovery.protocol, discovery.port, discovery.seen);
}

}  // namespace roost::assets
