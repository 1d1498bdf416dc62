#include "roost/compact/model_builder.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "roost/base/assert.h"
#include "roost/compact/parrot_plan.h"

namespace roost::compact {
namespace {

// A key and where it belongs.
struct Knot {
  uint64_t key;
  uint64_t place;
};

// Where keys belong if the buckets are filled evenly.
class EvenPlaces {
 public:
  EvenPlaces(uint64_t key_count, uint64_t bucket_count)
      : key_count_(key_count), bucket_count_(bucket_count) {}

  [[nodiscard]] uint64_t place_of_rank(uint64_t rank) const {
    const uint64_t product = rank * bucket_count_;
    return (product / key_count_ << kFractionBits) +
           ((product % key_count_ << kFractionBits) / key_count_);
  }
  // In the last bucket.
  [[nodiscard]] uint64_t end() const { return (bucket_count_ << kFractionBits) - 1; }

 private:
  uint64_t key_count_;
  uint64_t bucket_count_;
};

// How far a number of more than 32 bits must be shifted to have 32.
unsigned shift_to_32_bits(uint64_t number) {
  const auto bits = static_cast<unsigned>(std::bit_width(number));
  return bits > 32 ? bits - 32 : 0;
}

// The line through two knots; the second one's key is greater. Its slope has 32 bits, or as many as
// the shift can hold.
ModelLine line_through(const Knot& from, const Knot& to) {
  const uint64_t whole_run = to.key - from.key;
  const unsigned key_shift = shift_to_32_bits(whole_run);
  const uint64_t run = whole_run >> key_shift;
  ROOST_ASSERT(run > 0);
  const uint64_t rise = to.place - from.place;
  uint64_t slope = rise / run;
  uint64_t rest = rise % run;
  unsigned shift = 0;
  for (; slope >> 31 == 0 && shift < 63; ++shift) {  // long division, bit by bit
    rest *= 2;
    slope = 2 * slope + (rest >= run ? 1 : 0);
    if (rest >= run) rest -= run;
  }
  ROOST_ASSERT(slope >> 32 == 0);
  return {.key = from.key,
          .place = from.place,
          .slope = static_cast<uint32_t>(slope),
          .key_shift = static_cast<uint8_t>(key_shift),
          .slope_shift = static_cast<uint8_t>(shift)};
}

// Lines from knot to knot. Equal keys, of lines without a key of their own, make a line of no rise.
std::vector<ModelLine> lines_through(std::span<const Knot> knots) {
  std::vector<ModelLine> lines;
  lines.reserve(knots.size());
  for (size_t i = 0; i + 1 < knots.size(); ++i) {
    const bool has_rise = knots[i].key < knots[i + 1].key;
    lines.push_back(has_rise ? line_through(knots[i], knots[i + 1])
                             : ModelLine{.key = knots[i].key, .place = knots[i].place});
  }
  lines.push_back({.key = knots.back().key, .place = knots.back().place});
  return lines;
}

// Each line begins at the first key that the root leads to it; one without keys where the next one
// does. Ends are joined: least squares would pile keys up where lines meet.
BuiltModel build_rmi(uint32_t line_count, std::span<const uint64_t> keys, EvenPlaces places) {
  BuiltModel model{.head = {.kind = ModelKind::kRmi,
                            .line_count = line_count,
                            .first_key = keys.front(),
                            .last_key = keys.back()}};
  const uint64_t whole_run = keys.back() - keys.front();
  model.head.root_shift = shift_to_32_bits(whole_run);
  const uint64_t run = (whole_run >> model.head.root_shift) + 1;  // at most 2^32
  model.head.root_slope =
      static_cast<uint32_t>(std::min((uint64_t{line_count} << 32) / run, uint64_t{UINT32_MAX}));
  constexpr Knot kNone{std::numeric_limits<uint64_t>::max(), 0};
  std::vector<Knot> knots(size_t{line_count} + 1, kNone);
  std::vector<bool> has_keys(line_count);
  for (uint64_t rank = 0; rank < keys.size(); ++rank) {
    const uint64_t line =
        ((keys[rank] - keys.front()) >> model.head.root_shift) * model.head.root_slope >> 32;
    if (has_keys[line]) continue;
    has_keys[line] = true;
    knots[line] = {keys[rank], places.place_of_rank(rank)};
  }
  knots.back() = {keys.back(), places.end()};
  for (size_t line = line_count; line-- > 0;)
    if (!has_keys[line]) knots[line] = knots[line + 1];
  model.lines = lines_through(knots);
  return model;
}

// Neumann and Michel's greedy corridor: a knot is made where no line from the last one comes within
// the error of all keys since.
std::vector<Knot> spline_knots(uint32_t error, std::span<const uint64_t> keys, EvenPlaces places) {
  const double margin = static_cast<double>(uint64_t{error} << kFractionBits);
  std::vector<Knot> knots = {{keys.front(), 0}};
  Knot last = knots.front();
  double steepest = std::numeric_limits<double>::infinity();
  double flattest = -steepest;
  for (uint64_t rank = 1; rank < keys.size(); ++rank) {
    const Knot at{keys[rank], places.place_of_rank(rank)};
    const auto slope_to = [&](double offset) {
      return (static_cast<double>(at.place - knots.back().place) + offset) /
             static_cast<double>(at.key - knots.back().key);
    };
    if (slope_to(0) > steepest || slope_to(0) < flattest) {
      knots.push_back(last);
      steepest = slope_to(margin);
      flattest = slope_to(-margin);
    } else {
      steepest = std::min(steepest, slope_to(margin));
      flattest = std::max(flattest, slope_to(-margin));
    }
    last = at;
  }
  knots.push_back({keys.back(), places.end()});
  return knots;
}

// Where a prefix begins: prefix_of() the other way.
uint64_t begin_of(const ModelHead& head, uint64_t prefix) {
  const uint64_t powers = head.scale_bits == 0 ? 0 : prefix >> head.scale_bits;
  const uint64_t power = powers > 0 ? powers - 1 : 0;
  return (prefix - (power << head.scale_bits)) << power << head.root_shift;
}

// Lines with their prefixes, of a head that says which.
BuiltModel led_by_prefixes(ModelHead head, std::vector<ModelLine> lines) {
  const uint64_t run = head.last_key - head.first_key;
  head.prefix_count = static_cast<uint32_t>(prefix_of(head, run) + 1);
  BuiltModel model{.head = head, .lines = std::move(lines)};
  uint32_t line = 0;
  for (uint64_t prefix = 0; prefix <= head.prefix_count; ++prefix) {
    const bool is_end = prefix == head.prefix_count;
    const uint64_t begin = is_end ? run : begin_of(head, prefix);
    while (line + 1 < head.line_count && model.lines[line + 1].key - head.first_key <= begin)
      ++line;
    model.prefixes.push_back(line);
  }
  return model;
}

// How many steps the search for a key's line takes, in the mean of keys.
double steps_to_line(const BuiltModel& model) {
  const MonotoneModel view = model.view();
  double steps = 0;
  uint64_t before = 0;
  for (size_t prefix = 0; prefix < model.head.prefix_count; ++prefix) {
    const bool is_last = prefix + 1 == model.head.prefix_count;
    const uint64_t past =
        is_last ? model.head.last_key - model.head.first_key : begin_of(model.head, prefix + 1);
    const uint64_t place = view.place_of(model.head.first_key + past);
    const auto lines = model.prefixes[prefix + 1] - model.prefixes[prefix];
    steps += static_cast<double>(place - before) * std::bit_width(lines);
    before = place;
  }
  return steps / static_cast<double>(std::max<uint64_t>(before, 1));
}

// A model whose lines are found by the first bits of a key, evenly or by powers of two, by which
// the search behind them is shorter: about a prefix a line.
BuiltModel with_prefixes(ModelKind kind, const std::vector<ModelLine>& lines) {
  const auto line_count = static_cast<uint32_t>(lines.size() - 1);
  const ModelHead head{.kind = kind,
                       .line_count = line_count,
                       .first_key = lines.front().key,
                       .last_key = lines.back().key};
  const auto run_bits = static_cast<int>(std::bit_width(head.last_key - head.first_key));
  ModelHead even = head;
  even.root_shift =
      static_cast<uint32_t>(std::max(0, run_bits - static_cast<int>(std::bit_width(line_count))));
  ModelHead scaled = head;
  scaled.scale_bits = 1;
  while (scaled.scale_bits < 31 && prefix_of(scaled, head.last_key - head.first_key) < line_count)
    ++scaled.scale_bits;
  BuiltModel evenly = led_by_prefixes(even, lines);
  BuiltModel by_powers = led_by_prefixes(scaled, lines);
  return steps_to_line(by_powers) < steps_to_line(evenly) ? by_powers : evenly;
}

BuiltModel build_spline(uint32_t error, std::span<const uint64_t> keys, EvenPlaces places) {
  return with_prefixes(ModelKind::kSpline, lines_through(spline_knots(error, keys, places)));
}

// Steps before keys.
class Steps {
 public:
  explicit Steps(std::span<const uint64_t> keys) : keys_(keys) {}

