#include "sim/neighbour_run.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/asking_program.h"
#include "sim/machine.h"
#include "sim/trace_program.h"

namespace roost::sim {

namespace {

using Accesses = std::span<const MemoryTrace::Access>;

constexpr Tile kSharedCore = 0;

class WaitingProgram final : public Program {
 public:
  Fetch fetch(Op& op) override {
    op = {.stop = FetchStop::kUntilDone, .cycles = kWaitedCycles};
    return Fetch::kOp;
  }
  void completed(uint32_t /*tag*/, Cycle /*when*/, std::span<const std::byte> /*bytes*/) override {}
};

// A program that ends when another one does, before its own end.
class WhileOther final : public Program {
 public:
  WhileOther(Program& program, const TraceProgram& other) : program_(program), other_(other) {}

  Fetch fetch(Op& op) override { return other_.has_ended() ? Fetch::kEnd : program_.fetch(op); }
  void completed(uint32_t tag, Cycle when, std::span<const std::byte> bytes) override {
    program_.completed(tag, when, bytes);
  }

 private:
  Program& program_;
  const TraceProgram& other_;
};

// What one part of the trace took.
struct Part {
  Cycle cycles = 0;
  CoreCounts counts{};
  uint64_t answered = 0;
};

// Accesses until half of the instructions are through.
size_t half_of(const MemoryTrace& trace) {
  uint64_t instructions = 0;
  size_t count = 0;
  for (; count < trace.accesses.size() && 2 * instructions < trace.instructions; ++count) {
    const MemoryTrace::Access& access = trace.accesses[count];
    instructions += access.before + (access.is_first ? 1 : 0);
  }
  return count;
}

class NeighbourMachine {
 public:
  NeighbourMachine(const Parameters& parameters, const NeighbourRun& run)
      : run_(run), machine_(parameters) {}

  std::optional<Error> set_up() {
    const auto pages =
        machine_.bytes().put_zeroes(kTracePagesAddress, run_.trace->pages * kTracePageBytes);
    if (!pages) return pages.error();
    if (run_.other != OtherThread::kAsks) return {};
    auto tables = place_tables(machine_, *run_.lookups);
    if (!tables) return tables.error();
    tables_ = std::move(tables).value();
    return {};
  }

  Result<Part> replay(Accesses accesses) {
    TraceProgram trace(accesses, machine_.memory().parameters());
    const Cycle began = machine_.events().now();
    if (run_.other == OtherThread::kNone)
      return run_to_end(machine_.start(kSharedCore, trace), began);
    WaitingProgram waiting;
    std::optional<AskingProgram> asking;
    if (run_.other == OtherThread::kAsks) {
      const LookupShare share{
          .core = kSharedCore, .first = asked_, .count = std::numeric_limits<uint32_t>::max()};
      asking.emplace(machine_, *run_.lookups, tables_, share);
    }
    WhileOther other(asking ? asking->program() : waiting, trace);
    const std::array<Program*, 2> programs{&trace, &other};
    const CoreThreads& threads = machine_.start_threads(kSharedCore, programs);
    auto part = run_to_end(threads.threads().front(), began);
    if (!part || !asking) return part;
    if (asking->wrong() != 0) {
      return Error{
          std::to_string(asking->wrong()) +
          " lookups were not answered as the table says; this is a fault of the simulator"};
    }
    part.value().answered = asking->answered();
    asked_ += asking->answered();
    return part;
  }

 private:
  Result<Part> run_to_end(const Core& core, Cycle began) {
    const Result<Cycle> ended = machine_.run(run_.cycles_max);
    if (!ended) return ended.error();
    return Part{.cycles = core.last_cycle() - began, .counts = core.counts()};
  }

  const NeighbourRun& run_;
  Machine machine_;
  PlacedTables tables_{};
  uint64_t asked_ = 0;
};

}  // namespace

Result<NeighbourFigures> run_neighbour(const Parameters& parameters, const NeighbourRun& run) {
  ROOST_ASSERT(run.trace != nullptr &&
               (run.other == OtherThread::kAsks) == (run.lookups != nullptr));
  NeighbourMachine machine(parameters, run);
  if (const auto error = machine.set_up()) return *error;
  const Accesses all(run.trace->accesses);
  const size_t half = half_of(*run.trace);
  const auto warmed = machine.replay(all.first(half));
  if (!warmed) return warmed.error();
  const auto counted = machine.replay(all.subspan(half));
  if (!counted) return counted.error();
  const Part& part = counted.value();
  const auto a_cycle = [&](uint64_t count) {
    return static_cast<double>(count) / static_cast<double>(std::max<Cycle>(part.cycles, 1));
  };
  return NeighbourFigures{
      .cycles = part.cycles,
      .instructions_a_cycle = a_cycle(part.counts.instructions),
      .l1d_miss_share = static_cast<double>(part.counts.l1d_misses) /
                        static_cast<double>(std::max<uint64_t>(part.counts.loads, 1)),
      .lookups_per_second = a_cycle(part.answered) * parameters.clock_megahertz * 1e6};
}

}  // namespace roost::sim
