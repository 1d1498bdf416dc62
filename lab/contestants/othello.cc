#include "lab/contestants/othello.h"

#include "roost/traffic/draw.h"

namespace roost::lab {

std::vector<OthelloCells::Leaf> OthelloCells::peel(std::span<const uint64_t> hashes) const {
  std::vector<uint32_t> degrees(cell_count());
  std::vector<uint32_t> edges(cell_count());  // those of a cell, by exclusive or
  for (uint32_t key = 0; key < hashes.size(); ++key) {
    const Places places = places_of(hashes[key]);
    for (const uint64_t cell : {places.left, places.right}) {
      ++degrees[cell];
      edges[cell] ^= key;
    }
  }
  std::vector<Leaf> leaves;
  leaves.reserve(hashes.size());
  for (uint64_t first = 0; first < cell_count(); ++first) {
    for (uint64_t cell = first; degrees[cell] == 1;) {
      const uint32_t key = edges[cell];
      const Places places = places_of(hashes[key]);
      const uint64_t other = cell == places.left ? places.right : places.left;
      leaves.push_back({key, static_cast<uint32_t>(cell)});
      degrees[cell] = 0;
      --degrees[other];
      edges[other] ^= key;
      cell = other;
    }
  }
  return leaves;
}

Result<OthelloCells> OthelloCells::build(std::span<const uint64_t> hashes,
                                         std::span<const uint32_t> values, unsigned cell_bits,
                                         PageKind pages) {
  OthelloCells cells(hashes.size(), cell_bits);
  if (cells.cell_count() >= UINT32_MAX) return Error{"an Othello here has fewer than 2^32 cells"};
  auto memory = Arena::map(bytes_of(cells.cell_count(), cell_bits), {.pages = pages});
  if (!memory) return memory.error();
  cells.cells_ = std::make_shared<Arena>(std::move(memory).value());
  std::vector<Leaf> leaves;
  for (int tried = 0; tried < kSeedsMax; ++tried) {
    cells.seed_ = mix(static_cast<uint64_t>(tried) + 1);
    cells.cycles_met_ = tried;
    leaves = cells.peel(hashes);
    if (leaves.size() == hashes.size()) break;
  }
  if (leaves.size() != hashes.size()) return Error{"no hash leaves the keys without a cycle"};
  for (size_t i = leaves.size(); i-- > 0;) {
    const Places places = cells.places_of(hashes[leaves[i].key]);
    const uint64_t other = leaves[i].cell == places.left ? places.right : places.left;
    compact::store_bits(cells.cells_->data(), leaves[i].cell * uint64_t{cell_bits}, cell_bits,
                        values[leaves[i].key] ^ cells.cell(other));
  }
  return cells;
}

}  // namespace roost::lab
