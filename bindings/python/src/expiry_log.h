// The expired entries, in the order of the eviction callback's calls.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace roost::python {

struct ExpiryLog {
  size_t key_bytes;
  size_t value_bytes;
  std::vector<std::byte> keys;
  std::vector<std::byte> values;
  size_t lost = 0;  // entries that found no memory

  // What roost_config::on_expiry calls; `log` is an ExpiryLog.
  static void add(void* log, const void* key, const void* value) noexcept {
    static_cast<ExpiryLog*>(log)->add(static_cast<const std::byte*>(key),
                                      static_cast<const std::byte*>(value));
  }

 private:
  void add(const std::byte* key, const std::byte* value) noexcept try {
    // Both have room before either grows, so that they stay of one length.
    make_room(keys, key_bytes);
    make_room(values, value_bytes);
    keys.insert(keys.end(), key, key + key_bytes);
    values.insert(values.end(), value, value + value_bytes);
  } catch (const std::bad_alloc&) {
    ++lost;
  }

  static void make_room(std::vector<std::byte>& rows, size_t row_bytes) {
    if (rows.capacity() - rows.size() < row_bytes) rows.reserve(2 * rows.size() + 64 * row_bytes);
  }
};

}  // namespace roost::python
