#include "sim/accelerator_array.h"

#include <algorithm>

namespace roost::sim {

namespace {

// Bytes of a command beside its key: table, result's address, and the key's or the hash.
constexpr uint32_t kCommandBytes = 24;

}  // namespace

AcceleratorArray::AcceleratorArray(MemorySystem& memory)
    : memory_(memory), waiting_(memory.parameters().tiles()) {
  for (Tile tile = 0; tile < memory.parameters().tiles(); ++tile)
    tiles_.push_back(std::make_unique<AcceleratorTile>(memory, *this, tile));
}

void AcceleratorArray::add_hash(Query& query) {
  const auto table = TableMetadata::of_line(memory_.bytes().read_line(line_of(query.table)));
  if (!table) return;
  KeyBytes key = query.key;
  std::fill(key.begin() + table->key_bytes, key.end(), std::byte{0});
  if (table->mask) table->mask->apply(key);
  const Hash64 hash = hash_of(*table, key);
  query.has_hash = true;
  query.hash = hash.bits;
  query.bucket_line = line_of(bucket_address(*table, places_of(*table, hash).primary));
}

void AcceleratorArray::send(const Query& query, Cycle leaves, EventTarget* core, uint32_t kind) {
  const bool by_bucket = memory_.parameters().dispatch == DispatchChoice::kBucket && query.has_hash;
  const Tile tile = by_bucket ? memory_.slice_of(query.bucket_line) : tile_of_table(query.table);
  const uint32_t token = queries_.put({query, core, kind, tile});
  memory_.events().at(leaves + memory_.parameters().distributor_send_cycles,
                      {this, kAtDistributor, 0, token});
}

void AcceleratorArray::handle(const Event& event) {
  const auto token = static_cast<uint32_t>(event.argument);
  const Tile tile = queries_[token].tile;
  if (waiting_[tile].empty() && !tiles_[tile]->accelerator().outputs().busy) {
    dispatch(token, memory_.now());
    return;
  }
  waiting_[tile].push_back(token);
  waiting_max_ = std::max(waiting_max_, waiting_[tile].size());
}

void AcceleratorArray::dispatch(uint32_t token, Cycle leaves) {
  const Sent& sent = queries_[token];
  const auto flits =
      static_cast<uint32_t>((kCommandBytes + sent.query.key_bytes + kLineBytes - 1) / kLineBytes);
  const Cycle arrives = memory_.mesh().send(leaves, sent.query.core, sent.tile, flits);
  memory_.events().at(arrives, {tiles_[sent.tile].get(), AcceleratorTile::kQuery, 0, token});
}

void AcceleratorArray::places_changed(Tile tile) {
  if (waiting_[tile].empty() || tiles_[tile]->accelerator().outputs().busy) return;
  const uint32_t token = waiting_[tile].front();
  waiting_[tile].pop_front();
  dispatch(token, memory_.now() + 1);
}

AcceleratorQuery AcceleratorArray::command(uint32_t token) {
  const Query& query = queries_[token].query;
  return {.token = token,
          .table = query.table,
          .key_address = query.key_address,
          .has_key = query.has_key,
          .has_hash = query.has_hash,
          .hash = query.hash,
          .key = query.key};
}

void AcceleratorArray::deliver(Tile tile, uint32_t token, uint64_t word, Cycle leaves) {
  const Sent sent = queries_.take(token);
  if (sent.query.is_blocking) {
    const Cycle arrives = memory_.mesh().send(leaves, tile, sent.query.core);
    memory_.events().at(arrives + memory_.parameters().distributor_result_cycles,
                        {sent.core, sent.kind, sent.query.waiter, word});
    return;
  }
  const uint32_t number = memory_.results().put({sent.query.result_address, word});
  const Tile home = memory_.slice_of(line_of(sent.query.result_address));
  memory_.events().at(memory_.send_near(leaves, tile, home),
                      {&memory_.home(home), HomeSlice::kWriteResult, 0, number});
}

std::string AcceleratorArray::state_in_words() const {
  std::string words;
  for (size_t tile = 0; tile < tiles_.size(); ++tile) {
    if (tiles_[tile]->accelerator().occupancy() == 0 && waiting_[tile].empty()) continue;
    words += "accelerator " + std::to_string(tile) + ": " +
             tiles_[tile]->accelerator().state_in_words() + "; " +
             std::to_string(waiting_[tile].size()) + " wait at the distributor\n";
  }
  return words;
}

}  // namespace roost::sim
