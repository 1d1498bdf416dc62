// A table of the paper's format, to be looked up by the simulated accelerator: eight signatures
// with pointers a line, keys and values beside; two buckets a key (cuckoo), or one (the
// single-function table of its figure 4). docs/decisions/0053 has the bytes.
//
// It is built once; the program of a writer that moves keys while they are looked up works on the
// simulated bytes. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "roost/base/result.h"
#include "sim/table_format.h"

namespace roost::sim {

class PaperTable {
 public:
  struct Config {
    TableFormat format = TableFormat::kPaperCuckoo;
    uint64_t buckets = 2;  // a power of two
    uint64_t entries = 0;  // how many it has room for beside the buckets
    unsigned key_bytes = 16;
    uint64_t seed = 0;
  };
  // Errors: a configuration that no image can have.
  [[nodiscard]] static Result<PaperTable> create(const Config& config);

  // Adds a key that is not there, with a value of at most 62 bits. False if there is no room: of a
  // cuckoo table, none that 1,024 buckets' entries lead to.
  [[nodiscard]] bool insert(std::span<const std::byte> key, uint64_t value);

  [[nodiscard]] uint64_t size() const { return size_; }
  [[nodiscard]] std::span<const std::byte> image() const { return image_; }
  [[nodiscard]] const TableMetadata& metadata() const { return metadata_; }

 private:
  PaperTable(const Config& config, std::vector<std::byte> image, const TableMetadata& metadata);

  [[nodiscard]] uint64_t slot_word(uint64_t bucket, unsigned slot) const;
  void set_slot(uint64_t bucket, unsigned slot, uint64_t word);
  [[nodiscard]] std::optional<unsigned> free_slot(uint64_t bucket) const;
  // Of a bucket that has one.
  [[nodiscard]] unsigned slot_that_is_free(uint64_t bucket) const;
  [[nodiscard]] bool make_room(uint64_t first, uint64_t second);

  Config config_;
  std::vector<std::byte> image_;
  TableMetadata metadata_;  // with the addresses that it has in an image at 0
  uint64_t size_ = 0;
};

}  // namespace roost::sim
