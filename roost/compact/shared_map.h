// A value-only table that many threads look keys up in while one changes it, and that is built anew
// beside them (docs/decisions/0048-value-only-tables-shared.md).
//
//   SharedLineMap<Mac> map(LineMapBuilder<Mac>::build({.value_bits = 16}, entries).value());
//   auto reader = map.reader();                          // one a thread
//   reader.lookup_unverified(keys, values, maybe);       // at any time
//   map.insert(mac, port);                               // the one builder's thread
//
//   auto rebuild = map.begin_rebuild();                  // no room: larger, from its keys
//   std::thread worker([&] { rebuild.run(); });          // changes go on meanwhile
//   worker.join();
//   map.adopt(std::move(rebuild));                       // readers see the new image from here on
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "roost/base/assert.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/compact/change_outcome.h"
#include "roost/compact/line_map_builder.h"
#include "roost/compact/parrot_builder.h"
#include "roost/concurrent/replaceable.h"

namespace roost::compact {

template <class Builder>
class SharedMap {
  // What readers of one image need. The builder changes it, and goes when nobody reads it.
  struct Image {
    explicit Image(Builder&& of) : builder(std::move(of)), reader(builder.shared_reader()) {}
    Builder builder;
    typename Builder::SharedReader reader;
  };

 public:
  using Key = typename Builder::KeyType;
  using Entry = typename Builder::Entry;
  using Config = typename Builder::Config;

  // The lookups of one thread; it must not outlive the map. Each call ends with a quiescent point.
  class Reader {
   public:
    // As the table's reader, of the image that is in use when the call begins.
    size_t lookup_unverified(std::span<const Key> keys, std::span<uint32_t> values,
                             HitWords maybe) {
      return image_.with(
          [&](const Image& image) { return image.reader.lookup_unverified(keys, values, maybe); });
    }

    // For a thread that looks nothing up for long: else images that are no longer in use stay.
    void pause() { image_.pause(); }
    void resume() { image_.resume(); }

   private:
    friend class SharedMap;
    explicit Reader(typename Replaceable<Image>::Reader image) : image_(std::move(image)) {}

    typename Replaceable<Image>::Reader image_;
  };

  // A table of the keys that were there when it was begun.
  class Rebuild {
   public:
    // Builds it, in any thread. Time and errors are those of Builder::build(), which adopt() tells.
    void run() { built_.emplace(Builder::build(config_, std::move(entries_))); }

   private:
    friend class SharedMap;
    Rebuild(const Config& config, std::vector<Entry> entries)
        : config_(config), entries_(std::move(entries)) {}

    Config config_;
    std::vector<Entry> entries_;
    std::optional<Result<Builder>> built_;
  };

  explicit SharedMap(Builder first)
      : shared_(std::make_unique<Shared>(std::make_unique<Image>(std::move(first)))) {}

  // From any thread, at any time.
  [[nodiscard]] Reader reader() { return Reader(shared_->image.reader()); }

  // Changes, by one thread at a time, as the builder makes them. Lookups that begin after a call
  // see what it did.
  ChangeOutcome insert(const Key& key, uint32_t value) {
    return changed({key, value}, Change::kInsert, current().insert(key, value));
  }
  ChangeOutcome update(const Key& key, uint32_t value) {
    return changed({key, value}, Change::kUpdate, current().update(key, value));
  }
  ChangeOutcome erase(const Key& key) {
    return changed({key, 0}, Change::kErase, current().erase(key));
  }
  [[nodiscard]] const Builder& builder() const { return shared_->image.current().builder; }

  // Copies the keys, which takes time linear in them, and keeps a log of changes from here on. One
  // at a time, until adopt() or give_up().
  [[nodiscard]] Rebuild begin_rebuild(const Config& config) {
    ROOST_ASSERT(!shared_->log.has_value());
    Rebuild rebuild(config, builder().entries());
    shared_->log.emplace();
    return rebuild;
  }
  [[nodiscard]] Rebuild begin_rebuild() { return begin_rebuild(builder().config()); }

  // Makes the logged changes in the new table and takes it into use. Time linear in the changes
  // since begin_rebuild(); lookups go on. Errors: it could not be built, or has no room for what
  // changed meanwhile; then all is as if no rebuild had begun.
  [[nodiscard]] std::optional<Error> adopt(Rebuild rebuild) {
    ROOST_ASSERT(shared_->log.has_value() && rebuild.built_.has_value());
    const std::vector<Logged> log =
        std::exchange(shared_->log, std::nullopt).value_or(std::vector<Logged>());
    if (!*rebuild.built_) return rebuild.built_->error();
    auto next = std::make_unique<Image>(std::move(*rebuild.built_).value());
    for (const Logged& logged : log) {
      if (replay(next->builder, logged) == ChangeOutcome::kDone) continue;
      return Error{
          "the new table has no room for what was inserted while it was built; begin anew"};
    }
    shared_->image.replace(std::move(next));
    return {};
  }
  void give_up(const Rebuild& /*rebuild*/) { shared_->log.reset(); }

  // Frees images that no reader can be reading; how many are left. adopt() does so too.
  size_t free_retired() { return shared_->image.free_retired(); }

 private:
  enum class Change : uint8_t { kInsert, kUpdate, kErase };
  struct Logged {
    Entry entry;
    Change change;
  };
  // Where it stays when the map is moved.
  struct Shared {
    explicit Shared(std::unique_ptr<Image> first) : image(std::move(first)) {}
    Replaceable<Image> image;
    std::optional<std::vector<Logged>> log{};
  };

  [[nodiscard]] Builder& current() { return shared_->image.current().builder; }
  ChangeOutcome changed(const Entry& entry, Change change, ChangeOutcome outcome) {
    if (outcome == ChangeOutcome::kDone && shared_->log) shared_->log->push_back({entry, change});
    return outcome;
  }
  static ChangeOutcome replay(Builder& builder, const Logged& logged) {
    switch (logged.change) {
      case Change::kInsert:
        return builder.insert(logged.entry.key, logged.entry.value);
      case Change::kUpdate:
        return builder.update(logged.entry.key, logged.entry.value);
      default:
        return builder.erase(logged.entry.key);
    }
  }

  std::unique_ptr<Shared> shared_;
};

template <class Key>
using SharedLineMap = SharedMap<LineMapBuilder<Key>>;
using SharedParrot = SharedMap<ParrotBuilder>;

}  // namespace roost::compact
