#include "apps/classify/control/lookup_note.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "roost/openflow/mask_text.h"

namespace roost::classifying {

namespace {

using classify::Field;
using classify::kFields;
using openflow::Lookup;

static_assert(kFields.size() <= 32, "the fields of a mask are bits of a word");
constexpr size_t kStepsMax = 4;   // lookups that are kept of a packet
constexpr size_t kMasksMax = 10;  // masks that are kept of a lookup

// The lookup in a table: which fields each of its masks looks at, a bit each, and what won.
struct StepNote {
  uint8_t table = 0;
  bool is_cached = false;
  bool has_megaflow = false;
  bool has_winner = false;
  uint16_t priority = 0;
  uint16_t masks = 0;  // looked at; those beyond kMasksMax are not kept
  uint32_t winner = 0;
  std::array<uint32_t, kMasksMax> fields{};
};
struct LookupNote {
  uint32_t steps = 0;  // likewise
  std::array<StepNote, kStepsMax> kept{};
};

uint32_t fields_of_mask(const classify::PacketFields& mask) {
  uint32_t fields = 0;
  for (const classify::FieldPlace& place : kFields) {
    if (openflow::looks_at(mask, place.field))
      fields |= uint32_t{1} << static_cast<unsigned>(place.field);
  }
  return fields;
}

std::string names_of(uint32_t fields) {
  std::string text;
  for (const classify::FieldPlace& place : kFields) {
    if ((fields >> static_cast<unsigned>(place.field) & 1) == 0) continue;
    if (!text.empty()) text += ',';
    text += place.name;
  }
  return text.empty() ? "nothing" : text;
}

StepNote note_of(const Lookup& lookup, const State& state) {
  StepNote note{.table = lookup.table,
                .is_cached = lookup.found.is_cached,
                .has_megaflow = lookup.found.megaflow_mask.has_value(),
                .masks = static_cast<uint16_t>(lookup.found.steps.size())};
  for (size_t i = 0; i < std::min(kMasksMax, lookup.found.steps.size()); ++i)
    note.fields[i] = fields_of_mask(lookup.found.steps[i].mask);
  const classify::Classifier* const table = state.pipeline().tables().table(lookup.table);
  if (lookup.found.answer.rule == classify::kNoRule || table == nullptr) return note;
  const classify::RuleId id = table->id_of(lookup.found.answer.rule);
  note.has_winner = true;
  note.winner = id.index;
  note.priority = table->find(id)->priority;
  return note;
}

std::string words_of(const StepNote& step) {
  std::string text = fmt::format("\n  table {}    ", step.table);
  text += step.has_winner ? fmt::format("rule {} of priority {}", step.winner, step.priority)
                          : std::string("no rule");
  text += step.is_cached      ? ", by the exact-match cache"
          : step.has_megaflow ? ", by a megaflow"
                              : ", by a search";
  text += fmt::format("; masks looked at: {}", step.masks);
  for (size_t i = 0; i < std::min<size_t>(kMasksMax, step.masks); ++i)
    text += "\n             " + names_of(step.fields[i]);
  if (step.masks > kMasksMax)
    text += fmt::format("\n             and {} more", step.masks - kMasksMax);
  return text;
}

}  // namespace

void explain(State& state, const net::Packet&, const net::ParsedPacket&, net::ParseVerdict, Tick,
             trace::Note& note) {
  openflow::Pipeline& pipeline = state.pipeline();
  if (!pipeline.keeps_lookups()) return pipeline.keep_lookups();
  const std::vector<Lookup> lookups = pipeline.take_lookups();
  LookupNote kept{.steps = static_cast<uint32_t>(lookups.size())};
  for (size_t i = 0; i < std::min(kStepsMax, lookups.size()); ++i)
    kept.kept[i] = note_of(lookups[i], state);
  note.set(kept);
}

std::string explanation(const trace::Note&, const trace::Note& after) {
  const auto note = after.get<LookupNote>();
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(kStepsMax, note.steps); ++i)
    text += words_of(note.kept[i]);
  if (note.steps > kStepsMax)
    text += fmt::format("\n  and {} lookups more", note.steps - kStepsMax);
  return text;
}

}  // namespace roost::classifying
