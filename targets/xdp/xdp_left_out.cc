// In the place of the target, where the build has not what it takes.
#include <utility>

#include "targets/xdp/xdp_line_map.h"

namespace roost::xdp {
namespace {

Error left_out() {
  return Error{
      "this build has no XDP: it takes clang and libbpf's headers, on x86-64; "
      "`./dev setup test` installs them"};
}

}  // namespace

struct AttachedXdp::State {};
struct XdpLineMap::State {};

AttachedXdp::AttachedXdp(std::unique_ptr<State> state) : state_(std::move(state)) {}
AttachedXdp::AttachedXdp(AttachedXdp&&) noexcept = default;
AttachedXdp::~AttachedXdp() = default;
Result<std::optional<AttachedXdp>> AttachedXdp::find(const std::string& /*interface*/) {
  return left_out();
}
std::span<const std::byte> AttachedXdp::image() const { return {}; }
Result<XdpCounts> AttachedXdp::counts() const { return left_out(); }
XdpMode AttachedXdp::mode() const { return XdpMode::kNative; }
std::optional<Error> AttachedXdp::detach() { return left_out(); }

XdpLineMap::XdpLineMap(std::unique_ptr<State> state) : state_(std::move(state)) {}
XdpLineMap::XdpLineMap(XdpLineMap&&) noexcept = default;
XdpLineMap& XdpLineMap::operator=(XdpLineMap&&) noexcept = default;
XdpLineMap::~XdpLineMap() = default;
Result<XdpLineMap> XdpLineMap::load(std::span<const std::byte> /*image*/,
                                    const XdpConfig& /*config*/, const AttachedXdp* /*before*/) {
  return left_out();
}
std::span<std::byte> XdpLineMap::memory() const { return {}; }
Result<XdpCounts> XdpLineMap::counts() const { return left_out(); }
int XdpLineMap::program() const { return -1; }
int XdpLineMap::lines() const { return -1; }
std::optional<Error> XdpLineMap::attach(const std::string& /*interface*/, XdpMode /*mode*/) {
  return left_out();
}

}  // namespace roost::xdp
