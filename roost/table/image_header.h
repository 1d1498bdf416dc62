// What stands first in a table's memory: what the table is, and what its writer keeps of it.
//
//   byte 0          128                       4096
//        +----------+-------------------------+----------------------
//        | identity | TableState              | the layout's image ...
//        +----------+-------------------------+----------------------
//          never       the writer's; lookups     image_bytes() in all
//          changed     do not read it
//
// Nothing in the image is a pointer, so it may lie anywhere. What finds a table in memory
// (FlowTable::adopt) compares the identity with what it is itself, name by name and number by
// number, and refuses the rest with a sentence. A change of anything that lies in an image is a new
// kVersion.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "roost/table/layout.h"
#include "roost/table/table_state.h"

namespace roost {

// What a table's image is: equal in all that read it.
struct ImageIdentity {
  static constexpr std::array<char, 8> kMagic = {'R', 'o', 'o', 's', 't', 'T', 'b', 'l'};
  static constexpr uint32_t kVersion = 1;

  std::array<char, 8> magic = kMagic;
  uint32_t version = kVersion;
  uint32_t header_bytes = 0;
  std::array<char, 56> kind{};  // layout, probing and hash by name, with zeroes behind
  uint32_t slots = 0;           // slots of a bucket
  uint32_t key_bits = 0;        // bits that tell keys apart
  uint32_t value_bytes = 0;
  uint32_t expires = 0;  // 1: entries have timers
  uint64_t hash_seed = 0;
  uint64_t entries_max = 0;
  BucketCounts buckets{};
  uint64_t image_bytes = 0;  // all of it, the header included

  friend bool operator==(const ImageIdentity&, const ImageIdentity&) = default;
};

// As long as a page, so that lines keep their place in pages: with lines 576 bytes behind a page's
// start, hits of a table of 512K slots took 6 % longer.
struct alignas(64) ImageHeader {
  static constexpr size_t kBytes = 4096;

  ImageIdentity identity;
  TableState state;
  std::array<std::byte, kBytes - sizeof(ImageIdentity) - sizeof(TableState)> unused{};
};

static_assert(sizeof(ImageIdentity) == 128 && offsetof(ImageHeader, state) == 128,
              "lookups' lines and the writer's are apart");
static_assert(sizeof(ImageHeader) == ImageHeader::kBytes, "bucket lines stand behind it");
static_assert(std::is_trivially_copyable_v<ImageHeader>);
static_assert(sizeof(TableState) == 512, "another state is another kVersion");

}  // namespace roost
