// The P4 text: read by a grammar, run, and compared with the C++ reader.
#include "targets/switch/p4_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/base/step_count.h"
#include "tests/targets/p4_machine.h"
#include "tests/targets/switch_sets.h"

namespace roost::targets {
namespace {

struct Texts {
  std::string program;
  std::string commands;
};

Texts texts_of(const compact::ParrotBuilder& table, uint32_t stash_reads, Answer answer,
               uint32_t port_count = 16) {
  const SwitchTable contents = SwitchTable::of_image(table.image(), stash_reads).value();
  const SwitchProgram program = SwitchProgram::for_table(contents, answer, port_count).value();
  return {p4_text(program, contents), p4_commands(program, contents)};
}

void expect_reader_s_answers(const compact::ParrotBuilder& table, uint32_t stash_reads,
                             const std::vector<uint64_t>& asked) {
  const Texts texts = texts_of(table, stash_reads, Answer::kSource);
  P4Machine machine(texts.program, texts.commands);
  ASSERT_EQ(machine.fault(), "");
  const auto answers = answers_of(table, asked);
  for (size_t i = 0; i < asked.size(); ++i) {
    const P4Machine::Sent sent = machine.run(asked[i]);
    ASSERT_EQ(sent.port, answers[i] ? 0U : 1U) << asked[i];
    ASSERT_EQ(sent.source, answers[i].value_or(0)) << asked[i];
  }
  ASSERT_EQ(machine.fault(), "");
}

TEST(P4Text, answers_as_the_reader) {
  const auto keys = compact::random_keys(step_count(1'500), 1);
  const auto asked = asked_of(keys, 2);
  using Config = compact::ParrotBuilder::Config;
  for (const Config& config :
       {Config{.has_steps = true}, Config{.model = kFourKeys}, Config{.model = kSixKeys},
        Config{.value_bits = 32, .model = kSixKeys}, Config{.value_bits = 5, .model = kSixKeys},
        Config{.keeps_keys = true, .model = kSixKeys}}) {
    const compact::ParrotBuilder table = table_of(config, keys);
    for (uint32_t stash_reads = 0; stash_reads <= kStashReadsMax; ++stash_reads)
      expect_reader_s_answers(table, stash_reads, asked);
  }
}

// Seeds are added to the low 32 bits, and carry no further.
TEST(P4Text, answers_as_the_reader_where_low_halves_wrap) {
  const auto keys = compact::dense_keys(2'000, 0x0200'ffff'fc00);
  expect_reader_s_answers(table_of({.model = kSixKeys}, keys), kStashReadsMax, asked_of(keys, 4));
}

TEST(P4Text, sends_to_the_port_that_is_the_value) {
  const auto keys = compact::random_keys(step_count(2'000), 3);
  const compact::ParrotBuilder table = table_of({.value_bits = 8, .model = kFourKeys}, keys);
  for (const uint32_t port_count : {1U, 100U, kPortCountMax}) {
    const Texts texts = texts_of(table, 1, Answer::kPort, port_count);
    P4Machine machine(texts.program, texts.commands);
    ASSERT_EQ(machine.fault(), "");
    for (const uint64_t key : keys) {
      const uint64_t value = compact::value_of(key, 8);
      const auto port = machine.run(key).port;
      ASSERT_EQ(port, value < port_count ? std::optional(value) : std::nullopt) << key;
    }
  }
}

TEST(P4Text, says_that_it_is_not_tested) {
  const Texts texts = texts_of(table_of({}, {1, 2, 3}), 2, Answer::kPort);
  EXPECT_NE(texts.program.find("NOT TESTED"), std::string::npos);
}

// What the grammar takes is no more than P4 takes.
TEST(P4Machine, finds_what_is_wrong) {
  const Texts texts = texts_of(table_of({}, {1, 2, 3}), 2, Answer::kPort);
  const auto fault = [&](const std::string& from, const std::string& to) {
    Texts changed = texts;
    const size_t at = changed.program.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    changed.program.replace(at, from.size(), to);
    return P4Machine(changed.program, changed.commands).fault();
  };
  EXPECT_EQ(P4Machine(texts.program, texts.commands).fault(), "");
  EXPECT_NE(fault("(bit<32>) meta.crc);", "meta.crc);").find("operands of 32 and 8"),
            std::string::npos);
  EXPECT_NE(fault("meta.found = 8w0x0;", "meta.found = 8w0x100;").find("does not fit"),
            std::string::npos);
  EXPECT_NE(fault("meta.found = 8w0x0;", "meta.found = 0;").find("8 and 0 bits"),
            std::string::npos);
  EXPECT_NE(fault("overflow.apply();", "other.apply();").find("no table other"), std::string::npos);
  EXPECT_NE(fault("crc8.read", "crc9.read").find("no register"), std::string::npos);
  EXPECT_NE(fault("meta.found = 8w0x0;", "meta.found = 8w0x0").find("missing"), std::string::npos);
  EXPECT_NE(fault(">> 40;", ">> 48w40;").find("shift"), std::string::npos);
  EXPECT_NE(P4Machine(texts.program, "register_write Ingress.seeds 0 256\n").fault(), "");
  EXPECT_NE(P4Machine(texts.program, "table_add Ingress.ranges set_bucket 0x3/47 => 0\n").fault(),
            "");
}

}  // namespace
}  // namespace roost::targets
