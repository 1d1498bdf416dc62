// libFuzzer target: any bytes as a frame, through the translation and the making of ICMP errors.
// The first two bytes choose how; with the highest bit of the second, the frame is a right error
// with some bytes changed.
#include <cstddef>
#include <cstdint>

#include "tests/net/icmp_check.h"
#include "tests/net/translation_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const roost::net::IcmpChoices choices = {.cut_bytes = data[0],
                                           .rewrites_source = (data[1] & 1) != 0,
                                           .is_too_big = (data[1] & 2) != 0};
  std::vector<uint8_t> frame(data + 2, data + size);
  if ((data[1] & 0x80) != 0) {
    std::mt19937_64 random(data[1]);
    frame = roost::net::random_icmp_error(random);
    for (size_t at = 2; at + 1 < size; at += 2) frame[data[at] % frame.size()] ^= data[at + 1];
  }
  roost::net::check_icmp(frame, choices);
  roost::net::check_translation(frame, choices.cut_bytes, false);
  return 0;
}
