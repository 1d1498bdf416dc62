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
    config_.tell(control::Severity::kWarning,
                 fmt::format("etcd is away: {}; {} stay in force", reason,
                             store_.revision == 0
                                 ? std::string("the file's weights")
                                 : fmt::format("its settings of revision {}", store_.revision)));
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
  StoreOutcome outcome = read_store(keys, lb_config_.control.etcd_prefix, file_services_);
  bool is_taken = true;
  if (outcome.faults.empty() && outcome.settings != settings_) {
    lb::Config file = lb_config_;
    file.services = file_services_;
    const BackendRegistry before = registry_;
    const Result<Json> taken = take(file, {std::move(outcome.settings), false});
    is_taken = taken.ok();
    if (taken) {
      config_.tell(control::Severity::kNotice,
                   fmt::format("the settings of etcd's revision {} were taken", revision));
      tell_fallback(before);
    } else {
      outcome.faults.push_back(taken.error().message);
    }
  }
  note_store_faults(std::move(outcome.faults));
  if (store_.faults.empty()) store_.revision = revision;
  announce_anew();
  return is_taken;
}

// Told once, however often they are found.
void Control::note_store_faults(std::vector<std::string> faults) {
  if (!faults.empty() && faults != store_.faults) {
    for (const std::string& fault : faults) {
      config_.tell(control::Severity::kError, "etcd: " + fault);
    }
    config_.tell(control::Severity::kError,
                 "the settings of etcd were not taken; nothing has changed");
  }
  store_.faults = std::move(faults);
}

}  // namespace roost::lb
