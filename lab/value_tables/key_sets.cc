#include "lab/value_tables/key_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <fstream>
#include <numbers>
#include <numeric>
#include <span>
#include <string_view>

#include "roost/traffic/arrivals.h"
#include "roost/traffic/draw.h"
#include "roost/traffic/zipf.h"

namespace roost::lab {
namespace {

constexpr uint64_t kMacMask = (uint64_t{1} << 48) - 1;
constexpr unsigned kSuffixBits = 24;  // of an address, behind the vendor's prefix
constexpr uint64_t kDenseFirst = 0x0200'0000'0000;

using Words = std::vector<uint64_t>;

// Sorted, each once; more are drawn until there are so many.
template <class DrawOne>
Words distinct_words(uint64_t count, DrawOne&& draw_one) {
  Words words;
  while (words.size() < count) {
    words.reserve(count);
    while (words.size() < count) words.push_back(draw_one());
    std::ranges::sort(words);
    words.erase(std::ranges::unique(words).begin(), words.end());
  }
  return words;
}

// Lines as "00-1B-C5   (hex)		IEEE Registration Authority".
Result<Words> read_prefixes(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Error{path + " cannot be read: install ieee-data"};
  Words prefixes;
  for (std::string line; std::getline(file, line);) {
    if (line.size() < 8 || line.find("(hex)") == std::string::npos) continue;
    const std::string digits = line.substr(0, 2) + line.substr(3, 2) + line.substr(6, 2);
    uint64_t prefix = 0;
    const char* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, prefix, 16);
    if (read.ec == std::errc() && read.ptr == end) prefixes.push_back(prefix);
  }
  if (prefixes.empty()) return Error{path + " has no prefixes"};
  return prefixes;
}

// Runs of some thousand addresses, as a vendor gives them to what it makes.
Words in_runs(const Words& prefixes, uint64_t count, traffic::Draw& draw) {
  uint64_t next = 0;
  uint64_t left = 0;
  return distinct_words(count, [&] {
    if (left == 0) {
      next = prefixes[draw.below(prefixes.size())] << kSuffixBits |
             draw.below(uint64_t{1} << kSuffixBits);
      left = 1'000 + draw.below(10'000);
    }
    --left;
    return next++ & kMacMask;
  });
}

// A mean of 1.5 s, as between edits of an encyclopedia, by day half as much more or less.
Words arrival_times(uint64_t count, traffic::Draw& draw) {
  constexpr double kMeanGap = 1'500;
  constexpr double kDay = 86'400'000;
  double now = 1e9;
  return distinct_words(count, [&] {
    const double swing = 1 + 0.5 * std::sin(2 * std::numbers::pi * now / kDay);
    now += traffic::Arrivals::exponential(draw, kMeanGap * swing);
    return static_cast<uint64_t>(now);
  });
}

// As SOSD's synthetic set of the name: the logarithm has a deviation of 2.
Words lognormal_words(uint64_t count, traffic::Draw& draw) {
  return distinct_words(count, [&] {
    const double radius = std::sqrt(-2 * std::log(1 - draw.unit()));
    const double normal = radius * std::cos(2 * std::numbers::pi * draw.unit());
    return static_cast<uint64_t>(std::exp(2 * normal) * 0x1p32);
  });
}

// Of a larger file, evenly spaced ones.
Result<Words> read_words(const std::string& path, uint64_t count) {
  static_assert(std::endian::native == std::endian::little);
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{path + " cannot be read"};
  uint64_t there = 0;
  file.read(reinterpret_cast<char*>(&there), sizeof there);
  file.seekg(0, std::ios::end);
  const auto bytes = static_cast<uint64_t>(file.tellg());
  if (!file || bytes % sizeof there != 0 || bytes / sizeof there != there + 1)
    return Error{path + " is not in SOSD's form: how many, then so many words of 64 bits"};
  Words words(there);
  file.seekg(sizeof there);
  file.read(reinterpret_cast<char*>(words.data()),
            static_cast<std::streamsize>(there * sizeof there));
  if (!file) return Error{path + " cannot be read"};
  std::ranges::sort(words);
  words.erase(std::ranges::unique(words).begin(), words.end());
  if (words.size() < count) {
    return Error{
        fmt::format("{} has {} different keys, and {} are wanted", path, words.size(), count)};
  }
  const double step = static_cast<double>(words.size()) / static_cast<double>(count);
  for (uint64_t i = 0; i < count; ++i)
    words[i] = words[static_cast<uint64_t>(static_cast<double>(i) * step)];
  words.resize(count);
  return words;
}

