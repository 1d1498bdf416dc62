#include "apps/halo/tuples.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "apps/halo/inputs.h"
#include "roost/base/assert.h"
#include "roost/traffic/draw.h"
#include "roost/traffic/key.h"
#include "sim/lookup_run.h"

namespace roost::halo {

namespace {

// Tables lie one behind the other, up to so many pages apart.
constexpr uint64_t kPage = 4096;
constexpr uint64_t kPagesApart = 64;

sim::KeyMask mask_of(uint64_t tuple) {
  std::array<std::byte, sizeof(traffic::Key128)> bytes{};
  const traffic::Key128 mask{{~uint64_t{0}, (uint64_t{2} << tuple) - 1}};
  std::memcpy(bytes.data(), &mask, sizeof(mask));
  const auto made = sim::KeyMask::of(bytes);
  ROOST_ASSERT(made.ok());
  return made.value();
}

// An entry's key as a packet has it: other bits where its table does not look.
sim::KeyBytes packet_key(const sim::KeyBytes& entry, const sim::KeyMask& mask, uint64_t chance) {
  sim::KeyBytes others{};
  std::memcpy(others.data() + sizeof(chance), &chance, sizeof(chance));
  sim::KeyBytes masked = others;
  mask.apply(masked);
  sim::KeyBytes key = entry;
  for (size_t i = 0; i < key.size(); ++i) key[i] = key[i] | (others[i] ^ masked[i]);
  return key;
}

sim::RunTables placed(const std::vector<std::vector<std::byte>>& images, traffic::Draw draw) {
  sim::RunTables tables;
  uint64_t address = sim::kRunTableAddress;
  for (size_t tuple = 0; tuple < images.size(); ++tuple) {
    address += kPage * draw.below(kPagesApart);
    tables.push_back({.image = images[tuple], .mask = mask_of(tuple), .address = address});
    address += (images[tuple].size() + kPage - 1) / kPage * kPage;
  }
  return tables;
}

Result<TupleSpace> tuple_space(uint64_t count, const TupleOptions& tuples) {
  TupleSpace space;
  traffic::Draw draw(tuples.build.seed);
  for (uint64_t tuple = 0; tuple < count; ++tuple) {
    BuildOptions build = tuples.build;
    build.first_key = tuple * build.entries;
    build.mask = mask_of(tuple);
    auto built = build_table(build);
    if (!built) return built.error();
    build.format = BuiltFormat::kMegaflow;
    auto own = build_table(build);
    if (!own) return own.error();
    space.images.push_back(std::move(built.value().image));
    space.own_images.push_back(std::move(own.value().image));
    if (tuples.found_in == FoundIn::kLast && tuple + 1 != count) continue;
    for (const sim::KeyBytes& entry : built.value().keys)
      space.keys.push_back(packet_key(entry, *build.mask, draw.word()));
  }
  for (size_t i = space.keys.size(); i > 1; --i)
    std::swap(space.keys[i - 1], space.keys[draw.below(i)]);
  space.tables = placed(space.images, draw);
  space.own_tables = placed(space.own_images, draw);
  auto words = sim::words_of(space.tables, space.keys);
  if (!words) return words.error();
  space.words = std::move(words).value();
  return space;
}

}  // namespace

Question TupleSpace::question() const {
  return {.tables = tables,
          .paper_tables = tables,
          .own_tables = own_tables,
          .trace = {keys, words},
          .key_bytes = sizeof(traffic::Key128),
          .is_masked = true};
}

Result<std::vector<TupleSpace>> tuple_spaces(const TupleOptions& tuples,
                                             const WayOptions& options) {
  std::vector<TupleSpace> spaces;
  if (tuples.counts.empty()) return spaces;
  const uint64_t bytes = tuples.counts.back() * built_bytes(tuples.build);
  if (auto error = too_large("tables of --tuples", tuples.counts.size() * bytes, options.threads))
    return *error;
  for (const uint64_t count : tuples.counts) {
    auto space = tuple_space(count, tuples);
    if (!space) return space.error();
    space.value().options = options;
    space.value().options.warm_up = options.warm_up / count;
    space.value().options.lookups = std::max<uint64_t>(options.lookups / count, options.cores);
    spaces.push_back(std::move(space).value());
  }
  return spaces;
}

Result<Tuples> search(const sim::ParameterSweep& sweep, const std::vector<TupleSpace>& spaces,
                      const TupleOptions& options) {
  Tuples tuples{.options = options};
  std::vector<std::vector<SpeedUp>> by_count;
  for (const TupleSpace& space : spaces) {
    auto ways = run_ways(sweep, space.question(), space.options);
    if (!ways) return ways.error();
    by_count.push_back(speed_ups_of(sweep, ways.value()));
    tuples.points.push_back({.count = space.tables.size(),
                             .options = space.options,
                             .ways = std::move(ways).value(),
                             .speed_ups = by_count.back()});
  }
  tuples.found = break_evens_of(options.counts, by_count);
  return tuples;
}

}  // namespace roost::halo
