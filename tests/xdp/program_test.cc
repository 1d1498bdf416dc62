// The program's verdict on frames, and that each is counted under one.
#include <linux/bpf.h>

#include <numeric>

#include "tests/base/step_count.h"
#include "tests/xdp/frames.h"
#include "tests/xdp/kernel_answers.h"

namespace roost::xdp {
namespace {

using compact::random_keys;

constexpr unsigned kLoopback = 1;

// What XDP makes of a frame, or -1: the kernel refuses it.
int verdict_on(const XdpLineMap& xdp, const Frame& frame) {
  bpf_test_run_opts options = test_run_options(frame);
  if (bpf_prog_test_run_opts(xdp.program(), &options) != 0) return -1;
  return static_cast<int>(options.retval);
}

XdpLineMap loaded(const Map& map, const XdpConfig& config) {
  auto xdp = XdpLineMap::load(map.image(), config);
  EXPECT_TRUE(xdp) << xdp.error().message;
  return std::move(xdp).value();
}

uint64_t sum_of(const XdpCounts& counts) {
  return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
}

class XdpProgram : public KernelTest {};

// The five things that a value may lead to, by its remainder.
TEST_F(XdpProgram, a_million_frames_and_strangers_have_the_verdicts_of_the_reader) {
  constexpr std::array kKinds = {kXdpRedirect, kXdpDrop, kXdpPass, kXdpSendBack, kXdpUnassigned};
  constexpr std::array kCodes = {XDP_REDIRECT, XDP_DROP, XDP_PASS, XDP_TX, XDP_DROP};
  constexpr std::array kVerdicts = {kXdpRedirected, kXdpDropped, kXdpPassed, kXdpSentBack,
                                    kXdpValueUnassigned};
  XdpConfig config;
  for (uint32_t value = 0; value < 65'535; ++value) {
    if (kKinds[value % 5] != kXdpUnassigned)
      config.actions[value] = {.kind = kKinds[value % 5], .interface = kLoopback};
  }
  const auto keys = random_keys(step_count(1'000'000), 1);
  auto asked = random_keys(step_count(100'000), 2);
  asked.insert(asked.end(), keys.begin(), keys.end());
  const Map map = map_of({}, keys);
  const XdpLineMap xdp = loaded(map, config);
  const auto reader = compact::LineMapReader<uint64_t>::open(map.image()).value();
  std::vector<uint32_t> values(asked.size());
  std::vector<uint64_t> words(hit_word_count(asked.size()));
  const HitWords maybe{words};
  reader.lookup_unverified(asked, values, maybe);
  XdpCounts expected{};
  for (size_t i = 0; i < asked.size(); ++i) {
    const size_t kind = values[i] % 5;
    ++expected[maybe.test(i) ? kVerdicts[kind] : kXdpStranger];
    ASSERT_EQ(verdict_on(xdp, frame_to_mac(asked[i])), maybe.test(i) ? kCodes[kind] : XDP_PASS)
        << asked[i];
  }
  EXPECT_EQ(xdp.counts().value(), expected);
  EXPECT_GT(expected[kXdpStranger], 0U);
}

TEST_F(XdpProgram, strangers_and_values_without_an_action_meet_what_was_configured) {
  constexpr uint64_t kStranger = 0x0200'0000'9999;
  const Map map = map_of({.fingerprint_bits = 16}, {1, 2, 3});
  const auto verdict = [&](const XdpConfig& config, uint64_t key) {
    const XdpLineMap xdp = loaded(map, config);
    const int code = verdict_on(xdp, frame_to_mac(key));
    const XdpCounts counts = xdp.counts().value();
    EXPECT_EQ(sum_of(counts), 1U);
    EXPECT_EQ(counts[key == kStranger ? kXdpStranger : kXdpValueUnassigned], 1U);
    return code;
  };
  EXPECT_EQ(verdict({}, kStranger), XDP_PASS);
  EXPECT_EQ(verdict({.strangers = {.kind = kXdpDrop}}, kStranger), XDP_DROP);
  EXPECT_EQ(verdict({.strangers = {.kind = kXdpSendBack}}, kStranger), XDP_TX);
  EXPECT_EQ(verdict({.strangers = {.kind = kXdpRedirect, .interface = kLoopback}}, kStranger),
            XDP_REDIRECT);
  // With actions, whose maps have the strangers' behind them.
  EXPECT_EQ(verdict({.actions = {{7, {.kind = kXdpDrop}}},
                     .strangers = {.kind = kXdpRedirect, .interface = kLoopback}},
                    kStranger),
            XDP_REDIRECT);
  EXPECT_EQ(verdict({}, 2), XDP_DROP);
  EXPECT_EQ(verdict({.unassigned = {.kind = kXdpPass}}, 2), XDP_PASS);
}

// The value of strangers' redirect is behind those that have actions, and is nobody's.
TEST_F(XdpProgram, a_value_behind_all_actions_is_not_the_strangers) {
  auto map = Map::build({.hash_seed = 1}, {{5, 1}}).value();
  const XdpLineMap xdp = loaded(map, {.actions = {{0, {.kind = kXdpPass}}},
                                      .strangers = {.kind = kXdpRedirect, .interface = kLoopback}});
  EXPECT_EQ(verdict_on(xdp, frame_to_mac(5)), XDP_DROP);
  EXPECT_EQ(xdp.counts().value()[kXdpValueUnassigned], 1U);
}

TEST_F(XdpProgram, a_frame_whose_line_stays_in_change_is_dropped_and_counted) {
  const Map map = map_of({}, {1});
  const XdpLineMap xdp =
      loaded(map, {.strangers = {.kind = kXdpPass}, .unassigned = {.kind = kXdpPass}});
  EXPECT_EQ(verdict_on(xdp, frame_to_mac(1)), XDP_PASS);
  for (size_t at = compact::kLineMapHeadBytes; at < xdp.memory().size(); at += compact::kLineBytes)
    xdp.memory()[at] = std::byte{1};
  EXPECT_EQ(verdict_on(xdp, frame_to_mac(1)), XDP_DROP);
  EXPECT_EQ(xdp.counts().value()[kXdpBusy], 1U);
}

TEST_F(XdpProgram, ipv4_destinations_are_keys_with_a_vlan_tag_and_without) {
  constexpr uint32_t kAddress = 0xc000'0201;
  auto map = Map::build({.fingerprint_bits = 16, .hash_seed = 1}, {{kAddress, 3}}).value();
  const XdpLineMap xdp = loaded(map, {.key = kXdpDestinationIpv4,
                                      .actions = {{3, {.kind = kXdpSendBack}}},
                                      .strangers = {.kind = kXdpDrop}});
  EXPECT_EQ(verdict_on(xdp, frame_to_ipv4(kAddress)), XDP_TX);
  EXPECT_EQ(verdict_on(xdp, frame_to_ipv4(kAddress, 1)), XDP_TX);
  EXPECT_EQ(verdict_on(xdp, frame_to_ipv4(kAddress + 1)), XDP_DROP);
  // What has no such key passes: two tags, IPv6, another version, cut headers.
  Frame ipv6 = frame_to_ipv4(kAddress);
  ipv6[12] = 0x86;
  ipv6[13] = 0xdd;
  Frame other_version = frame_to_ipv4(kAddress);
  other_version[14] = 0x65;
  Frame cut = frame_to_ipv4(kAddress);
  cut.resize(33);
  Frame cut_tag = frame_to_ipv4(kAddress, 1);
  cut_tag.resize(16);
  const std::array foreign = {frame_to_ipv4(kAddress, 2), ipv6, other_version, cut, cut_tag};
  for (const Frame& frame : foreign) EXPECT_EQ(verdict_on(xdp, frame), XDP_PASS);
  const XdpCounts counts = xdp.counts().value();
  EXPECT_EQ(counts[kXdpForeign], foreign.size());
  EXPECT_EQ(counts[kXdpSentBack], 2U);
  EXPECT_EQ(counts[kXdpStranger], 1U);
  EXPECT_EQ(sum_of(counts), 3 + foreign.size());
}

TEST_F(XdpProgram, what_cannot_be_is_refused) {
  const Map map = map_of({}, {1});
  const auto refusal = [](std::span<const std::byte> image, const XdpConfig& config) {
    const auto xdp = XdpLineMap::load(image, config);
    return xdp ? std::string("taken") : xdp.error().message;
  };
  EXPECT_EQ(refusal(map.image().first(300), {}),
            "the image should have " + std::to_string(map.image().size()) +
                " bytes and has 300: it is cut, or something follows it");
  EXPECT_EQ(refusal(map.image(), {.actions = {{1U << 20, {}}}}),
            "values that have actions are below 1048576");
  EXPECT_EQ(refusal(map.image(), {.unassigned = {.kind = kXdpRedirect}}),
            "values without an action are dropped or passed");
  EXPECT_TRUE(refusal(map.image(), {.actions = {{1, {.kind = kXdpRedirect, .interface = 9'999}}}})
                  .starts_with("an action's device cannot be redirected to: "));
  auto wide = compact::LineMapBuilder<std::array<uint64_t, 2>>::build({}, {{{1, 2}, 3}}).value();
  EXPECT_EQ(refusal(wide.image(), {}), "the image is for keys of 16 bytes, not 8");
}

}  // namespace
}  // namespace roost::xdp
