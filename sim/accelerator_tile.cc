#include "sim/accelerator_tile.h"

#include "sim/accelerator_array.h"

namespace roost::sim {

AcceleratorTile::AcceleratorTile(MemorySystem& memory, AcceleratorArray& array, Tile tile)
    : memory_(memory), array_(array), tile_(tile), accelerator_(memory.parameters()) {
  memory_.set_accelerator(tile, this);
}

void AcceleratorTile::handle(const Event& event) {
  switch (event.kind) {
    case kQuery:
      queries_.push_back(static_cast<uint32_t>(event.argument));
      break;
    case AcceleratorMessage::kReply:
      replies_.push_back({event.index, event.argument});
      break;
    case AcceleratorMessage::kInvalidate:
      invalidations_.push_back(event.argument);
      if (event.index != 0) {
        const Tile home = memory_.slice_of(event.argument);
        memory_.events().at(
            memory_.mesh().send(memory_.now() + 1, tile_, home),
            {&memory_.home(home), HomeSlice::kSnoopAnswer, HomeSlice::kHadNoLine, event.argument});
      }
      break;
    default:
      is_due_ = false;
      tick();
      return;
  }
  wake();
}

void AcceleratorTile::clear_flows() {
  clears_flows_ = true;
  wake();
}

void AcceleratorTile::wake() {
  if (is_due_) return;
  is_due_ = true;
  memory_.events().clock_at(memory_.now(), {this, kTick, 0, 0});
}

void AcceleratorTile::tick() {
  const uint64_t cycles = memory_.now() - counted_to_;
  residency_.place_cycles += cycles * accelerator_.occupancy();
  residency_.busy_cycles += accelerator_.outputs().busy ? cycles : 0;
  counted_to_ = memory_.now();
  take_outputs();
  AcceleratorInputs inputs;
  if (!queries_.empty()) {
    inputs.query = array_.command(queries_.front());
    if (accelerator_.outputs().query_ready) queries_.pop_front();
  }
  if (!replies_.empty()) {
    inputs.reply.emplace(AcceleratorInputs::Reply{replies_.front().identifier,
                                                  memory_.replies().take(replies_.front().number)});
    replies_.pop_front();
  }
  if (!invalidations_.empty()) {
    inputs.invalidate = invalidations_.front();
    invalidations_.pop_front();
  }
  inputs.clear_flows = std::exchange(clears_flows_, false);
  accelerator_.tick(inputs);
  array_.places_changed(tile_);
  const bool has_input = !replies_.empty() || !invalidations_.empty() ||
                         (!queries_.empty() && accelerator_.outputs().query_ready);
  const bool is_needed = ticks_always_ && (accelerator_.occupancy() != 0 || !queries_.empty());
  if (has_input || is_needed || !accelerator_.is_idle()) {
    is_due_ = true;
    memory_.events().clock_at(memory_.now() + 1, {this, kTick, 0, 0});
  }
}

void AcceleratorTile::take_outputs() {
  const AcceleratorOutputs& outputs = accelerator_.outputs();
  const Cycle leaves = memory_.now() + 1;
  if (outputs.lock) {
    memory_.ask_home(tile_, outputs.lock->is_lock ? HomeSlice::kLock : HomeSlice::kUnlock, 0,
                     outputs.lock->line, leaves);
  }
  if (outputs.memory) {
    const HomeSlice::Message message =
        outputs.memory->read == AcceleratorRead::kLine       ? HomeSlice::kRead
        : outputs.memory->read == AcceleratorRead::kMetadata ? HomeSlice::kReadMetadata
                                                             : HomeSlice::kDropMetadata;
    memory_.ask_home(tile_, message, outputs.memory->identifier, outputs.memory->line, leaves);
  }
  if (outputs.result) array_.deliver(tile_, outputs.result->token, outputs.result->word, leaves);
}

}  // namespace roost::sim
