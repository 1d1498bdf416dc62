#include "apps/lb/control/announcer.h"

#include <utility>

namespace roost::lb {

Result<std::unique_ptr<Announcer>> Announcer::create(const AnnounceConfig& config,
                                                     std::optional<HandedRoutes> handed) {
  const control::AnnouncedRoutes::Config wanted = {config.device, config.table};
  auto routes =
      handed ? control::AnnouncedRoutes::adopt(wanted, std::move(handed->device), handed->addresses)
             : control::AnnouncedRoutes::create(wanted);
  if (!routes) return routes.error();
  return std::unique_ptr<Announcer>(new Announcer(std::move(routes).value()));
}

std::optional<Error> Announcer::set(const std::vector<net::IpAddress>& addresses) {
  const std::scoped_lock lock(mutex_);
  wanted_ = addresses;
  if (is_given_away_) return {};
  return routes_.set(wanted_);
}

HandedRoutes Announcer::give_away() {
  const std::scoped_lock lock(mutex_);
  is_given_away_ = true;
  return {routes_.share_device(), routes_.routed()};
}

std::optional<Error> Announcer::take_back() {
  const std::scoped_lock lock(mutex_);
  is_given_away_ = false;
  return routes_.set(wanted_);
}

}  // namespace roost::lb
