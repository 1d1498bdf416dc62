// libFuzzer target: any bytes as a frame, through parse and every rewrite. The first two bytes
// choose how.
#include <cstddef>
#include <cstdint>

#include "tests/net/frame_check.h"
#include "tests/net/translation_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const roost::net::FrameChoices choices = {.cut_bytes = data[0],
                                            .vlan_count = static_cast<uint8_t>(data[1] >> 1),
                                            .rewrites_source = (data[1] & 1) != 0};
  roost::net::check_frame({data + 2, size - 2}, choices);
  roost::net::check_translation({data + 2, size - 2}, choices.cut_bytes, choices.rewrites_source);
  return 0;
}
