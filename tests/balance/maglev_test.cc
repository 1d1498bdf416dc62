// Maglev: shares, stability, disruption, and equality with the paper's own pseudocode.
#include "roost/balance/maglev.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <random>

#include "roost/balance/name_hash.h"
#include "tests/balance/picks.h"
#include "tests/base/step_count.h"

namespace roost::balance {
namespace {

Maglev make(std::span<const WeightedBackend> backends, uint64_t seed = 1,
            uint64_t entry_count_min = Maglev::kEntryCountMinDefault) {
  Result<Maglev> maglev =
      Maglev::create({.backends = backends, .seed = seed, .entry_count_min = entry_count_min});
  if (!maglev) ADD_FAILURE() << maglev.error().message;
  return std::move(maglev).value();
}

// The name of the owner of each entry.
std::vector<std::string> owner_names(const Maglev& maglev,
                                     std::span<const WeightedBackend> backends) {
  std::vector<std::string> names;
  for (size_t entry = 0; entry < maglev.entry_count(); ++entry) {
    const std::optional<size_t> owner = maglev.pick(entry);
    names.push_back(owner ? backends[*owner].name : "nobody");
  }
  return names;
}

// Largest distance of a backend's share from its weight's share, relative to the latter.
double worst_share_error(const Maglev& maglev, std::span<const WeightedBackend> backends) {
  std::vector<uint64_t> owned(backends.size());
  for (size_t entry = 0; entry < maglev.entry_count(); ++entry) {
    if (const std::optional<size_t> owner = maglev.pick(entry)) ++owned[*owner];
  }
  double weight_sum = 0;
  for (const WeightedBackend& backend : backends) weight_sum += backend.weight;
  double worst = 0;
  for (size_t i = 0; i < backends.size(); ++i) {
    const double share = static_cast<double>(owned[i]) / static_cast<double>(maglev.entry_count());
    const double wanted = backends[i].weight / weight_sum;
    if (wanted == 0) {
      EXPECT_EQ(owned[i], 0u) << backends[i].name;
    } else {
      worst = std::max(worst, std::abs(share - wanted) / wanted);
    }
  }
  return worst;
}

TEST(Maglev, equal_weights_give_the_table_of_the_paper) {
  // Pseudocode 1 of the paper, written out: whole permutations, one turn each.
  std::vector<WeightedBackend> backends = equal_backends(7);
  const Maglev maglev = make(backends, 5, 0);
  const uint64_t entry_count = maglev.entry_count();
  std::vector<std::vector<uint64_t>> permutation(backends.size());
  for (size_t i = 0; i < backends.size(); ++i) {
    const NameHash hash = name_hash(backends[i].name, 5);
    const uint64_t offset = hash.first % entry_count;
    const uint64_t skip = hash.second % (entry_count - 1) + 1;
    for (uint64_t j = 0; j < entry_count; ++j)
      permutation[i].push_back((offset + j * skip) % entry_count);
  }
  std::vector<int> owner(entry_count, -1);
  std::vector<size_t> next(backends.size());
  for (uint64_t taken = 0; taken < entry_count;) {
    for (size_t i = 0; i < backends.size() && taken < entry_count; ++i, ++taken) {
      while (owner[permutation[i][next[i]]] >= 0) ++next[i];
      owner[permutation[i][next[i]]] = static_cast<int>(i);
    }
  }
  for (uint64_t entry = 0; entry < entry_count; ++entry) {
    ASSERT_EQ(maglev.pick(entry), static_cast<size_t>(owner[entry])) << entry;
  }
}

TEST(Maglev, entry_count_is_a_prime_of_at_least_100_a_backend) {
  EXPECT_EQ(make(equal_backends(1)).entry_count(), 65'537u);
  EXPECT_EQ(make(equal_backends(512)).entry_count(), 65'537u);
  EXPECT_EQ(make(equal_backends(513)).entry_count(), 102'407u);
  EXPECT_EQ(make(equal_backends(3), 1, 0).entry_count(), 401u);
  EXPECT_EQ(make(equal_backends(4), 1, 0).entry_count(), 401u);
  EXPECT_EQ(make(equal_backends(5), 1, 0).entry_count(), 809u);
  EXPECT_EQ(make(equal_backends(5), 1, 1'000'000).entry_count(), 1'000'003u);
}

TEST(Maglev, shares_are_within_2_percent_of_the_weights) {
  std::mt19937_64 random(11);
  double worst = 0;
  const auto check = [&](std::span<const WeightedBackend> backends, uint64_t entry_count_min) {
    const double error = worst_share_error(make(backends, random(), entry_count_min), backends);
    EXPECT_LT(error, 0.02) << backends.size() << " backends";
    worst = std::max(worst, error);
  };
  for (const uint64_t entry_count_min : {uint64_t{0}, Maglev::kEntryCountMinDefault}) {
    check(std::vector<WeightedBackend>{{"light", 1}, {"heavy", 100}}, entry_count_min);
    check(std::vector<WeightedBackend>{{"a", 7}, {"b", 0}, {"c", 70'000}}, entry_count_min);
    for (size_t round = 0; round < step_count(20); ++round) {
      std::vector<WeightedBackend> backends = equal_backends(1 + random() % 60);
      const uint32_t weight_max = 1 + static_cast<uint32_t>(random() % 200);
      for (WeightedBackend& b : backends)
        b.weight = 1 + static_cast<uint32_t>(random() % weight_max);
      check(backends, entry_count_min);
    }
  }
  std::printf("worst share error: %.3f %%\n", worst * 100);
}

TEST(Maglev, the_order_of_the_list_changes_nothing) {
  std::mt19937_64 random(12);
  std::vector<WeightedBackend> backends = equal_backends(23);
  for (WeightedBackend& backend : backends) backend.weight = static_cast<uint32_t>(random() % 5);
  backends[0].weight = 3;
  const std::vector<std::string> names = owner_names(make(backends, 9, 0), backends);
  for (size_t round = 0; round < 20; ++round) {
    std::ranges::shuffle(backends, random);
    EXPECT_EQ(owner_names(make(backends, 9, 0), backends), names);
  }
}

TEST(Maglev, a_restart_gives_the_same_table) {
  const std::vector<WeightedBackend> backends = equal_backends(10);
  EXPECT_EQ(owner_names(make(backends, 3), backends), owner_names(make(backends, 3), backends));
  EXPECT_NE(owner_names(make(backends, 3), backends), owner_names(make(backends, 4), backends));
}

// Instances of different builds must agree: this value changes only by a decision to break that. It
// was also computed by an independent program from maglev.h's description.
TEST(Maglev, a_known_table_keeps_its_digest) {
  const std::vector<WeightedBackend> backends = {{"b1", 2}, {"b2", 1}, {"b3", 1}, {"drained", 0}};
  std::string table;
  for (const std::string& name : owner_names(make(backends, 1), backends)) table += name + "\n";
  EXPECT_EQ(fnv1a64(table), 16027988170009569254u);
}

// What share of the other backends' entries changes owner when one of `count` equal backends leaves
// and the table keeps its size; the worst of five leavers.
double disruption_of_one_leaving(size_t count, uint64_t entry_count_min) {
  double worst = 0;
  for (size_t leaver = 0; leaver < 5; ++leaver) {
    std::vector<WeightedBackend> backends = equal_backends(count);
    const Maglev before = make(backends, 1, entry_count_min);
    const std::vector<std::string> names_before = owner_names(before, backends);
    const std::string gone = backends[leaver].name;
    backends.erase(backends.begin() + static_cast<ptrdiff_t>(leaver));
    const std::vector<std::string> names_after =
        owner_names(make(backends, 1, before.entry_count()), backends);
    EXPECT_EQ(names_before.size(), names_after.size());
    double stayed = 0;
    double moved = 0;
    for (size_t entry = 0; entry < names_before.size(); ++entry) {
      if (names_before[entry] == gone) continue;
      ++(names_before[entry] == names_after[entry] ? stayed : moved);
    }
    worst = std::max(worst, moved / (moved + stayed));
  }
  return worst;
}

TEST(Maglev, few_entries_of_others_move_when_one_backend_leaves) {
  struct Case {
    size_t count;
    uint64_t entry_count_min;
    double moved_max;
  };
  for (const Case& c : {Case{5, 65'537, 0.02}, Case{10, 65'537, 0.02}, Case{100, 65'537, 0.02},
                        Case{500, 65'537, 0.02}, Case{8, 0, 0.05}, Case{64, 0, 0.05}}) {
    const double moved = disruption_of_one_leaving(c.count, c.entry_count_min);
    EXPECT_LT(moved, c.moved_max) << c.count << " backends, at least " << c.entry_count_min
                                  << " entries";
    std::printf("%zu backends, at least %llu entries: %.2f %% of the others' entries move\n",
                c.count, static_cast<unsigned long long>(c.entry_count_min), moved * 100);
  }
}

TEST(Maglev, a_drained_backend_gets_nothing_and_no_backend_is_no_answer) {
  const std::vector<WeightedBackend> one_left = {{"drained", 0}, {"live", 5}};
  const Maglev maglev = make(one_left);
  for (size_t entry = 0; entry < maglev.entry_count(); ++entry) ASSERT_EQ(maglev.pick(entry), 1u);

  const std::vector<WeightedBackend> none_left = {{"drained", 0}};
  EXPECT_EQ(make(none_left).pick(42), std::nullopt);
  EXPECT_EQ(make({}).pick(42), std::nullopt);
  EXPECT_EQ(make({}).entry_count(), 0u);
}

TEST(Maglev, what_cannot_be_built_is_refused_with_the_reason) {
  const std::vector<WeightedBackend> twins = {{"b1", 1}, {"b2", 1}, {"b1", 3}};
  const Result<Maglev> twice = Maglev::create({.backends = twins});
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().message, "two backends are named \"b1\"; give each its own name");

  const std::vector<WeightedBackend> apart = {{"b1", 1}, {"b2", 4'000'000'000}};
  const Result<Maglev> too_far = Maglev::create({.backends = apart});
  ASSERT_FALSE(too_far);
  EXPECT_NE(too_far.error().message.find("more than 262144 times"), std::string::npos);

  EXPECT_FALSE(Maglev::create({.backends = apart, .entry_count_min = Maglev::kEntryCountMax + 1}));
  EXPECT_FALSE(Maglev::create({.backends = equal_backends(Maglev::kBackendCountMax + 1)}));
}

}  // namespace
}  // namespace roost::balance
