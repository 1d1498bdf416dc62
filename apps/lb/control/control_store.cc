// Settings that all nodes share, taken whole or refused: docs/decisions/0036-two-nodes.md.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "apps/lb/control/control.h"

namespace roost::lb {

void Control::await_store() {
  const std::scoped_lock lock(mutex_);
  store_.is_configured = true;
}

void Control::note_store_away(const std::string& reason) {
  const std::scoped_lock lock(mutex_);
  if (store_.away.empty()) {
    std::string in_force = settings_.empty() ? "the file's weights" : "its settings";
    if (store_.revision) in_force = fmt::format("its settings of revision {}", *store_.revision);
    config_.tell(control::Severity::kWarning,
                 fmt::format("etcd is away: {}; {} stay in force", reason, in_force));
  }
  store_.away = reason;
  store_.is_heard = true;
  announce_anew();
}

bool Control::take_store(int64_t revision, const std::map<std::string, std::string>& keys) {
  const std::scoped_lock lock(mutex_);
  if (!store_.away.empty()) config_.tell(control::Severity::kNotice, "etcd is there again");
  store_.away.clear();
  store_.is_heard = true;
  store_keys_ = keys;
  store_keys_revision_ = revision;
  StoreOutcome outcome = read_store(keys, lb_config_.control.etcd_prefix, file_services_);
  bool is_taken = true;
  if (outcome.faults.empty() && outcome.settings != settings_) {
    lb::Config file = lb_config_;
    file.services = file_services_;
    const BackendRegistry before = registry_;
    const Result<Json> taken = take(file, {std::move(outcome.settings), false});
    is_taken = taken.ok();
    if (taken) {
      tell_store_taken(revision);
      tell_fallback(before);
    } else {
      outcome.faults.push_back(taken.error().message);
    }
  }
  note_store_faults(std::move(outcome.faults));
  announce_anew();
  return is_taken;
}

void Control::tell_store_taken(int64_t revision) const {
  config_.tell(control::Severity::kNotice,
               fmt::format("the settings of etcd's revision {} were taken", revision));
}

// Of the keys that were read last, which are in force if there are none. Told once, however often
// they are found.
void Control::note_store_faults(std::vector<std::string> faults) {
  if (!faults.empty() && faults != store_.faults) {
    for (const std::string& fault : faults) {
      config_.tell(control::Severity::kError, "etcd: " + fault);
    }
    config_.tell(control::Severity::kError,
                 "the settings of etcd were not taken; nothing has changed");
  }
  store_.faults = std::move(faults);
  if (store_.faults.empty()) store_.revision = store_keys_revision_;
}

}  // namespace roost::lb
