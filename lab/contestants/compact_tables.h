// Our value-only tables: the line map and Parrot, as roost/compact has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/harness/value_contestant.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/compact/line_map_builder.h"
#include "roost/compact/parrot_builder.h"
#include "roost/compact/shared_map.h"

namespace roost::lab {

template <class Key, uint32_t kFingerprintBits = 0>
class LineMapTable : public ValueAnswers<Key> {
  using Builder = compact::LineMapBuilder<Key>;

 public:
  static constexpr std::string_view kName =
      kFingerprintBits == 0 ? "line_map" : "line_map_fingerprints";
  static constexpr bool kKeepsKeys = false;

  static Result<LineMapTable> build(const ValueTableConfig& config, ValueEntries<Key> entries) {
    std::vector<typename Builder::Entry> own(entries.size());
    for (size_t i = 0; i < entries.size(); ++i) own[i] = {entries[i].key, entries[i].value};
    return of(Builder::build({.value_bits = config.value_bits,
                              .fingerprint_bits = kFingerprintBits,
                              .load = config.load,
                              .hash_seed = config.seed,
                              .memory = {.pages = config.pages}},
                             std::move(own)));
  }

  void lookup(std::span<const Key> keys, std::span<uint32_t> answers, HitWords hits) const {
    reader_.lookup_unverified(keys, answers, hits);
  }
  compact::ChangeOutcome insert(const Key& key, uint32_t value) {
    return builder_.insert(key, value);
  }
  compact::ChangeOutcome update(const Key& key, uint32_t value) {
    return builder_.update(key, value);
  }
  compact::ChangeOutcome erase(const Key& key) { return builder_.erase(key); }
  [[nodiscard]] Result<LineMapTable> rebuild() const { return of(builder_.rebuilt()); }
  void reopen() { reader_ = compact::LineMapReader<Key>::open(builder_.image()).value(); }

  [[nodiscard]] uint64_t image_bytes() const { return builder_.image().size(); }
  [[nodiscard]] uint64_t builder_bytes() const { return builder_.report().builder_bytes; }
  [[nodiscard]] const void* image_address() const { return builder_.image().data(); }
  [[nodiscard]] std::vector<ValueFact> facts() const {
    const auto report = builder_.report();
    const auto here = static_cast<double>(report.keys_by_level.front());
    return {{"further_share", 1 - here / static_cast<double>(report.keys)}};
  }

 private:
  static Result<LineMapTable> of(Result<Builder> built) {
    if (!built) return built.error();
    auto reader = compact::LineMapReader<Key>::open(built.value().image());
    if (!reader) return reader.error();
    return LineMapTable(std::move(built).value(), std::move(reader).value());
  }
  LineMapTable(Builder builder, compact::LineMapReader<Key> reader)
      : builder_(std::move(builder)), reader_(std::move(reader)) {}

  Builder builder_;
  compact::LineMapReader<Key> reader_;  // of the builder's image
};

// The line map as many threads have it while one changes it: its reader looks at versions, and each
// call ends with a quiescent point.
template <class Key>
class SharedLineMapTable : public ValueAnswers<Key> {
  using Builder = compact::LineMapBuilder<Key>;
  using Map = compact::SharedMap<Builder>;

 public:
  static constexpr std::string_view kName = "line_map_shared";
  static constexpr bool kKeepsKeys = false;

  static Result<SharedLineMapTable> build(const ValueTableConfig& config,
                                          ValueEntries<Key> entries) {
    std::vector<typename Builder::Entry> own(entries.size());
    for (size_t i = 0; i < entries.size(); ++i) own[i] = {entries[i].key, entries[i].value};
    auto built = Builder::build({.value_bits = config.value_bits,
                                 .load = config.load,
                                 .hash_seed = config.seed,
                                 .memory = {.pages = config.pages}},
                                std::move(own));
    if (!built) return built.error();
    return SharedLineMapTable(Map(std::move(built).value()));
  }

