// Every kernel this processor can run, against the scalar one.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <random>
#include <span>
#include <string>
#include <utility>

#include "roost/isa/crc32c.h"
#include "roost/isa/dispatch.h"

namespace roost {
namespace {

struct alignas(16) Eight {
  std::array<uint16_t, 8> values;
};

// A batch whose work is to say which kernel it got and what that kernel answers.
struct Outputs {
  Isa isa;
  uint8_t tags;
  uint8_t live;
  uint8_t live_tags;
  std::array<bool, kPaddedKeyBytes.size()> equal;
  friend bool operator==(const Outputs&, const Outputs&) = default;
};
struct Inputs {
  static constexpr bool kGainsFromAvx2 = true;
  const Eight* eight;
  uint16_t value;
  const Eight* timers;
  uint16_t now;
  const unsigned char* left;
  const unsigned char* right;

  template <Kernel K>
  Outputs run() {
    return {K::kIsa, K::match_tags(eight->values.data(), value),
            K::match_live(eight->values.data(), value),
            K::match_live_tags(eight->values.data(), value, timers->values.data(), now),
            equal_keys<K>(std::make_index_sequence<kPaddedKeyBytes.size()>())};
  }
  template <Kernel K, size_t... kIndex>
  std::array<bool, kPaddedKeyBytes.size()> equal_keys(std::index_sequence<kIndex...> /*classes*/) {
    return {K::template equal_keys<kPaddedKeyBytes[kIndex]>(left, right)...};
  }
};

// Compares keys of every class that end at two addresses.
struct KeysThatEndAt {
  static constexpr bool kGainsFromAvx2 = true;
  const unsigned char* left;
  const unsigned char* right;

