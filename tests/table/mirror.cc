#include "tests/table/mirror.h"

#include <array>
#include <cstring>
#include <utility>

namespace roost {

namespace {

constexpr uint64_t kUntouched = ~uint64_t{0};

TickCount choose_timeout(const Choose& choose) {
  static constexpr std::array<TickCount, 8> kEdges = {0, 1, 2, 10, 1022, 1023, 1024, 70'000};
  return kEdges[choose(kEdges.size())];
}

}  // namespace

Mirror::Mirror(std::unique_ptr<MirroredTable> table, uint64_t key_universe)
    : table_(std::move(table)),
      sizes_(table_->sizes()),
      model_(sizes_.expires),
      key_universe_(key_universe) {
  std::vector<std::byte> bytes(sizes_.key_bytes);
  for (uint64_t number = 0; number < key_universe; ++number) {
    table_->write_key(number, bytes.data());
    number_of_key_[text_of(bytes.data())] = number;
  }
  table_->on_eviction = [this](const std::byte* key, const std::byte* value) {
    const auto number = number_of_key_.find(text_of(key));
    const bool was_owed =
        number != number_of_key_.end() &&
        model_.evict(number->second, [&](uint64_t expected) { return is_value(value, expected); });
    was_owed_ = was_owed_ && was_owed;
  };
}

std::optional<std::string_view> Mirror::step(const Choose& choose) {
  switch (choose(16)) {
    case 0:
    case 1:
    case 2:
    case 3:
      insert(choose, IfExisting::kOverwrite);
      break;
    case 4:
    case 5:
      insert(choose, IfExisting::kKeep);
      break;
    case 6:
    case 7:
      erase(choose);
      break;
    case 8:
    case 9:
      lookup(choose);
      break;
    case 10:
      find(choose);
      break;
    case 11:
      refresh(choose);
      break;
    case 12:
      split_phase(choose);
      break;
    case 13:
      advance(choose);
      break;
    case 14:
      static_cast<void>(table_->maintain(choose(64)));
      break;
    default:
      if (choose(64) == 0) clear();
      break;
  }
  if (!was_owed_) wrong_ = "the callback was called for an entry that had not expired, or twice";
  return wrong_;
}

std::optional<std::string_view> Mirror::compare_all() {
  if (const auto violation = table_->audit()) return violation->what;
  uint64_t held = 0;
  bool agree = true;
  table_->for_each([&](const std::byte* key, const std::byte* value) {
    const auto number = number_of_key_.find(text_of(key));
    const auto* entry = number == number_of_key_.end() ? nullptr : model_.find(number->second);
    agree = agree && entry != nullptr && is_value(value, entry->value);
    ++held;
  });
  if (!agree || held != model_.live_count()) return "the live entries are not those of the model";
  const TableStats stats = table_->stats();
  if (stats.created != model_.created) return "created differs from the model";
  if (stats.erased > model_.erased) return "erased differs from the model";
  if (stats.refusals != refusals_) return "refusals are not the inserts that found no place";
  if (stats.size != held + model_.owed_count()) return "the size is not live + owed entries";
  return std::nullopt;
}

std::optional<std::string_view> Mirror::settle() {
  table_->maintain(table_->bucket_count());
  if (!was_owed_) return "the callback was called for an entry that had not expired, or twice";
  if (model_.owed_count() != 0) return "an entry expired and the callback was never called";
  const TableStats stats = table_->stats();
  if (stats.created != model_.live_count() + stats.erased + stats.expired) {
    return "created is not live + erased + expired";
  }
  if (stats.erased != model_.erased) return "erased differs from the model";
  return compare_all();
}

Mirror::Batch Mirror::batch_of(std::vector<uint64_t> numbers) const {
  Batch batch{std::move(numbers), {}};
  batch.bytes.resize(batch.numbers.size() * sizes_.key_bytes);
  for (size_t lane = 0; lane < batch.numbers.size(); ++lane)
    table_->write_key(batch.numbers[lane], batch.bytes.data() + lane * sizes_.key_bytes);
  return batch;
}

Mirror::Batch Mirror::choose_keys(const Choose& choose) const {
  static constexpr std::array<size_t, 12> kSizes = {0,  1,  1,  2,  3,   31,
                                                    32, 33, 64, 65, 100, kLanesMax};
  std::vector<uint64_t> numbers(kSizes[choose(kSizes.size())]);
  for (uint64_t& number : numbers) number = choose(key_universe_);
  return batch_of(std::move(numbers));
}

std::vector<std::byte> Mirror::untouched_values(const Batch& batch) const {
  std::vector<std::byte> values(batch.numbers.size() * sizes_.value_bytes);
  for (size_t lane = 0; lane < batch.numbers.size(); ++lane)
    table_->write_value(kUntouched, values.data() + lane * sizes_.value_bytes);
  return values;
}

std::string Mirror::text_of(const std::byte* key) const {
  return {reinterpret_cast<const char*>(key), sizes_.key_bytes};
}

bool Mirror::is_value(const std::byte* value, uint64_t number) const {
  if (sizes_.value_bytes == 0) return true;
  std::vector<std::byte> expected(sizes_.value_bytes);
  table_->write_value(number, expected.data());
  return std::memcmp(value, expected.data(), expected.size()) == 0;
}

void Mirror::insert(const Choose& choose, IfExisting if_existing) {
  const Batch batch = choose_keys(choose);
  std::vector<uint64_t> numbers;
  std::vector<TickCount> timeouts;
  std::vector<std::byte> values(batch.numbers.size() * sizes_.value_bytes);
  for (size_t lane = 0; lane < batch.numbers.size(); ++lane) {
    numbers.push_back(choose(1U << 30));
    timeouts.push_back(choose_timeout(choose));
    table_->write_value(numbers[lane], values.data() + lane * sizes_.value_bytes);
  }
  std::vector<InsertOutcome> outcomes(batch.numbers.size());
  const size_t done = if_existing == IfExisting::kOverwrite
                          ? table_->insert(batch.keys(), values.data(), outcomes, timeouts)
                          : table_->upsert(batch.keys(), values.data(), outcomes, timeouts);
  size_t expected_done = 0;
  for (size_t lane = 0; lane < batch.numbers.size(); ++lane) {
    const uint64_t key = batch.numbers[lane];
    if (outcomes[lane] == InsertOutcome::kFull && model_.find(key) == nullptr) {
      ++refusals_;
      continue;
    }
    ++expected_done;
    expect_inserted(key, numbers[lane], timeouts[lane], if_existing, outcomes[lane],
                    values.data() + lane * sizes_.value_bytes);
  }
  if (done != expected_done) wrong_ = "an insert returned another count than its outcomes say";
}

void Mirror::expect_inserted(uint64_t key, uint64_t value, TickCount timeout,
                             IfExisting if_existing, InsertOutcome outcome,
                             const std::byte* in_out) {
  const auto* existing = model_.find(key);
  InsertOutcome expected = InsertOutcome::kInserted;
  if (existing) {
    expected =
        if_existing == IfExisting::kOverwrite ? InsertOutcome::kUpdated : InsertOutcome::kExisting;
  }
  if (outcome != expected) wrong_ = "an insert had another outcome than the model";
  if (expected == InsertOutcome::kExisting) {
    if (!is_value(in_out, existing->value))
      wrong_ = "an upsert returned another value than the model's";
    return;
  }
  model_.insert(key, value, timeout);
}

void Mirror::erase(const Choose& choose) {
  const Batch batch = choose_keys(choose);
  HitArray<kLanesMax> erased;
  size_t expected = 0;
  const size_t count = table_->erase(batch.keys(), erased);
  for (size_t lane = 0; lane < batch.numbers.size(); ++lane) {
    const bool was_there = model_.erase(batch.numbers[lane]);
    expected += was_there ? 1U : 0U;
    if (erased.test(lane) != was_there) wrong_ = "an erase had another outcome than the model";
  }
  if (count != expected) wrong_ = "an erase returned another count than its bits say";
}

void Mirror::check_hits(const Batch& batch, const std::vector<std::byte>& values,
                        const HitArray<kLanesMax>& hits, size_t count) {
  size_t expected = 0;
  for (size_t lane = 0; lane < batch.numbers.size(); ++lane) {
    const auto* entry = model_.find(batch.numbers[lane]);
    expected += entry ? 1U : 0U;
    if (hits.test(lane) != (entry != nullptr)) wrong_ = "a lookup's hit bit differs from the model";
    if (!is_value(values.data() + lane * sizes_.value_bytes, entry ? entry->value : kUntouched))
      wrong_ = "a lookup's value differs from the model";
  }
  if (count != expected) wrong_ = "a lookup returned another count than its bits say";
}

void Mirror::lookup(const Choose& choose) {
  const uint64_t form = choose(4);
  if (form == 3) return lookup_refresh(choose);
  const Batch batch = choose_keys(choose);
  std::vector<std::byte> values = untouched_values(batch);
  HitArray<kLanesMax> hits;
  const size_t count =
      table_->lookup(static_cast<KeyForm>(form), batch.keys(), values.data(), hits);
  check_hits(batch, values, hits, count);
}

void Mirror::lookup_refresh(const Choose& choose) {
  const Batch batch = choose_keys(choose);
  const TickCount timeout = choose_timeout(choose);
  std::vector<std::byte> values = untouched_values(batch);
  HitArray<kLanesMax> hits;
  const size_t count = table_->lookup_refresh(batch.keys(), timeout, values.data(), hits);
  check_hits(batch, values, hits, count);
  for (const uint64_t key : batch.numbers) {
    if (model_.find(key)) model_.refresh(key, timeout);
  }
}

void Mirror::find(const Choose& choose) {
  const Batch batch = choose_keys(choose);
  std::vector<std::byte*> found(batch.numbers.size(), nullptr);
  HitArray<kLanesMax> hits;
  const size_t count = table_->find(batch.keys(), found.data(), hits);
  std::vector<std::byte> values = untouched_values(batch);
  for (size_t lane = 0; lane < found.size(); ++lane) {
    if (found[lane] != nullptr && sizes_.value_bytes != 0)
      std::memcpy(values.data() + lane * sizes_.value_bytes, found[lane], sizes_.value_bytes);
  }
  check_hits(batch, values, hits, count);
}

void Mirror::refresh(const Choose& choose) {
  const uint64_t key = choose(key_universe_);
  const TickCount timeout = choose_timeout(choose);
  std::byte* found = nullptr;
  HitArray<kLanesMax> hits;
  table_->find(batch_of({key}).keys(), &found, hits);
  if ((found != nullptr) != (model_.find(key) != nullptr)) wrong_ = "find differs from the model";
  if (found == nullptr || wrong_) return;
  if (table_->ticks_left(found) != model_.ticks_left(key)) wrong_ = "ticks_left differs";
  table_->refresh(found, timeout);
  if (model_.find(key) != nullptr) model_.refresh(key, timeout);
}

void Mirror::split_phase(const Choose& choose) {
  const Batch first = choose_keys(choose);
  const Batch second = choose_keys(choose);
  HitArray<kLanesMax> hits;
  table_->start(first.keys());
  if (choose(2) == 0) insert(choose, IfExisting::kOverwrite);  // the table may change in between
  std::vector<std::byte> values = untouched_values(first);
  size_t count = table_->lookup_and_start(values.data(), hits, second.keys());
  check_hits(first, values, hits, count);
  values = untouched_values(second);
  count = table_->lookup_started(values.data(), hits);
  check_hits(second, values, hits, count);
}

void Mirror::advance(const Choose& choose) {
  static constexpr std::array<uint64_t, 8> kJumps = {0, 1, 1, 2, 5, 1023, 1024, 30'000};
  const uint64_t now = model_.now() + kJumps[choose(kJumps.size())];
  if (sizes_.expires && Tick{now} > table_->scan_deadline()) {
    while (table_->scan_deadline() < Tick{now}) table_->maintain(table_->bucket_count());
  }
  model_.advance(now);
  if (table_->advance(Tick{now}) != AdvanceOutcome::kAdvanced)
    wrong_ = "time could not be advanced";
}

void Mirror::clear() {
  table_->clear();
  model_.clear();
}

}  // namespace roost
