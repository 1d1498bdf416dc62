// Builds Maglev's table: see maglev.h.
#include "roost/balance/maglev.h"

#include <algorithm>
#include <bit>
#include <queue>
#include <string>
#include <utility>

#include "roost/balance/name_hash.h"

namespace roost::balance {
namespace {

constexpr uint64_t kEntriesOfLightest = 100;
constexpr uint64_t kSharesMax = std::bit_floor(Maglev::kEntryCountMax / kEntriesOfLightest);
static_assert(Maglev::kBackendCountMax <= kSharesMax,
              "only weights too far apart need too large a table");

uint64_t ceil_divide(uint64_t dividend, uint64_t divisor) {
  return (dividend + divisor - 1) / divisor;
}

bool is_prime(uint64_t number) {
  if (number < 2) return false;
  for (uint64_t divisor = 2; divisor * divisor <= number; ++divisor) {
    if (number % divisor == 0) return false;
  }
  return true;
}

uint64_t smallest_prime_from(uint64_t number) {
  while (!is_prime(number)) ++number;
  return number;
}

// A backend's way down its preference list, and when its next turn is.
struct Player {
  uint16_t index = 0;  // in the caller's list
  uint64_t weight = 0;
  uint64_t entry = 0;  // next entry of the list
  uint64_t skip = 0;
  uint64_t turn_count = 1;  // the next turn is its turn_count-th
  uint64_t due_round = 1;   // the first round whose weights pay for that many turns
};

// Backends that have a weight, in order of their names.
std::vector<Player> make_players(const Maglev::Config& config, uint64_t entry_count) {
  std::vector<Player> players;
  for (size_t i = 0; i < config.backends.size(); ++i) {
    const WeightedBackend& backend = config.backends[i];
    if (backend.weight == 0) continue;
    const NameHash hash = name_hash(backend.name, config.seed);
    Player player;
    player.index = static_cast<uint16_t>(i);
    player.weight = backend.weight;
    player.entry = hash.first % entry_count;
    player.skip = hash.second % (entry_count - 1) + 1;
    players.push_back(player);
  }
  std::ranges::sort(players, {},
                    [&](const Player& player) { return config.backends[player.index].name; });
  return players;
}

// Gives the player the first free entry of its list. There must be one.
void take_entry(std::vector<uint16_t>& owners, Player& player) {
  const auto step = [&] {
    player.entry += player.skip;
    if (player.entry >= owners.size()) player.entry -= owners.size();
  };
  while (owners[player.entry] != kNoBackend) step();
  owners[player.entry] = player.index;
  step();
}

std::vector<uint16_t> fill_entries(std::vector<Player> players, uint64_t entry_count) {
  const uint64_t heaviest = std::ranges::max(players, {}, &Player::weight).weight;
  const auto set_due_round = [&](Player& player) {
    player.due_round = ceil_divide(player.turn_count * heaviest, player.weight);
  };
  // Inside a round, turns are taken in order of the names, which is the order of `players`.
  const auto is_later = [&](size_t a, size_t b) {
    return std::pair(players[a].due_round, a) > std::pair(players[b].due_round, b);
  };
  std::priority_queue<size_t, std::vector<size_t>, decltype(is_later)> turns(is_later);
  for (size_t i = 0; i < players.size(); ++i) {
    set_due_round(players[i]);
    turns.push(i);
  }

  std::vector<uint16_t> owners(entry_count, kNoBackend);
  for (uint64_t taken = 0; taken < entry_count; ++taken) {
    const size_t next = turns.top();
    turns.pop();
    take_entry(owners, players[next]);
    ++players[next].turn_count;
    set_due_round(players[next]);
    turns.push(next);
  }
  return owners;
}

}  // namespace

Result<Maglev> Maglev::create(const Config& config) {
  if (std::optional<Error> error = refuse_backends(config.backends)) return *std::move(error);

  uint64_t weight_sum = 0;
  uint64_t lightest = 0;
  for (const WeightedBackend& backend : config.backends) {
    weight_sum += backend.weight;
    const bool is_lightest = lightest == 0 || backend.weight < lightest;
    if (backend.weight != 0 && is_lightest) lightest = backend.weight;
  }
  if (weight_sum == 0) return Maglev(config, {});

  const uint64_t shares =
      std::max<uint64_t>(config.backends.size(), ceil_divide(weight_sum, lightest));
  if (config.entry_count_min > kEntryCountMax) {
    return Error{"a Maglev table of " + std::to_string(config.entry_count_min) +
                 " entries; use at most " + std::to_string(kEntryCountMax)};
  }
  if (shares > kSharesMax) {
    return Error{"the weights add up to more than " + std::to_string(kSharesMax) +
                 " times the smallest; bring them closer together"};
  }
  const uint64_t entry_count = smallest_prime_from(
      std::max(config.entry_count_min, kEntriesOfLightest * std::bit_ceil(shares)));
  return Maglev(config, fill_entries(make_players(config, entry_count), entry_count));
}

}  // namespace roost::balance