  // The next bucket begins before the key of this rank.
  void begin_bucket(size_t rank) {
    const uint64_t cut = rank == 0 ? keys_.front() : cut_between(keys_[rank - 1], keys_[rank]);
    lines_.push_back({.key = cut, .place = lines_.size() << kFractionBits});
  }
  [[nodiscard]] BuiltModel model() && {
    lines_.push_back({.key = keys_.back(), .place = (lines_.size() << kFractionBits) - 1});
    return with_prefixes(ModelKind::kSteps, lines_);
  }

 private:
  std::span<const uint64_t> keys_;
  std::vector<ModelLine> lines_;
};

BuiltModel build_steps(uint32_t keys_a_bucket, std::span<const uint64_t> keys) {
  Steps steps(keys);
  for (size_t rank = 0; rank < keys.size(); rank += keys_a_bucket) steps.begin_bucket(rank);
  return std::move(steps).model();
}

}  // namespace

std::string ModelChoice::format() const {
  if (kind == ModelKind::kRmi) return "RMI of " + std::to_string(size) + " lines";
  if (kind == ModelKind::kSteps)
    return "steps of " + std::to_string(size) + (size == 1 ? " key" : " keys");
  return "spline within " + std::to_string(size) + (size == 1 ? " bucket" : " buckets");
}

BuiltModel build_model(const ModelChoice& choice, std::span<const uint64_t> keys,
                       uint64_t bucket_count) {
  ROOST_ASSERT(!keys.empty() && keys.size() >> 32 == 0 && choice.size > 0);
  ROOST_ASSERT(bucket_count > 0 && bucket_count >> 32 == 0);
  if (choice.kind == ModelKind::kSteps) return build_steps(choice.size, keys);
  const EvenPlaces places(keys.size(), bucket_count);
  return choice.kind == ModelKind::kRmi ? build_rmi(choice.size, keys, places)
                                        : build_spline(choice.size, keys, places);
}

BuiltModel steps_of(const MonotoneModel& model, std::span<const uint64_t> keys) {
  Steps steps(keys);
  for_each_bucket(model, keys, [&](uint64_t, size_t first, size_t) { steps.begin_bucket(first); });
  return std::move(steps).model();
}

}  // namespace roost::compact
