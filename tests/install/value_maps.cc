// Value-only tables of the installed headers and library: of both kinds, shared, and read from what
// they export. Prints how many keys each kind has found.
#include <roost/base/hit_words.h>
#include <roost/compact/line_map_builder_impl.h>
#include <roost/compact/shared_map.h>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

constexpr size_t kKeys = 1'000;

template <class Builder>
size_t found_by(const typename Builder::Config& config) {
  std::vector<typename Builder::Entry> entries;
  std::vector<uint64_t> keys;
  for (uint64_t key = 0; key < kKeys; ++key) {
    keys.push_back(key * 3);
    entries.push_back({key * 3, static_cast<uint32_t>(key)});
  }
  roost::compact::SharedMap<Builder> map(Builder::build(config, entries).value());
  auto rebuild = map.begin_rebuild();
  rebuild.run();
  if (map.adopt(std::move(rebuild))) return 0;
  std::vector<uint32_t> values(kKeys);
  roost::HitArray<kKeys> maybe;
  map.reader().lookup_unverified(keys, values, maybe);
  size_t found = 0;
  for (size_t lane = 0; lane < kKeys; ++lane)
    if (maybe.test(lane) && values[lane] == lane) ++found;
  return map.builder().audit() || map.builder().exported().empty() ? 0 : found;
}

}  // namespace

int main() {
  using namespace roost::compact;
  std::printf("line map %zu\n", found_by<LineMapBuilder<uint64_t>>({}));
  std::printf("Parrot %zu\n", found_by<ParrotBuilder>({}));
}
