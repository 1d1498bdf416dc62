// How many lookups the simulator gets through in a second of a processor: blocking lookups of one
// core in a table that fills most of the last-level cache.
//
//   sim_speed [LOOKUPS]
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "sim/saved_table.h"
#include "tests/sim/lookup_bench.h"

namespace roost::sim {
namespace {

class Lookups final : public Program {
 public:
  Lookups(uint64_t table, uint64_t entries, uint64_t count)
      : table_(table), entries_(entries), count_(count) {}
  Fetch fetch(Op& op) override {
    if (next_ == 2 * count_) return Fetch::kEnd;
    const uint64_t number = next_++ / 2;
    const traffic::Key128 key = key_of(2 * (traffic::mix(number) % entries_));
    const uint64_t address = kKeysAddress + number % 64 * 64;
    if (next_ % 2 == 1) {
      op = {.kind = OpKind::kStore,
            .bytes = 16,
            .instructions = 4,
            .address = address,
            .data = {key.words[0], key.words[1]}};
    } else {
      op = {.kind = OpKind::kLookupB, .bytes = 16, .address = address, .table = table_, .tag = 1};
    }
    return Fetch::kOp;
  }
  void completed(uint32_t /*tag*/, Cycle /*when*/, std::span<const std::byte> bytes) override {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof(word));
    if (is_found(word)) ++found;
  }
  uint64_t found = 0;

 private:
  uint64_t table_;
  uint64_t entries_;
  uint64_t count_;
  uint64_t next_ = 0;
};

int run(uint64_t count) {
  constexpr uint64_t kEntries = 700'000;  // 8 MiB of buckets and 22 MB of entries
  const PaperTable table = paper_table(kEntries, 1 << 17);
  LookupBench bench(default_parameters(), image_of(table));
  Lookups warm(bench.table, kEntries, 4 * kEntries);
  bench.machine.start(0, warm);
  if (!bench.machine.run()) return 1;
  Lookups timed(bench.table, kEntries, count);
  bench.machine.start(0, timed);
  const Cycle began = bench.machine.events().now();
  const std::clock_t start = std::clock();
  const Result<Cycle> ended = bench.machine.run();
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  if (!ended || timed.found != count) return 1;
  std::printf("%.0f simulated lookups a second of a processor; simulated: %.1f cycles a lookup\n",
              static_cast<double>(count) / seconds,
              static_cast<double>(ended.value() - began) / static_cast<double>(count));
  return 0;
}

}  // namespace
}  // namespace roost::sim

int main(int count, char** arguments) {
  return roost::sim::run(count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 500'000);
}
