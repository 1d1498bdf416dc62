// Asks the lookup of the XDP program in the kernel, for tests.
#pragma once

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "roost/compact/line_map_builder_impl.h"
#include "targets/xdp/kernel_calls.h"
#include "targets/xdp/xdp_line_map.h"
#include "tests/compact/key_sets.h"

namespace roost::xdp {

using Map = compact::LineMapBuilder<uint64_t>;

inline std::vector<Map::Entry> map_entries(const std::vector<uint64_t>& keys, uint32_t bits = 16) {
  std::vector<Map::Entry> entries;
  for (const uint64_t key : keys) entries.push_back({key, compact::value_of(key, bits)});
  return entries;
}
inline Map map_of(compact::LineMapConfig config, const std::vector<uint64_t>& keys) {
  if (!config.hash_seed) config.hash_seed = 1;
  auto map = Map::build(config, map_entries(keys, config.value_bits));
  EXPECT_TRUE(map) << map.error().message;
  return std::move(map).value();
}

// Why there is nothing to test; nothing: the kernel takes programs.
inline std::optional<std::string> why_not_tested() {
  static const auto reason = [] {
    const auto loaded = XdpLineMap::load(map_of({}, {1}).image(), {});
    return loaded ? std::optional<std::string>() : std::optional(loaded.error().message);
  }();
  return reason;
}
// Of what needs a kernel that takes programs.
class KernelTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto reason = why_not_tested()) GTEST_SKIP() << "NOT TESTED: " << *reason;
  }
};

// Asks for one run of a program on a frame, if any; libbpf's LIBBPF_OPTS is not C++.
inline bpf_test_run_opts test_run_options(std::span<const uint8_t> frame = {}) {
  bpf_test_run_opts options = {};
  options.sz = sizeof options;
  options.data_in = frame.data();
  options.data_size_in = static_cast<uint32_t>(frame.size());
  return options;
}

enum class Found : uint32_t { kFound, kCertainlyNot, kChanging };
struct KernelAnswer {
  uint32_t value;
  Found found;
};

// The lookup of `settings` over an array of lines. ROOST_ANSWERS_OBJECT: tests/xdp/answers.bpf.c.
class KernelAnswers {
 public:
  KernelAnswers(const XdpSettings& settings, int lines, size_t capacity)
      : object_(bpf_object__open_file(ROOST_ANSWERS_OBJECT, nullptr)) {
    const auto count = static_cast<uint32_t>(capacity);
    bpf_map__set_max_entries(map_named(object_, "keys"), count);
    bpf_map__set_max_entries(map_named(object_, "answers"), count);
    bpf_map__set_initial_value(map_named(object_, kSettingsName), &settings, sizeof settings);
    EXPECT_EQ(bpf_map__reuse_fd(map_named(object_, kLinesName), lines), 0);
    EXPECT_EQ(bpf_object__load(object_.get()), 0);
    keys_.emplace(mapped("keys", capacity));
    answers_.emplace(mapped("answers", capacity));
  }

  [[nodiscard]] std::span<uint64_t> keys() { return words(*keys_); }
  // Of the first keys; they stand in answers() then.
  void ask(size_t count) {
    auto asked = static_cast<uint32_t>(count);
    bpf_test_run_opts options = test_run_options();
    options.ctx_in = &asked;
    options.ctx_size_in = sizeof asked;
    const int error = bpf_prog_test_run_opts(program("answer_all"), &options);
    ASSERT_EQ(error, 0);
    ASSERT_EQ(options.retval, asked);
  }
  [[nodiscard]] KernelAnswer answer(size_t index) {
    const uint64_t word = words(*answers_)[index];
    return {static_cast<uint32_t>(word), Found{static_cast<uint32_t>(word >> 32)}};
  }
  [[nodiscard]] int program(const char* name) const {
    return bpf_program__fd(bpf_object__find_program_by_name(object_.get(), name));
  }

 private:
  [[nodiscard]] MappedArray mapped(const char* name, size_t capacity) const {
    return MappedArray::map(bpf_map__fd(map_named(object_, name)), capacity * sizeof(uint64_t),
                            true)
        .value();
  }
  static std::span<uint64_t> words(const MappedArray& array) {
    return {reinterpret_cast<uint64_t*>(array.bytes().data()),
            array.bytes().size() / sizeof(uint64_t)};
  }

  Object object_;
  std::optional<MappedArray> keys_;
  std::optional<MappedArray> answers_;
};

// Whether the kernel says of each key what the C++ reader says.
inline void expect_the_reader_s_answers(KernelAnswers& kernel,
                                        const compact::LineMapReader<uint64_t>& reader,
                                        std::span<const uint64_t> asked) {
  std::ranges::copy(asked, kernel.keys().begin());
  kernel.ask(asked.size());
  std::vector<uint32_t> values(asked.size());
  std::vector<uint64_t> words(hit_word_count(asked.size()));
  const HitWords maybe{words};
  reader.lookup_unverified(asked, values, maybe);
  for (size_t i = 0; i < asked.size(); ++i) {
    const KernelAnswer answer = kernel.answer(i);
    ASSERT_EQ(answer.found, maybe.test(i) ? Found::kFound : Found::kCertainlyNot) << asked[i];
    if (maybe.test(i)) {
      ASSERT_EQ(answer.value, values[i]) << asked[i];
    }
  }
}

}  // namespace roost::xdp
