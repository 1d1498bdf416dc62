// Changes of a TCP header: see tcp_edit.h.
#include "roost/net/tcp_edit.h"

#include <algorithm>

namespace roost::net {

// The checksum is of words, so whole words count as changed.
void TcpEdit::set(size_t at, std::span<const uint8_t> bytes) {
  constexpr size_t kBytesMax = 40;  // all options
  ROOST_DEBUG_ASSERT(at + bytes.size() <= header_.size() && bytes.size() <= kBytesMax);
  const size_t first = at & ~size_t{1};
  const size_t end = (at + bytes.size() + 1) & ~size_t{1};
  std::array<uint8_t, kBytesMax + 2> before;
  std::ranges::copy(header_.subspan(first, end - first), before.begin());
  std::ranges::copy(bytes, header_.begin() + static_cast<ptrdiff_t>(at));
  for (size_t word = first; word < end; word += 2) {
    change_.change16(load_be16(&before[word - first]), load_be16(&header_[word]));
  }
}

void TcpEdit::remove_options(uint8_t kind) {
  static constexpr std::array<uint8_t, 40> kPadding = [] {
    std::array<uint8_t, 40> padding;
    padding.fill(tcp::kOptionPadding);
    return padding;
  }();
  for_each_option([&](uint8_t found, size_t at, size_t bytes) {
    if (found == kind) set(at - 2, std::span(kPadding).first(bytes + 2));
  });
}

}  // namespace roost::net
