// The operations of one kind of map and padded key size, over SharedMap. A source file each
// instantiates them, so that they compile side by side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "capi/map.h"
#include "capi/map_class.h"
#include "capi/map_entries.h"
#include "capi/map_keys.h"
#include "capi/map_plan.h"
#include "roost/base/assert.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/compact/change_outcome.h"
#include "roost/compact/image_head.h"
#include "roost/compact/shared_map.h"

namespace roost::capi {

// The words of a chunk's lanes, which begin at the first bit of a word.
[[nodiscard]] inline HitWords words_of_chunk(uint64_t* words, size_t first, size_t count) {
  return HitWords(std::span(words + first / 64, hit_word_count(count)));
}

// What both kinds of readers do with a batch.
template <class Keys, class Reader>
size_t look_up_chunks(const Keys& form, Reader& reader, const roost_keys& keys, uint32_t* values,
                      uint64_t* maybe) {
  size_t found = 0;
  for_each_chunk(form, keys, [&](size_t first, std::span<const typename Keys::Key> chunk) {
    found += reader.lookup_unverified(chunk, std::span(values + first, chunk.size()),
                                      words_of_chunk(maybe, first, chunk.size()));
  });
  return found;
}

template <class Builder>
void fill_report(const Builder& builder, roost_map_figures& report) {
  const auto said = builder.report();
  report.key_count = said.keys;
  report.builder_bytes = said.builder_bytes;
  report.image_bytes = builder.image().size();
  if constexpr (requires { said.keys_by_level; }) {
    static_assert(compact::kLevelsMax == ROOST_MAP_LEVELS);
    report.level_count = said.keys_by_level.size();
    std::ranges::copy(said.keys_by_level, report.keys_by_level);
  } else {
    const auto& model = builder.trials().back();  // the one that was taken
    report.bucket_count = said.buckets;
    report.failed_buckets = said.failed_buckets;
    report.stashed = said.stashed;
    report.longest_walk = said.longest_walk;
    report.model_bytes = model.model_bytes;
    report.model_size = model.choice.size;
    report.model = model.choice.kind == compact::ModelKind::kRmi ? "RMI" : "spline";
  }
}

template <class Keys>
class SizedMapReader final : public roost_map_reader {
 public:
  using Reader = typename compact::SharedMap<typename Keys::Builder>::Reader;

  SizedMapReader(const Keys& form, Reader reader) : form_(form), reader_(std::move(reader)) {}

  size_t lookup_unverified(const roost_keys& keys, uint32_t* values, uint64_t* maybe) override {
    ROOST_ASSERT(!is_paused_);
    return look_up_chunks(form_, reader_, keys, values, maybe);
  }
  void pause() override {
    is_paused_ = true;
    reader_.pause();
  }
  void resume() override {
    reader_.resume();
    is_paused_ = false;
  }

 private:
  Keys form_;
  Reader reader_;
  bool is_paused_ = false;
};

template <class Keys>
class SizedImageReader final : public roost_map_reader {
 public:
  using Reader = typename Keys::ImageReader;

  SizedImageReader(const Keys& form, std::optional<Arena> own, const Reader& reader)
      : form_(form), own_(std::move(own)), reader_(reader) {}

  size_t lookup_unverified(const roost_keys& keys, uint32_t* values, uint64_t* maybe) override {
    return look_up_chunks(form_, reader_, keys, values, maybe);
  }

 private:
  Keys form_;
  std::optional<Arena> own_;
  Reader reader_;
};

template <class Keys>
class SizedMap final : public roost_map {
  using Builder = typename Keys::Builder;
  using Map = compact::SharedMap<Builder>;
  using Key = typename Keys::Key;

 public:
  static Failed create(const MapPlan& plan, const roost_keys& keys, const uint32_t* values,
                       std::unique_ptr<roost_map>& map) {
    const Keys form(plan.key_form);
    auto entries = entries_of(form, plan, keys, values);
    if (!entries) return failure_of(entries.error());
    auto built = Builder::build(Keys::config(plan), std::move(entries).value());
    if (!built) {
      Failure failure = failure_of(built.error());
      if (failure.status == ROOST_NO_MEMORY) return failure;
      if (auto twin = find_twin(form, keys)) failure.text = std::move(*twin);
      return failure;
    }
    map.reset(new SizedMap(plan, std::move(built).value()));
    return {};
  }

  static Failed open(const ImagePlan& plan, ImageBytes image,
                     std::unique_ptr<roost_map_reader>& reader) {
    using Reader = typename Keys::ImageReader;
    const auto opened = Reader::open(image.bytes);
    if (!opened) return failure_of(opened.error());
    if constexpr (requires { opened.value().audit(); }) {
      if (plan.audits) {
        if (auto wrong = opened.value().audit())
          return Failure{ROOST_BROKEN, "the image is broken: " + *wrong};
      }
      const uint32_t key_bits = opened.value().head().shape.key_bits;
      if (8 * plan.key_bytes < key_bits || plan.key_bytes > sizeof(Key)) {
        return Failure{ROOST_INVALID, "the image is for keys of " + std::to_string(key_bits) +
                                          " bits, which key_bytes of " +
                                          std::to_string(plan.key_bytes) + " do not have"};
      }
    }
    const Keys form({compact::ImageKind{}, plan.key_bytes, plan.is_big_endian});
    reader = std::make_unique<SizedImageReader<Keys>>(form, std::move(image.own), opened.value());
    return {};
  }

  [[nodiscard]] uint64_t key_count() const override { return map_.builder().size(); }