  template <Kernel K>
  bool run() {
    return all_equal<K>(std::make_index_sequence<kPaddedKeyBytes.size()>());
  }
  template <Kernel K, size_t... kIndex>
  bool all_equal(std::index_sequence<kIndex...> /*classes*/) {
    return (K::template equal_keys<kPaddedKeyBytes[kIndex]>(left - kPaddedKeyBytes[kIndex],
                                                            right - kPaddedKeyBytes[kIndex]) &&
            ...);
  }
};

// Zeroed memory, and behind its end a page that ends the program when it is read.
class LastBytes {
 public:
  LastBytes()
      : page_bytes_(static_cast<size_t>(sysconf(_SC_PAGESIZE))),
        start_(static_cast<unsigned char*>(
            mmap(nullptr, 2 * page_bytes_, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    EXPECT_EQ(mprotect(start_ + page_bytes_, page_bytes_, PROT_NONE), 0);
  }
  ~LastBytes() { munmap(start_, 2 * page_bytes_); }
  LastBytes(const LastBytes&) = delete;
  LastBytes& operator=(const LastBytes&) = delete;
  [[nodiscard]] const unsigned char* end() const { return start_ + page_bytes_; }

 private:
  size_t page_bytes_;
  unsigned char* start_;
};

// Which of some keys, side by side, are a key: of 4 to 16 bytes.
struct MatchKeys {
  const unsigned char* keys;
  size_t key_bytes;
  const unsigned char* key;

  template <Kernel K>
  std::array<unsigned, 2> run() {
    if (key_bytes <= 8)
      return {K::template match_keys<2, 8>(keys, key_bytes, key),
              K::template match_keys<3, 8>(keys, key_bytes, key)};
    return {K::template match_keys<2, 16>(keys, key_bytes, key),
            K::template match_keys<3, 16>(keys, key_bytes, key)};
  }
};

class KernelTest : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!isa_is_supported(GetParam())) {
      std::printf("NOT TESTED: the %s kernel, which this processor lacks\n",
                  std::string(isa_name(GetParam())).c_str());
      GTEST_SKIP();
    }
  }
  void expect_as_scalar(const Inputs& inputs) {
    Outputs expected = dispatch(Isa::kScalar, Inputs(inputs));
    ASSERT_EQ(expected.isa, Isa::kScalar);
    expected.isa = GetParam();
    ASSERT_EQ(dispatch(GetParam(), Inputs(inputs)), expected)
        << "the kernel asked for must run and agree";
  }
};

TEST_P(KernelTest, matches_tags_and_timers_as_the_scalar_kernel_does) {
  std::mt19937_64 random(1);
  const std::array<unsigned char, kPaddedKeyBytes.back()> key{};
  const auto eight_near = [&random](uint16_t value) {
    Eight eight;
    for (uint16_t& other : eight.values) {
      // Equal values, the edges of liveness and anything at all.
      static constexpr std::array<uint16_t, 8> kOffsets = {0,    1,    1022,   1023,
                                                           1024, 1025, 64'512, 65'535};
      const uint64_t choice = random();
      other = choice % 3 == 0
                  ? static_cast<uint16_t>(random())
                  : static_cast<uint16_t>(value + kOffsets[(choice >> 8) % kOffsets.size()]);
    }
    return eight;
  };
  for (unsigned round = 0; round < 200'000; ++round) {
    const auto value = static_cast<uint16_t>(random());
    const auto now = static_cast<uint16_t>(random());
    const Eight eight = eight_near(value);
    const Eight timers = eight_near(now);
    expect_as_scalar({&eight, value, &timers, now, key.data(), key.data()});
  }
}

// A batch whose work is to say which words are one but for their upper 16 bits.
struct MatchWords {
  static constexpr bool kGainsFromAvx2 = true;
  const uint64_t* words;
  uint64_t wanted;
  template <Kernel K>
  uint8_t run() {
    return K::match_words(words, wanted);
  }
};

TEST_P(KernelTest, finds_words_whatever_their_upper_16_bits) {
  std::mt19937_64 random(5);
  for (unsigned round = 0; round < 100'000; ++round) {
    const uint64_t wanted = random() >> 16;
    alignas(64) std::array<uint64_t, 8> words{};
    unsigned expected = 0;
    for (unsigned place = 0; place < words.size(); ++place) {
      const uint64_t choice = random();
      // The word, one that differs in one bit, nothing, or anything.
      const uint64_t lower = choice % 4 == 0   ? wanted
                             : choice % 4 == 1 ? wanted ^ uint64_t { 1 } << (choice >> 8) % 48
                             : choice % 4 == 2 ? 0
                                               : random() >> 16;
      words[place] = lower | random() << 48;
      expected |= static_cast<unsigned>(lower == wanted) << place;
    }
    ASSERT_EQ(dispatch(GetParam(), MatchWords{words.data(), wanted}), expected)
        << "round " << round;
  }
}

// A batch whose work is to say which bytes are not zero.
struct NonzeroBytes {
  static constexpr bool kGainsFromAvx2 = true;
  const uint8_t* bytes;
  template <Kernel K>
  uint32_t run() {
    return K::nonzero_bytes(bytes);
  }
};

TEST_P(KernelTest, tells_which_of_32_bytes_are_not_zero) {
  std::mt19937_64 random(3);
  for (unsigned round = 0; round < 100'000; ++round) {
    alignas(32) std::array<uint8_t, 32> bytes{};
    uint32_t expected = 0;
    for (unsigned place = 0; place < bytes.size(); ++place) {
      const uint64_t choice = random();
      // Nothing, one bit, or anything.
      if (choice % 3 == 1) bytes[place] = static_cast<uint8_t>(1U << (choice >> 8) % 8);
      if (choice % 3 == 2) bytes[place] = static_cast<uint8_t>(choice >> 8);
      if (bytes[place] != 0) expected |= uint32_t{1} << place;
    }
    ASSERT_EQ(dispatch(GetParam(), NonzeroBytes{bytes.data()}), expected) << "round " << round;
  }
}

TEST_P(KernelTest, tells_every_single_bit_of_a_key_of_every_class_at_any_alignment) {
  constexpr size_t kBytes = kPaddedKeyBytes.back();
  const Eight eight{};
  alignas(16) std::array<unsigned char, kBytes + 24> left{};  // both keys up to 15 bytes into it
  for (unsigned alignment = 0; alignment < 16; ++alignment) {
    for (unsigned bit = 0; bit < (kBytes + 8) * 8; ++bit) {
      alignas(16) std::array<unsigned char, kBytes + 24> right{};
      unsigned char* key = right.data() + 15 - alignment;
      std::copy_n(left.data() + alignment, kBytes + 8, key);
      key[bit / 8] ^= static_cast<unsigned char>(1U << (bit % 8));
      const Inputs inputs{&eight, 0, &eight, 0, left.data() + alignment, key};
      expect_as_scalar(inputs);
      const Outputs outputs = dispatch(GetParam(), Inputs(inputs));
      for (size_t index = 0; index < kPaddedKeyBytes.size(); ++index) {
        ASSERT_EQ(outputs.equal[index], bit >= kPaddedKeyBytes[index] * 8)
            << "a key of " << kPaddedKeyBytes[index] << " bytes ends there; bit " << bit;
      }
    }
    left[alignment] = 0xA5;
  }
}

TEST_P(KernelTest, tells_every_single_bit_of_keys_side_by_side_and_none_beside_them) {
  std::mt19937_64 random(3);
  for (size_t key_bytes = 4; key_bytes <= 16; ++key_bytes) {
    std::array<unsigned char, 3 * 16 + 16> keys{};
    std::array<unsigned char, 16 + 16> key{};
    const size_t alignment = key_bytes % 5;
    const std::span<unsigned char> wanted(key.data() + alignment, 16);
    for (unsigned char& byte : key) byte = static_cast<unsigned char>(random());
    for (unsigned equal = 0; equal < 8; ++equal) {
      for (unsigned bit = 0; bit < key_bytes * 8; ++bit) {
        // What lies beside the keys is anything; those that differ do so in one bit.
        for (unsigned char& byte : keys) byte = static_cast<unsigned char>(random());
        for (unsigned i = 0; i < 3; ++i) {
          unsigned char* at = keys.data() + i * key_bytes;
          std::copy_n(wanted.data(), key_bytes, at);
          if (((equal >> i) & 1) == 0)
            at[bit / 8] = static_cast<unsigned char>(at[bit / 8] ^ (1U << (bit % 8)));
        }
        const std::array<unsigned, 2> answers =
            dispatch(GetParam(), MatchKeys{keys.data(), key_bytes, wanted.data()});
        ASSERT_EQ(answers[0], equal & 3) << key_bytes << " bytes, bit " << bit;
        ASSERT_EQ(answers[1], equal) << key_bytes << " bytes, bit " << bit;
      }
    }
  }
}

TEST_P(KernelTest, reads_no_byte_beyond_a_key) {
  const LastBytes left;
  const LastBytes right;
  EXPECT_TRUE(dispatch(GetParam(), KeysThatEndAt{left.end(), right.end()}));
}

INSTANTIATE_TEST_SUITE_P(EveryKernel, KernelTest,
                         testing::ValuesIn(isas_built().begin(), isas_built().end()),
                         [](const auto& tested) {
                           std::string name(isa_name(tested.param));
                           std::erase(name, '.');
                           return name;
                         });

TEST(Isa, the_best_kernel_is_supported_and_scalar_always_is) {
  EXPECT_TRUE(isa_is_supported(isa_best()));
  EXPECT_TRUE(isa_is_supported(Isa::kScalar));
#if defined(__x86_64__)
  EXPECT_TRUE(isa_is_supported(Isa::kSse42)) << "every processor the build is for has it";
  EXPECT_EQ(isa_best(), isa_is_supported(Isa::kAvx2) ? Isa::kAvx2 : Isa::kSse42);
#elif defined(__aarch64__)
  EXPECT_EQ(isa_best(), Isa::kNeon) << "every processor the build is for has it";
#endif
}

TEST(Crc32c, gives_the_check_value_and_the_instruction_agrees_with_the_table) {
  // The CRC of 32 zero bytes, RFC 3720 B.4: 0x8A9136AA with the usual inversions.
  uint32_t crc = 0xFFFFFFFF;
  for (int word = 0; word < 4; ++word) crc = crc32c_scalar(crc, 0);
  EXPECT_EQ(~crc, 0x8A9136AAU);
  std::mt19937_64 random(2);
  for (int round = 0; round < 10'000; ++round) {
    const auto seed = static_cast<uint32_t>(random());
    const uint64_t word = random();
    ASSERT_EQ(crc32c(seed, word), crc32c_scalar(seed, word));
  }
}

}  // namespace
}  // namespace roost
