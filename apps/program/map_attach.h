// `roost map attach` and `detach`: a line map in the kernel's XDP, at an interface.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

#include "apps/map/image.h"
#include "roost/base/result.h"
#include "roost/control/json.h"
#include "targets/xdp/xdp_line_map.h"

namespace roost::program {

class MapAttach {
 public:
  // Adds both to `roost map`, which must not outlive this object.
  explicit MapAttach(CLI::App& map);
  MapAttach(const MapAttach&) = delete;
  MapAttach& operator=(const MapAttach&) = delete;

  [[nodiscard]] bool is_attach() const { return attach_->parsed(); }
  [[nodiscard]] bool is_detach() const { return detach_->parsed(); }
  // Return an exit status of exit_status.h.
  [[nodiscard]] int attach() const;
  [[nodiscard]] int detach() const;

 private:
  [[nodiscard]] Result<xdp::XdpConfig> config() const;

  CLI::App* attach_;
  CLI::App* detach_;
  std::string image_path_;
  std::string interface_;
  std::string key_ = "mac";
  std::string mode_ = "native";
  std::string strangers_ = "pass";
  std::string unassigned_ = "drop";
  std::vector<std::string> actions_;
};

// What is attached to an interface. Errors: nothing is, or nothing of ours.
[[nodiscard]] Result<xdp::AttachedXdp> find_attached(const std::string& interface);

// A line a verdict; or an object.
[[nodiscard]] std::string counts_text(const xdp::XdpCounts& counts);
[[nodiscard]] control::Json counts_json(const xdp::XdpCounts& counts);

}  // namespace roost::program
