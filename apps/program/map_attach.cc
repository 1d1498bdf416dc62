#include "apps/program/map_attach.h"

#include <fmt/format.h>
#include <net/if.h>

#include <charconv>
#include <iterator>
#include <utility>

#include "apps/program/exit_status.h"
#include "apps/program/function_command.h"

namespace roost::program {
namespace {

constexpr const char* kAttachFooter =
    "\n"
    "  roost map attach ports.image eth0 --action 1=eth1 --action 2=eth2 --action 9=drop\n"
    "  roost map show eth0 --attached\n"
    "  roost map detach eth0\n"
    "The program stays when this one has ended. Another `attach` puts another image in its place,\n"
    "at once, and goes on with its counts.";

// "drop", "pass", "back", or an interface to redirect to.
Result<xdp::Action> parse_action(const std::string& text) {
  if (text == "drop") return xdp::Action{.kind = kXdpDrop};
  if (text == "pass") return xdp::Action{.kind = kXdpPass};
  if (text == "back") return xdp::Action{.kind = kXdpSendBack};
  const unsigned index = if_nametoindex(text.c_str());
  if (index != 0) return xdp::Action{.kind = kXdpRedirect, .interface = index};
  return Error{text + " is no action: give drop, pass, back, or an interface that is there"};
}

// "VALUE=ACTION"
Result<std::pair<uint32_t, xdp::Action>> parse_assignment(const std::string& text) {
  const size_t equals = text.find('=');
  uint32_t value = 0;
  const char* const end = text.data() + std::min(equals, text.size());
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (equals == std::string::npos || error != std::errc() || stop != end)
    return Error{text + " assigns no action: give VALUE=ACTION, such as 1=eth1"};
  const auto action = parse_action(text.substr(equals + 1));
  if (!action) return action.error();
  return std::pair(value, action.value());
}

int complained(const Error& error, int status) {
  complain(error.message);
  return status;
}

}  // namespace

MapAttach::MapAttach(CLI::App& map)
    : attach_(map.add_subcommand("attach", "put a line map before an interface, by XDP")),
      detach_(map.add_subcommand("detach", "take it away")) {
  attach_->footer(kAttachFooter);
  attach_->add_option("image", image_path_, "a line map that `build` made")->required();
  attach_->add_option("interface", interface_, "whose packets are looked up")->required();
  attach_->add_option("--action", actions_,
                      "VALUE=ACTION, one for each value; ACTION is drop, pass, back, or an "
                      "interface to redirect to");
  attach_->add_option("--strangers", strangers_, "ACTION for keys that the table has not")
      ->capture_default_str();
  attach_->add_option("--unassigned", unassigned_, "drop or pass, for values without an action")
      ->capture_default_str()
      ->check(CLI::IsMember({"drop", "pass"}));
  attach_->add_option("--key", key_, "the destination of a frame that is its key")
      ->capture_default_str()
      ->check(CLI::IsMember({"mac", "ipv4"}));
  attach_->add_option("--mode", mode_, "native: in the driver; generic: behind it, any interface")
      ->capture_default_str()
      ->check(CLI::IsMember({"native", "generic"}));
  detach_->add_option("interface", interface_, "that has a line map of ours")->required();
}

Result<xdp::XdpConfig> MapAttach::config() const {
  xdp::XdpConfig config{.key = key_ == "mac" ? kXdpDestinationMac : kXdpDestinationIpv4};
  config.unassigned.kind = unassigned_ == "pass" ? kXdpPass : kXdpDrop;
  const auto strangers = parse_action(strangers_);
  if (!strangers) return Error{"--strangers: " + strangers.error().message};
  config.strangers = strangers.value();
  for (const std::string& text : actions_) {
    const auto assigned = parse_assignment(text);
    if (!assigned) return Error{"--action: " + assigned.error().message};
    const auto [value, action] = assigned.value();
    if (!config.actions.emplace(value, action).second)
      return Error{fmt::format("--action: the value {} has two", value)};
  }
  return config;
}

int MapAttach::attach() const {
  const auto configured = config();
  if (!configured) return complained(configured.error(), kExitUsage);
  const auto image = map::Image::read(image_path_);
  if (!image) return complained(image.error(), kExitCannotStart);
  if (image.value().line_map() == nullptr)
    return complained({image_path_ + ": XDP takes line maps; build it with --kind line-map"},
                      kExitCannotStart);
  auto before = xdp::AttachedXdp::find(interface_);
  if (!before) return complained(before.error(), kExitCannotStart);
  const std::optional<xdp::AttachedXdp>& replaced = before.value();
  auto loaded = xdp::XdpLineMap::load(image.value().bytes(), configured.value(),
                                      replaced ? &*replaced : nullptr);
  if (!loaded) return complained(loaded.error(), kExitCannotStart);
  const auto mode = mode_ == "native" ? xdp::XdpMode::kNative : xdp::XdpMode::kGeneric;
  if (const auto refused = loaded.value().attach(interface_, mode))
    return complained(*refused, kExitCannotStart);
  return kExitOk;
}

int MapAttach::detach() const {
  auto attached = find_attached(interface_);
  if (!attached) return complained(attached.error(), kExitCannotStart);
  if (const auto refused = attached.value().detach()) return complained(*refused, kExitCannotStart);
  return kExitOk;
}

Result<xdp::AttachedXdp> find_attached(const std::string& interface) {
  auto found = xdp::AttachedXdp::find(interface);
  if (!found) return found.error();
  std::optional<xdp::AttachedXdp>& attached = found.value();
  if (!attached) return Error{interface + " has no XDP program"};
  return std::move(*attached);
}

std::string counts_text(const xdp::XdpCounts& counts) {
  std::string text = "packets:\n";
  for (size_t verdict = 0; verdict < counts.size(); ++verdict) {
    fmt::format_to(std::back_inserter(text), "  {:<14} {}\n", xdp::verdict_name(verdict),
                   counts[verdict]);
  }
  return text;
}

control::Json counts_json(const xdp::XdpCounts& counts) {
  control::Json json = control::Json::object();
  for (size_t verdict = 0; verdict < counts.size(); ++verdict)
    json[std::string(xdp::verdict_name(verdict))] = counts[verdict];
  return json;
}

}  // namespace roost::program
