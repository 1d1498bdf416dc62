#include "apps/lb/config/check_mark.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace roost::lb {

namespace {

class MarkCheck {
 public:
  MarkCheck(const Config& config, std::vector<config::Fault>& faults)
      : config_(config), faults_(faults) {}

  void run() {
    for (const ServiceConfig& service : config_.services) {
      const bool has_marks = std::ranges::any_of(
          service.backends, [](const BackendConfig& backend) { return backend.check_mark != 0; });
      if (!has_marks) continue;
      for (const BackendConfig& backend : service.backends) check_backend(service, backend);
    }
  }

 private:
  void check_backend(const ServiceConfig& service, const BackendConfig& backend) {
    if (backend.check_mark == 0) {
      fault(service, backend,
            "it has no check_mark, and others of the service have one; give it one, or none any");
    } else if (!service.check) {
      fault(service, backend,
            "check_mark is for health checks, and the service has none; add a check, or leave "
            "check_mark out");
    } else if (!is_dsr(service.mode)) {
      fault(service, backend,
            fmt::format("in mode {} it gets packets at its own address, where checks reach it "
                        "without a check_mark; leave it out, or give another mode",
                        mode_name(service.mode)));
    } else {
      check_owner(service, backend);
    }
  }

  // A mark leads to one station.
  void check_owner(const ServiceConfig& service, const BackendConfig& backend) {
    const auto& [mark, first] = *owners_.try_emplace(backend.check_mark, &backend).first;
    if (first->address == backend.address) return;
    fault(service, backend,
          fmt::format("check_mark {} is that of the backend of line {}, which has another address; "
                      "give each address a mark of its own",
                      mark, first->line));
  }

  void fault(const ServiceConfig& service, const BackendConfig& backend, const std::string& text) {
    faults_.push_back({backend.line, fmt::format("[[service]] {} backend {}: {}", service.name,
                                                 backend.name, text)});
  }

  const Config& config_;
  std::vector<config::Fault>& faults_;
  std::map<uint32_t, const BackendConfig*> owners_;
};

}  // namespace

void check_marks(const Config& config, std::vector<config::Fault>& faults) {
  MarkCheck(config, faults).run();
}

}  // namespace roost::lb
