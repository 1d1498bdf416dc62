#include "apps/lb/config/store_settings.h"

#include <fmt/format.h>

#include <charconv>

#include "roost/config/message_text.h"

namespace roost::lb {

namespace {

std::optional<uint32_t> weight_of(const std::string& text) {
  uint32_t weight = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), weight);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  if (weight > BackendConfig::kWeightMax) return {};
  return weight;
}

// Empty: it was taken. `name`: what the key's last part says.
std::string take_value(const std::string& name, const std::string& value, StoreSetting& setting) {
  if (name == "weight") {
    setting.weight = weight_of(value);
    if (setting.weight) return "";
    return fmt::format("{} is no weight; put a whole number from 0 to {}", config::in_quotes(value),
                       BackendConfig::kWeightMax);
  }
  setting.is_drained = value == "true";
  if (setting.is_drained || value == "false") return "";
  return fmt::format("{} says nothing of a drain; put true or false", config::in_quotes(value));
}

}  // namespace

StoreOutcome read_store(const std::map<std::string, std::string>& keys, const std::string& prefix,
                        const std::vector<ServiceConfig>& services) {
  struct Place {
    std::pair<std::string, std::string> names;
    std::string what;
  };
  std::map<std::string, Place> places;
  for (const ServiceConfig& service : services) {
    for (const BackendConfig& backend : service.backends) {
      for (const std::string what : {"weight", "drain"}) {
        places[fmt::format("{}{}/{}/{}", prefix, service.name, backend.name, what)] = {
            {service.name, backend.name}, what};
      }
    }
  }
  StoreOutcome outcome;
  for (const auto& [key, value] : keys) {
    const auto place = places.find(key);
    if (place == places.end()) {
      outcome.faults.push_back(fmt::format(
          "{}: the file has no such backend; keys are {}SERVICE/BACKEND/weight and .../drain: "
          "delete it, or reload a file that has the backend",
          config::printable(key), prefix));
      continue;
    }
    const std::string fault =
        take_value(place->second.what, value, outcome.settings[place->second.names]);
    if (!fault.empty()) outcome.faults.push_back(config::printable(key) + ": " + fault);
  }
  if (!outcome.faults.empty()) outcome.settings.clear();
  return outcome;
}

std::vector<ServiceConfig> with_settings(std::vector<ServiceConfig> services,
                                         const StoreSettings& settings) {
  for (ServiceConfig& service : services) {
    for (BackendConfig& backend : service.backends) {
      const auto setting = settings.find({service.name, backend.name});
      if (setting != settings.end() && setting->second.weight) {
        backend.weight = *setting->second.weight;
      }
    }
  }
  return services;
}

}  // namespace roost::lb
