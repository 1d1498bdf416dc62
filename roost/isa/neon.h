// The NEON kernel: a bucket's eight tags or eight timers are one 128-bit register, as in SSE4.2
// (CPP-16). Every 64-bit Arm processor has it, so nothing asks for it.
#pragma once

#if defined(__aarch64__)

#include <arm_neon.h>

#include "roost/isa/kernel.h"
#include "roost/isa/scalar.h"

namespace roost {

struct NeonKernel {
  static constexpr Isa kIsa = Isa::kNeon;

  static uint8_t match_tags(const uint16_t* eight, uint16_t value) {
    return one_bit_a_lane(equal_lanes(eight, value));
  }

  static uint8_t match_live(const uint16_t* eight, uint16_t value) {
    return one_bit_a_lane(live_lanes(eight, value));
  }

  static uint8_t match_live_tags(const uint16_t* tags, uint16_t tag, const uint16_t* timers,
                                 uint16_t now) {
    return one_bit_a_lane(vandq_u16(equal_lanes(tags, tag), live_lanes(timers, now)));
  }

  static uint8_t match_words(const uint64_t* words, uint64_t word) {
    const uint64x2_t wanted = vdupq_n_u64(word << 16);
    return static_cast<uint8_t>(two_words(words, wanted) | two_words(words + 2, wanted) << 2 |
                                two_words(words + 4, wanted) << 4 |
                                two_words(words + 6, wanted) << 6);
  }

  static uint32_t nonzero_bytes(const uint8_t* bytes) {
    return nonzero_of_eight(bytes) | nonzero_of_eight(bytes + 8) << 8 |
           nonzero_of_eight(bytes + 16) << 16 | nonzero_of_eight(bytes + 24) << 24;
  }

  template <size_t kBytes>
  static bool equal_keys(const void* a, const void* b) {
    static_assert(kBytes % 8 == 0, "padded keys are whole 64-bit words");
    const auto* left = static_cast<const unsigned char*>(a);
    const auto* right = static_cast<const unsigned char*>(b);
    uint8x16_t difference = vdupq_n_u8(0);
    size_t offset = 0;
    for (; offset + 16 <= kBytes; offset += 16) {
      difference =
          vorrq_u8(difference, veorq_u8(vld1q_u8(left + offset), vld1q_u8(right + offset)));
    }
    if (offset < kBytes) {
      const uint8x8_t last = veor_u8(vld1_u8(left + offset), vld1_u8(right + offset));
      difference = vorrq_u8(difference, vcombine_u8(last, vdup_n_u8(0)));
    }
    return vmaxvq_u32(vreinterpretq_u32_u8(difference)) == 0;
  }

  template <unsigned kCount, size_t kBytes>
  static unsigned match_keys(const void* keys, size_t key_bytes, const void* key) {
    if constexpr (kBytes == 8) {
      return ScalarKernel::match_keys<kCount, kBytes>(keys, key_bytes, key);
    } else {
      static_assert(kBytes == 16, "one register");
      const uint8x16_t wanted = vld1q_u8(static_cast<const unsigned char*>(key));
      // Four bits a byte, as a narrowing shift gives them; the key's first ones count.
      const uint64_t places = ~uint64_t{0} >> (4 * (kBytes - key_bytes));
      unsigned mask = 0;
      for (unsigned i = 0; i < kCount; ++i) {
        const uint8x16_t found = vld1q_u8(static_cast<const unsigned char*>(keys) + i * key_bytes);
        const uint16x8_t equal = vreinterpretq_u16_u8(vceqq_u8(found, wanted));
        const uint64_t nibbles = vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(equal, 4)), 0);
        mask |= static_cast<unsigned>((~nibbles & places) == 0) << i;
      }
      return mask;
    }
  }

 private:
  // Bits 0 and 1 are set where two words, shifted left by 16, are `wanted`.
  static unsigned two_words(const uint64_t* words, uint64x2_t wanted) {
    const uint64x2_t equal = vceqq_u64(vshlq_n_u64(vld1q_u64(words), 16), wanted);
    return static_cast<unsigned>(vgetq_lane_u64(equal, 0) & 1) |
           static_cast<unsigned>(vgetq_lane_u64(equal, 1) & 2);
  }
  // Lanes of all ones where match_tags, or match_live, has a bit.
  static uint16x8_t equal_lanes(const uint16_t* eight, uint16_t value) {
    return vceqq_u16(vld1q_u16(eight), vdupq_n_u16(value));
  }
  static uint16x8_t live_lanes(const uint16_t* eight, uint16_t value) {
    const uint16x8_t ahead = vsubq_u16(vld1q_u16(eight), vdupq_n_u16(value));
    return vcltq_u16(ahead, vdupq_n_u16(kLiveTicks));
  }
  static uint32_t nonzero_of_eight(const uint8_t* bytes) {
    static constexpr uint8_t kPlaces[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x8_t values = vld1_u8(bytes);
    return vaddv_u8(vand_u8(vtst_u8(values, values), vld1_u8(kPlaces)));
  }
  // Eight 16-bit lanes of all ones or all zeroes to eight bits: each lane keeps the bit of its own
  // place, and the sum over the lanes is the mask. Example: lanes 0 and 2 set give 1 + 4 = 0b101.
  static uint8_t one_bit_a_lane(uint16x8_t lanes) {
    static constexpr uint16_t kPlaces[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    return static_cast<uint8_t>(vaddvq_u16(vandq_u16(lanes, vld1q_u16(kPlaces))));
  }
};

static_assert(Kernel<NeonKernel>);

}  // namespace roost

#endif
