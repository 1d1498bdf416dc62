// Access for tests in which a writer and a reader take turns in one thread (fibres.h), between any
// two words that they store or load. The writer is the first of the two.
#pragma once

#include <cstdint>
#include <random>

#include "roost/concurrent/one_writer.h"
#include "roost/table/policies.h"
#include "tests/concurrent/fibres.h"

namespace roost {

struct TurnTakingWords : AtomicWords {
  static constexpr unsigned kWordsOfALine = 8;

  [[nodiscard]] static uint64_t load(const uint64_t* word) {
    Fibres::point(kWordsOfALine);
    return AtomicWords::load(word);
  }
  static void store(uint64_t* word, uint64_t value) {
    Fibres::point();
    AtomicWords::store(word, value);
    Fibres::point();
  }
  static bool replace(uint64_t* word, uint64_t expected, uint64_t value) {
    Fibres::point();
    return AtomicWords::replace(word, expected, value);
  }
  static void wait(unsigned /*attempt*/) { Fibres::give_up_turn(); }
};

class TurnTakingAccess : public VersionedAccess<TurnTakingWords> {
 public:
  using VersionedAccess::VersionedAccess;

  // What readers are told is a hint: without one they search as they do for what is missing.
  template <class Line>
  [[nodiscard]] static Line look(const Line& line) {
    Fibres::point();
    static std::minstd_rand random(1);
    return Fibres::is_first() || random() % 2 == 0 ? line : Line{};
  }

  // After a step, before whatever the writer does next.
  struct Point {
    ~Point() { Fibres::point(); }
  };
  struct StepAndPoint {
    Point after;
    Step step;
  };
  template <class... Buckets>
  [[nodiscard]] StepAndPoint step(Buckets... buckets) const {
    return {{}, VersionedAccess::step(buckets...)};
  }
};

struct TurnTakingProbe : NoProbe {
  uint64_t repeats = 0;
  void repeat() { ++repeats; }
};

struct TurnTaking : DefaultPolicies {
  using Access = TurnTakingAccess;
  using Probe = TurnTakingProbe;
};

}  // namespace roost
