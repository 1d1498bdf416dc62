// The SWX pipeline, with packets: it answers as the C++ reader does.
#include "targets/switch/swx_pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "roost/io/eal.h"
#include "tests/base/step_count.h"
#include "tests/targets/switch_sets.h"

namespace roost::targets {
namespace {

class SwxPipelineTest : public testing::Test {
 protected:
  static io::Eal start() {
    const std::vector<std::string> arguments = {"--no-huge",        "--no-pci", "--no-telemetry",
                                                "--vdev=net_null0", "-m",       "512"};
    auto eal = io::Eal::start(arguments);
    EXPECT_TRUE(eal) << eal.error().message;
    return std::move(eal).value();
  }

  io::Eal eal_ = start();
};

SwxPipeline pipeline_of(const compact::ParrotBuilder& table, uint32_t stash_reads, Answer answer,
                        uint32_t port_count = 16) {
  const SwitchTable contents = SwitchTable::of_image(table.image(), stash_reads).value();
  const SwitchProgram program = SwitchProgram::for_table(contents, answer, port_count).value();
  auto pipeline = SwxPipeline::create(program, contents);
  EXPECT_TRUE(pipeline) << pipeline.error().message;
  return std::move(pipeline).value();
}

// Sends a packet to each address, and calls expect(i, sent).
template <class Expect>
void send_all(SwxPipeline& pipeline, const std::vector<uint64_t>& addresses, Expect&& expect) {
  std::vector<SwxPipeline::Sent> sent(SwxPipeline::kPacketsMax);
  for (size_t at = 0; at < addresses.size(); at += SwxPipeline::kPacketsMax) {
    const auto some =
        std::span(addresses).subspan(at, std::min(SwxPipeline::kPacketsMax, addresses.size() - at));
    ASSERT_TRUE(pipeline.send(some, std::span(sent).first(some.size())));
    for (size_t i = 0; i < some.size(); ++i) expect(at + i, sent[i]);
  }
}

void expect_reader_s_answers(const compact::ParrotBuilder& table, uint32_t stash_reads,
                             const std::vector<uint64_t>& asked) {
  SwxPipeline pipeline = pipeline_of(table, stash_reads, Answer::kSource);
  const auto answers = answers_of(table, asked);
  size_t wrong = 0;
  send_all(pipeline, asked, [&](size_t i, const SwxPipeline::Sent& sent) {
    const bool is_right =
        sent.port == (answers[i] ? 0U : 1U) && sent.source == answers[i].value_or(0);
    if (!is_right && ++wrong <= 5)
      ADD_FAILURE() << asked[i] << " left through " << sent.port << " with " << sent.source
                    << "; the reader says " << answers[i].value_or(UINT32_MAX);
  });
  EXPECT_EQ(wrong, 0U);
}

TEST_F(SwxPipelineTest, answers_as_the_reader_for_100_000_keys_and_as_many_strangers) {
  const auto keys = compact::random_keys(step_count(100'000), 1);
  const compact::ParrotBuilder table = table_of({.model = kSixKeys}, keys);
  ASSERT_GT(table.report().stashed, keys.size() / 4);
  expect_reader_s_answers(table, kStashReadsMax, asked_of(keys, 2));
}

TEST_F(SwxPipelineTest, answers_as_the_reader_by_steps_of_a_learned_model) {
  const auto keys = compact::random_keys(step_count(20'000), 16);
  const compact::ParrotBuilder table = table_of({.has_steps = true}, keys);
  ASSERT_GT(table.report().stashed, keys.size() / 20);
  expect_reader_s_answers(table, kStashReadsMax, asked_of(keys, 17));
}

TEST_F(SwxPipelineTest, answers_as_the_reader_without_a_stash) {
  const auto keys = compact::random_keys(step_count(20'000), 3);
  const compact::ParrotBuilder table = table_of({.model = kFourKeys}, keys);
  expect_reader_s_answers(table, 0, asked_of(keys, 4));
}

TEST_F(SwxPipelineTest, answers_as_the_reader_for_all_widths_and_reads) {
  const auto keys = compact::random_keys(step_count(3'000), 5);
  const auto asked = asked_of(keys, 6);
  for (const uint32_t value_bits : {4U, 8U, 9U, 16U, 24U, 32U}) {
    const compact::ParrotBuilder table =
        table_of({.value_bits = value_bits, .model = kSixKeys}, keys);
    for (uint32_t reads = 0; reads <= kStashReadsMax; ++reads) {
      SCOPED_TRACE(std::to_string(value_bits) + " bits, " + std::to_string(reads));
      expect_reader_s_answers(table, reads, asked);
    }
  }
}

// Failed buckets have no slots; a bucket of nine keys has more than two in the stash.
TEST_F(SwxPipelineTest, answers_as_the_reader_where_the_stash_overflows) {
  const auto keys = compact::random_keys(step_count(10'000), 7);
  const compact::ParrotBuilder table =
      table_of({.model = compact::ModelChoice{compact::ModelKind::kSteps, 9}}, keys);
  expect_reader_s_answers(table, kStashReadsMax, asked_of(keys, 8));
}

// strangers that differ from a key in their high bits only are no keys.
TEST_F(SwxPipelineTest, x108_kept_keys_tell_all_strangers) {
  const auto keys = compact::random_keys(step_count(10'000), 9);
  const compact::ParrotBuilder table = table_of({.keeps_keys = true, .model = kSixKeys}, keys);
  auto asked = asked_of(keys, 10);
  for (const uint64_t key : keys) asked.push_back(key ^ uint64_t{1} << 40);
  expect_reader_s_answers(table, kStashReadsMax, asked);
  SwxPipeline pipeline = pipeline_of(table, kStashReadsMax, Answer::kSource);
  send_all(pipeline, asked, [&](size_t i, const SwxPipeline::Sent& sent) {
    const bool is_key = std::ranges::binary_search(keys, asked[i]);
    ASSERT_EQ(sent.port, is_key ? 0U : 1U) << asked[i];
  });
}

TEST_F(SwxPipelineTest, answers_for_one_key_and_for_dense_ones) {
  for (const auto& keys : {std::vector<uint64_t>{42}, std::vector<uint64_t>{0, kSwitchKeyMask},
                           compact::dense_keys(5'000, 0x0200'ffff'f000)})  // low halves wrap
    expect_reader_s_answers(table_of({.has_steps = true}, keys), 2, asked_of(keys, 11));
}

// After changes the image has shadowed values and holes.
TEST_F(SwxPipelineTest, answers_as_the_reader_after_changes) {
  auto keys = compact::random_keys(step_count(10'000), 12);
  compact::ParrotBuilder table = table_of({.growth = 1.5, .model = kSixKeys}, keys);
  for (size_t i = 0; i < keys.size(); i += 10) {
    ASSERT_EQ(table.erase(keys[i]), compact::ChangeOutcome::kDone);
    ASSERT_EQ(table.update(keys[i + 1], 7), compact::ChangeOutcome::kDone);
    ASSERT_EQ(table.insert(keys[i], 9), compact::ChangeOutcome::kDone);
    ASSERT_EQ(table.erase(keys[i + 2]), compact::ChangeOutcome::kDone);
  }
  expect_reader_s_answers(table, kStashReadsMax, asked_of(keys, 13));
}

TEST_F(SwxPipelineTest, sends_to_the_port_that_is_the_value_and_drops_others) {
  const auto keys = compact::random_keys(step_count(10'000), 14);
  const compact::ParrotBuilder table =
      table_of({.value_bits = 8, .keeps_keys = true, .model = kSixKeys}, keys);
  constexpr uint32_t kPorts = 100;
  SwxPipeline pipeline = pipeline_of(table, kStashReadsMax, Answer::kPort, kPorts);
  const auto asked = asked_of(keys, 15);
  const auto answers = answers_of(table, asked);
  send_all(pipeline, asked, [&](size_t i, const SwxPipeline::Sent& sent) {
    const bool leaves = answers[i] && *answers[i] < kPorts;
    ASSERT_EQ(sent.port, leaves ? *answers[i] : kPortNone) << asked[i];
    ASSERT_EQ(sent.source, 0U);
  });
}

}  // namespace
}  // namespace roost::targets