  size_t find(const roost_keys& keys, uint32_t* values, uint64_t* hits) const override {
    HitWords words(std::span(hits, hit_word_count(keys.count)));
    words.clear(keys.count);
    size_t found = 0;
    for_each_chunk(form_, keys, [&](size_t first, std::span<const Key> chunk) {
      for (size_t i = 0; i < chunk.size(); ++i) {
        const auto value = map_.builder().find(chunk[i]);
        if (!value) continue;
        values[first + i] = *value;
        words.set(first + i);
        ++found;
      }
    });
    return found;
  }

  size_t insert(const roost_keys& keys, const uint32_t* values,
                uint8_t* outcomes) noexcept override {
    return change(keys, outcomes,
                  [&](const Key& key, size_t lane) { return map_.insert(key, values[lane]); });
  }
  size_t update(const roost_keys& keys, const uint32_t* values,
                uint8_t* outcomes) noexcept override {
    return change(keys, outcomes,
                  [&](const Key& key, size_t lane) { return map_.update(key, values[lane]); });
  }
  size_t erase(const roost_keys& keys, uint8_t* outcomes) noexcept override {
    return change(keys, outcomes, [&](const Key& key, size_t) { return map_.erase(key); });
  }

  [[nodiscard]] roost_map_figures report() const override {
    roost_map_figures report{};
    fill_report(map_.builder(), report);
    return report;
  }
  [[nodiscard]] std::optional<std::string> audit() const override { return map_.builder().audit(); }
  uint64_t export_to(std::byte* to, uint64_t to_bytes) const override {
    const std::span<const std::byte> image = map_.builder().image();
    if (to == nullptr || to_bytes < image.size()) return image.size();
    std::memcpy(to, image.data(), image.size());
    compact::seal_image(std::span(to, image.size()));
    return image.size();
  }

  [[nodiscard]] bool is_rebuilding() const override { return rebuild_ != nullptr; }
  roost_map_rebuild* begin_rebuild(const MapPlan* plan) override {
    auto begun = std::make_unique<Rebuild>();
    begun->held.emplace(
        map_.begin_rebuild(plan != nullptr ? Keys::config(*plan) : map_.builder().config()));
    rebuild_ = std::move(begun);
    return rebuild_.get();
  }
  Failed adopt() override {
    if (rebuild_ == nullptr)
      return Failure{ROOST_INVALID, "no rebuild has been begun; roost_map_begin_rebuild() does"};
    const std::unique_ptr<Rebuild> done = std::move(rebuild_);
    if (done->state != Rebuild::State::kRun) map_.give_up(done->work());
    if (done->state == Rebuild::State::kBegun) {
      return Failure{ROOST_INVALID,
                     "the rebuild has not been run and is given up; call roost_map_rebuild_run() "
                     "before"};
    }
    if (done->state == Rebuild::State::kNoMemory) return Failure{ROOST_NO_MEMORY, kNoMemoryForKeys};
    const auto refused = map_.adopt(std::move(done->work()));
    if (refused) return failure_of(*refused);
    return {};
  }
  void give_up() override {
    if (rebuild_ == nullptr) return;
    map_.give_up(rebuild_->work());
    rebuild_.reset();
  }
  size_t free_retired() override { return map_.free_retired(); }

  [[nodiscard]] std::unique_ptr<roost_map_reader> reader() override {
    return std::make_unique<SizedMapReader<Keys>>(form_, map_.reader());
  }

 private:
  struct Rebuild final : roost_map_rebuild {
    enum class State : uint8_t { kBegun, kRun, kNoMemory };

    void run() override try {
      work().run();
      state = State::kRun;
    } catch (const std::bad_alloc&) {
      state = State::kNoMemory;
    }

    [[nodiscard]] typename Map::Rebuild& work() {
      ROOST_ASSERT(held.has_value());
      return *held;
    }

    std::optional<typename Map::Rebuild> held;
    State state = State::kBegun;
  };

  SizedMap(const MapPlan& plan, Builder builder)
      : roost_map(plan.key_form), form_(plan.key_form), map_(std::move(builder)) {}

  template <class Change>
  size_t change(const roost_keys& keys, uint8_t* outcomes, Change&& change) {
    using compact::ChangeOutcome;
    static_assert(int{ROOST_MAP_NOT_FOUND} == static_cast<int>(ChangeOutcome::kNotFound) &&
                  int{ROOST_MAP_EXISTING} == static_cast<int>(ChangeOutcome::kThere) &&
                  int{ROOST_MAP_TOO_WIDE} == static_cast<int>(ChangeOutcome::kTooWide) &&
                  int{ROOST_MAP_BUCKET_FULL} == static_cast<int>(ChangeOutcome::kBucketFull) &&
                  int{ROOST_MAP_NO_ROOM} == static_cast<int>(ChangeOutcome::kNoRoom));
    size_t done = 0;
    for_each_chunk(form_, keys, [&](size_t first, std::span<const Key> chunk) {
      for (size_t i = 0; i < chunk.size(); ++i) {
        const ChangeOutcome outcome = change(chunk[i], first + i);
        outcomes[first + i] = static_cast<uint8_t>(outcome);
        if (outcome == ChangeOutcome::kDone) ++done;
      }
    });
    return done;
  }

  Keys form_;
  Map map_;
  std::unique_ptr<Rebuild> rebuild_;
};

template <class Keys>
MapClass class_of_map() {
  return {.create = SizedMap<Keys>::create, .open = SizedMap<Keys>::open};
}

template <size_t kPaddedBytes>
MapClass line_map_class() {
  return class_of_map<LineKeys<kPaddedBytes>>();
}

}  // namespace roost::capi