traffic::Key104 drawn_tuple(traffic::Draw& draw) {
  constexpr uint8_t kTcp = 6;
  traffic::Key104 key{};
  const std::array<uint64_t, 2> words = {draw.word(), draw.word()};
  std::memcpy(key.bytes.data(), words.data(), key.bytes.size() - 1);
  key.bytes.back() = kTcp;
  return key;
}

bool is_below(const traffic::Key104& a, const traffic::Key104& b) {
  return model_word(a) < model_word(b);
}

}  // namespace

template <>
Result<KeySet<uint64_t>> make_key_set(const KeySetConfig& config) {
  traffic::Draw draw(config.seed);
  if (config.name == "mac") {
    return KeySet<uint64_t>{48,
                            distinct_words(config.count, [&] { return draw.word() & kMacMask; })};
  }
  if (config.name == "addresses")
    return KeySet<uint64_t>{64, distinct_words(config.count, [&] { return draw.word(); })};
  if (config.name == "dense") {
    KeySet<uint64_t> set{48, Words(config.count)};
    std::iota(set.keys.begin(), set.keys.end(), kDenseFirst);
    return set;
  }
  if (config.name == "vendor") {
    const auto prefixes = read_prefixes(config.vendors);
    if (!prefixes) return prefixes.error();
    return KeySet<uint64_t>{48, in_runs(prefixes.value(), config.count, draw)};
  }
  if (config.name == "arrivals") return KeySet<uint64_t>{64, arrival_times(config.count, draw)};
  if (config.name == "lognormal") return KeySet<uint64_t>{64, lognormal_words(config.count, draw)};
  if (config.name.find('/') == std::string::npos)
    return Error{"there is no key set \"" + config.name + "\"; a file's path has a slash"};
  auto words = read_words(config.name, config.count);
  if (!words) return words.error();
  return KeySet<uint64_t>{64, std::move(words).value()};
}

template <>
Result<KeySet<traffic::Key104>> make_key_set(const KeySetConfig& config) {
  traffic::Draw draw(config.seed);
  KeySet<traffic::Key104> set{104, {}};
  while (set.keys.size() < config.count) {
    set.keys.reserve(config.count);
    while (set.keys.size() < config.count) set.keys.push_back(drawn_tuple(draw));
    std::ranges::sort(set.keys, is_below);
    const auto same = std::ranges::unique(
        set.keys, [](const auto& a, const auto& b) { return model_word(a) == model_word(b); });
    set.keys.erase(same.begin(), same.end());
  }
  return set;
}

template <>
std::vector<uint64_t> draw_strangers(const KeySet<uint64_t>& set, size_t count, uint64_t seed) {
  constexpr uint64_t kNear = 1 << 16;
  traffic::Draw draw(seed);
  std::vector<uint64_t> strangers;
  while (strangers.size() < count) {
    const bool is_near = draw.below(2) == 0;
    const uint64_t word =
        is_near ? set.keys[draw.below(set.keys.size())] + 1 + draw.below(kNear) : draw.word();
    const uint64_t key = word & ~uint64_t{0} >> (64 - set.key_bits);
    if (!std::ranges::binary_search(set.keys, key)) strangers.push_back(key);
  }
  return strangers;
}

template <>
std::vector<traffic::Key104> draw_strangers(const KeySet<traffic::Key104>& set, size_t count,
                                            uint64_t seed) {
  traffic::Draw draw(seed);
  std::vector<traffic::Key104> strangers;
  while (strangers.size() < count) {
    traffic::Key104 key = drawn_tuple(draw);
    if (draw.below(2) == 0) {  // the same addresses, with other ports
      const traffic::Key104& near = set.keys[draw.below(set.keys.size())];
      std::copy_n(near.bytes.begin(), sizeof(uint64_t), key.bytes.begin());
    }
    const auto at = std::ranges::lower_bound(set.keys, key, is_below);
    if (at == set.keys.end() || !(*at == key)) strangers.push_back(key);
  }
  return strangers;
}

std::vector<uint32_t> draw_places(uint64_t key_count, size_t count, double exponent,
                                  uint64_t seed) {
  traffic::Draw draw(seed);
  std::vector<uint32_t> places(count);
  if (exponent == 0) {
    for (uint32_t& place : places) place = static_cast<uint32_t>(draw.below(key_count));
    return places;
  }
  std::vector<uint32_t> by_rank(key_count);
  std::iota(by_rank.begin(), by_rank.end(), 0U);
  for (uint64_t left = key_count; left > 1; --left)
    std::swap(by_rank[left - 1], by_rank[draw.below(left)]);
  const traffic::Zipf zipf(key_count, exponent);
  for (uint32_t& place : places) place = by_rank[zipf.rank(draw) - 1];
  return places;
}

}  // namespace roost::lab
