// Programs at interfaces: attached, replaced with their counts, found by another process, taken
// away; what is not ours stays.
#include <linux/if_link.h>

#include "tests/xdp/kernel_answers.h"
#include "tests/xdp/network.h"

namespace roost::xdp {
namespace {

// One namespace with a wire whose both ends are in it.
class XdpAttach : public KernelTest {
 protected:
  void SetUp() override {
    KernelTest::SetUp();
    if (IsSkipped()) return;
    space_.emplace();
    space_->inside([] {
      run_command("ip link add near type veth peer name far");
      run_command("ip link set near up");
      run_command("ip link set far up");
    });
  }
  template <class Run>
  void inside(Run&& run) const {
    space_->inside(run);
  }

  std::optional<NetworkNamespace> space_;
};

XdpLineMap loaded_map(const Map& map, const AttachedXdp* before = nullptr) {
  auto xdp = XdpLineMap::load(map.image(), {.strangers = {.kind = kXdpDrop}}, before);
  EXPECT_TRUE(xdp) << xdp.error().message;
  return std::move(xdp).value();
}
std::optional<AttachedXdp> found_at(const std::string& interface) {
  auto found = AttachedXdp::find(interface);
  EXPECT_TRUE(found) << found.error().message;
  return found ? std::move(found).value() : std::nullopt;
}

TEST_F(XdpAttach, stays_when_its_loader_has_gone_and_is_found) {
  inside([] {
    const Map map = map_of({}, {1, 2, 3});
    EXPECT_FALSE(found_at("near"));
    for (const XdpMode mode : {XdpMode::kNative, XdpMode::kGeneric}) {
      {
        XdpLineMap xdp = loaded_map(map);
        EXPECT_EQ(xdp.attach("near", mode), std::nullopt);
      }
      auto attached = found_at("near");
      ASSERT_TRUE(attached);
      EXPECT_EQ(attached->mode(), mode);
      ASSERT_EQ(attached->image().size(), map.image().size());
      EXPECT_EQ(std::memcmp(attached->image().data(), map.image().data(), map.image().size()), 0);
      EXPECT_EQ(attached->detach(), std::nullopt);
      EXPECT_FALSE(found_at("near"));
      EXPECT_TRUE(attached->detach());  // it has gone
    }
  });
}

TEST_F(XdpAttach, another_image_takes_its_place_and_counts_go_on) {
  inside([] {
    const Map map = map_of({}, {1, 2, 3});
    const Map next = map_of({}, {4, 5, 6});
    XdpLineMap xdp = loaded_map(map);
    ASSERT_EQ(xdp.attach("near", XdpMode::kNative), std::nullopt);
    const Frame frame(14);
    bpf_test_run_opts options = test_run_options(frame);
    options.repeat = 7;
    ASSERT_EQ(bpf_prog_test_run_opts(xdp.program(), &options), 0);
    const auto counts = found_at("near")->counts().value();
    EXPECT_GE(counts[kXdpDropped] + counts[kXdpStranger] + counts[kXdpValueUnassigned], 7U);
    const auto before = found_at("near");
    XdpLineMap after = loaded_map(next, &*before);
    // Of the other mode it is refused, and all stays.
    EXPECT_TRUE(after.attach("near", XdpMode::kGeneric));
    EXPECT_EQ(std::memcmp(found_at("near")->image().data(), map.image().data(), 256), 0);
    ASSERT_EQ(after.attach("near", XdpMode::kNative), std::nullopt);
    auto attached = found_at("near");
    EXPECT_EQ(std::memcmp(attached->image().data(), next.image().data(), 256), 0);
    const auto sums = attached->counts().value();
    for (size_t verdict = 0; verdict < kXdpVerdicts; ++verdict)
      EXPECT_GE(sums[verdict], counts[verdict]) << verdict_name(verdict);
    EXPECT_EQ(attached->detach(), std::nullopt);
  });
}

TEST_F(XdpAttach, a_program_of_others_stays) {
  inside([] {
    const Map map = map_of({}, {1});
    XdpLineMap xdp = loaded_map(map);
    const KernelAnswers others(settings_of(map.image(), {}).value(), xdp.lines(), 1);
    const auto index = static_cast<int>(if_nametoindex("near"));
    ASSERT_EQ(bpf_xdp_attach(index, others.program("passes_all"), XDP_FLAGS_DRV_MODE, nullptr), 0);
    const auto refused = xdp.attach("near", XdpMode::kNative);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->message,
              "near has an XDP program that is not Roost's: \"passes_all\"; take it away first");
    EXPECT_FALSE(AttachedXdp::find("near"));
    uint32_t id = 0;
    EXPECT_EQ(bpf_xdp_query_id(index, XDP_FLAGS_DRV_MODE, &id), 0);
    EXPECT_NE(id, 0U);
  });
}

TEST_F(XdpAttach, a_program_that_was_replaced_meanwhile_is_not_detached) {
  inside([] {
    const Map map = map_of({}, {1});
    XdpLineMap xdp = loaded_map(map);
    ASSERT_EQ(xdp.attach("near", XdpMode::kNative), std::nullopt);
    auto first = found_at("near");
    XdpLineMap next = loaded_map(map);
    ASSERT_EQ(next.attach("near", XdpMode::kNative), std::nullopt);
    EXPECT_TRUE(first->detach());
    EXPECT_TRUE(found_at("near"));
  });
}

TEST_F(XdpAttach, interfaces_that_are_not_there_are_said) {
  inside([] {
    XdpLineMap xdp = loaded_map(map_of({}, {1}));
    const auto refused = xdp.attach("none", XdpMode::kNative);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->message, "there is no interface none in this network namespace");
  });
}

}  // namespace
}  // namespace roost::xdp
