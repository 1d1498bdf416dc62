// The routes that tell routers of this node, from the process that sets them to the one that takes
// over: they stand all the while (docs/decisions/0035-takeover.md, 0036-two-nodes.md).
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "apps/lb/config/announce_config.h"
#include "apps/lb/takeover/handed_routes.h"
#include "roost/base/result.h"
#include "roost/control/announced_routes.h"
#include "roost/net/address.h"

namespace roost::lb {

// Any thread may call any of it.
class Announcer {
 public:
  // `handed`: what another process gave away; else there are no routes yet.
  [[nodiscard]] static Result<std::unique_ptr<Announcer>> create(
      const AnnounceConfig& config, std::optional<HandedRoutes> handed);

  // Between give_away() and take_back() nothing changes, and this only notes what shall be.
  [[nodiscard]] std::optional<Error> set(const std::vector<net::IpAddress>& addresses);

  // The routes are another process's from now on, unless they are taken back.
  [[nodiscard]] HandedRoutes give_away();
  [[nodiscard]] std::optional<Error> take_back();

 private:
  explicit Announcer(control::AnnouncedRoutes routes) : routes_(std::move(routes)) {}

  std::mutex mutex_;
  control::AnnouncedRoutes routes_;
  std::vector<net::IpAddress> wanted_{};
  bool is_given_away_ = false;
};

}  // namespace roost::lb