  void lookup(std::span<const Key> keys, std::span<uint32_t> answers, HitWords hits) {
    reader_.lookup_unverified(keys, answers, hits);
  }

  [[nodiscard]] uint64_t image_bytes() const { return map_.builder().image().size(); }
  [[nodiscard]] uint64_t builder_bytes() const { return map_.builder().report().builder_bytes; }
  [[nodiscard]] const void* image_address() const { return map_.builder().image().data(); }

 private:
  explicit SharedLineMapTable(Map map) : map_(std::move(map)), reader_(map_.reader()) {}

  Map map_;
  typename Map::Reader reader_;
};

// Takes the model that needs fewest bytes of those that the builder tries.
template <compact::InsertionPolicy kPolicy = compact::InsertionPolicy::kStash>
class ParrotTable : public ValueAnswers<uint64_t> {
  using Builder = compact::ParrotBuilder;

 public:
  static constexpr std::string_view kName =
      kPolicy == compact::InsertionPolicy::kStash ? "parrot" : "parrot_reseeding";
  static constexpr bool kKeepsKeys = false;

  static Result<ParrotTable> build(const ValueTableConfig& config, ValueEntries<uint64_t> entries) {
    std::vector<compact::ParrotEntry> own(entries.size());
    for (size_t i = 0; i < entries.size(); ++i) own[i] = {entries[i].key, entries[i].value};
    return of(Builder::build({.key_bits = config.key_bits,
                              .value_bits = config.value_bits,
                              .load = config.load,
                              .policy = kPolicy,
                              .memory = {.pages = config.pages}},
                             std::move(own)));
  }

  void lookup(std::span<const uint64_t> keys, std::span<uint32_t> answers, HitWords hits) const {
    reader_.lookup_unverified(keys, answers, hits);
  }
  compact::ChangeOutcome insert(uint64_t key, uint32_t value) {
    return builder_.insert(key, value);
  }
  compact::ChangeOutcome update(uint64_t key, uint32_t value) {
    return builder_.update(key, value);
  }
  compact::ChangeOutcome erase(uint64_t key) { return builder_.erase(key); }
  [[nodiscard]] Result<ParrotTable> rebuild() const { return of(builder_.rebuilt()); }
  void reopen() { reader_ = compact::ParrotReader::open(builder_.image()).value(); }

  size_t scan(uint64_t low, uint64_t high, std::span<uint32_t> values) const {
    size_t count = 0;
    reader_.scan(low, high, [&](uint32_t value, std::optional<uint64_t>) {
      values[count++] = value;
      return count < values.size();
    });
    return count;
  }

  [[nodiscard]] uint64_t image_bytes() const { return builder_.image().size(); }
  [[nodiscard]] uint64_t builder_bytes() const { return builder_.report().builder_bytes; }
  [[nodiscard]] const void* image_address() const { return builder_.image().data(); }
  [[nodiscard]] std::vector<ValueFact> facts() const {
    const auto report = builder_.report();
    const auto share = [](uint64_t part, uint64_t whole) {
      return static_cast<double>(part) / static_cast<double>(whole);
    };
    return {{"stashed_share", share(report.stashed, report.keys),
             builder_.trials().back().choice.format()},
            {"failed_bucket_share", share(report.failed_buckets, report.buckets)},
            {"longest_walk", static_cast<double>(report.longest_walk)}};
  }

 private:
  static Result<ParrotTable> of(Result<Builder> built) {
    if (!built) return built.error();
    auto reader = compact::ParrotReader::open(built.value().image());
    if (!reader) return reader.error();
    return ParrotTable(std::move(built).value(), reader.value());
  }
  ParrotTable(Builder builder, const compact::ParrotReader& reader)
      : builder_(std::move(builder)), reader_(reader) {}

  Builder builder_;
  compact::ParrotReader reader_;  // of the builder's image
};

}  // namespace roost::lab
