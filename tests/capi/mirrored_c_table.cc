#include "tests/capi/mirrored_c_table.h"

#include "tests/table/numbered_bytes.h"

namespace roost {

namespace {

roost_keys contiguous(MirroredTable::Keys keys) {
  roost_keys lanes{};
  lanes.keys = keys.bytes;
  lanes.count = keys.count;
  return lanes;
}

void on_expiry(void* table, const void* key, const void* value) {
  static_cast<MirroredCTable*>(table)->on_eviction(static_cast<const std::byte*>(key),
                                                   static_cast<const std::byte*>(value));
}

}  // namespace

MirroredCTable::MirroredCTable(EntrySizes sizes, uint64_t capacity, Isa isa) : sizes_(sizes) {
  roost_config config = c_config(static_cast<uint32_t>(sizes.key_bytes),
                                 static_cast<uint32_t>(sizes.value_bytes), capacity);
  config.layout = ROOST_LAYOUT_AUTOMATIC;
  config.expires = sizes.expires;
  if (sizes.expires) {
    config.on_expiry = on_expiry;
    config.on_expiry_context = this;
  }
  config.has_hash_seed = true;
  config.hash_seed = 7;
  config.kernel = isa_name(isa).data();
  table_ = c_create(config).value();
}

void MirroredCTable::write_key(uint64_t number, std::byte* key) const {
  write_numbered_key(number, {key, sizes_.key_bytes});
}

void MirroredCTable::write_value(uint64_t number, std::byte* value) const {
  write_numbered_value(number, {value, sizes_.value_bytes});
}

size_t MirroredCTable::lookup(KeyForm form, Keys keys, std::byte* values, HitWords hits) {
  roost_keys lanes = contiguous(keys);
  std::vector<const void*> pointers;
  std::vector<uint64_t> hashes(keys.count);
  if (form == KeyForm::kPointers) {
    for (size_t lane = 0; lane < keys.count; ++lane)
      pointers.push_back(keys.bytes + lane * sizes_.key_bytes);
    lanes.keys = nullptr;
    lanes.pointers = pointers.data();
  }
  if (form == KeyForm::kHashed) {
    roost_table_hash(table_.get(), &lanes, hashes.data());
    lanes.hashes = hashes.data();
  }
  return answered(keys.count, hits, [&](uint64_t* words) {
    return roost_table_lookup(table_.get(), &lanes, values_of(values), words);
  });
}

size_t MirroredCTable::lookup_refresh(Keys keys, TickCount timeout, std::byte* values,
                                      HitWords hits) {
  const roost_keys lanes = contiguous(keys);
  const roost_timeouts timeouts = {nullptr, timeout};
  return answered(keys.count, hits, [&](uint64_t* words) {
    return roost_table_lookup_refresh(table_.get(), &lanes, &timeouts, values_of(values), words);
  });
}

size_t MirroredCTable::find(Keys keys, std::byte** found, HitWords hits) {
  const roost_keys lanes = contiguous(keys);
  return answered(keys.count, hits, [&](uint64_t* words) {
    return roost_table_find(table_.get(), &lanes, reinterpret_cast<void**>(found), words);
  });
}

void MirroredCTable::refresh(const std::byte* found, TickCount timeout) {
  roost_table_refresh(table_.get(), found, timeout);
}

TickCount MirroredCTable::ticks_left(const std::byte* found) const {
  return roost_table_ticks_left(table_.get(), found);
}

void MirroredCTable::start(Keys keys) {
  const roost_keys lanes = contiguous(keys);
  roost_table_start(table_.get(), &lanes, &flight_);
  started_count_ = keys.count;
}

size_t MirroredCTable::lookup_and_start(std::byte* values, HitWords hits, Keys next_keys) {
  const roost_keys next = contiguous(next_keys);
  const size_t count = started_count_;
  started_count_ = next_keys.count;
  return answered(count, hits, [&](uint64_t* words) {
    return roost_table_lookup_and_start(table_.get(), &flight_, values_of(values), words, &next);
  });
}

size_t MirroredCTable::lookup_started(std::byte* values, HitWords hits) {
  roost_keys lanes{};
  lanes.flight = &flight_;
  return answered(started_count_, hits, [&](uint64_t* words) {
    return roost_table_lookup(table_.get(), &lanes, values_of(values), words);
  });
}

size_t MirroredCTable::insert(Keys keys, const std::byte* values,
                              std::vector<InsertOutcome>& outcomes,
                              const std::vector<TickCount>& timeouts) {
  const roost_keys lanes = contiguous(keys);
  const roost_timeouts each = {timeouts.data(), 0};
  return roost_table_insert(table_.get(), &lanes, sizes_.value_bytes == 0 ? nullptr : values, &each,
                            reinterpret_cast<uint8_t*>(outcomes.data()));
}

size_t MirroredCTable::upsert(Keys keys, std::byte* values, std::vector<InsertOutcome>& outcomes,
                              const std::vector<TickCount>& timeouts) {
  const roost_keys lanes = contiguous(keys);
  const roost_timeouts each = {timeouts.data(), 0};
  return roost_table_upsert(table_.get(), &lanes, values_of(values), &each,
                            reinterpret_cast<uint8_t*>(outcomes.data()));
}

size_t MirroredCTable::erase(Keys keys, HitWords erased) {
  const roost_keys lanes = contiguous(keys);
  return answered(keys.count, erased,
                  [&](uint64_t* words) { return roost_table_erase(table_.get(), &lanes, words); });
}

void MirroredCTable::clear() { roost_table_clear(table_.get()); }

// By the cursor, a few entries a call.
void MirroredCTable::for_each(const Visit& visit) {
  constexpr size_t kMax = 7;
  std::vector<std::byte> keys(kMax * sizes_.key_bytes);
  std::vector<std::byte> values(kMax * sizes_.value_bytes);
  roost_cursor cursor = {0};
  while (const size_t count =
             roost_table_scan(table_.get(), &cursor, keys.data(), values_of(values.data()), kMax)) {
    for (size_t i = 0; i < count; ++i)
      visit(keys.data() + i * sizes_.key_bytes, values.data() + i * sizes_.value_bytes);
  }
}

AdvanceOutcome MirroredCTable::advance(Tick now) {
  switch (roost_table_advance(table_.get(), now.count)) {
    case ROOST_OK:
      return AdvanceOutcome::kAdvanced;
    case ROOST_TIME_BACKWARDS:
      return AdvanceOutcome::kBackwards;
    default:
      return AdvanceOutcome::kScanOverdue;
  }
}

uint64_t MirroredCTable::maintain(uint64_t bucket_budget) {
  return roost_table_maintain(table_.get(), bucket_budget);
}

Tick MirroredCTable::scan_deadline() const { return {roost_table_scan_deadline(table_.get())}; }

uint64_t MirroredCTable::bucket_count() const { return info().bucket_count; }

TableStats MirroredCTable::stats() const {
  roost_stats c;
  c.size = sizeof(c);
  roost_table_stats(table_.get(), &c);
  TableStats stats;
  stats.size = c.entry_count;
  stats.created = c.created;
  stats.erased = c.erased;
  stats.expired = c.expired;
  stats.refusals = c.refusals;
  for (const Isa isa : isas_built()) {
    if (isa_name(isa) == info().kernel) stats.lookups.last_kernel = isa;
  }
  return stats;
}

std::optional<Violation> MirroredCTable::audit() {
  violation_.size = sizeof(violation_);
  if (roost_table_audit(table_.get(), &violation_) == ROOST_OK) return std::nullopt;
  return Violation{violation_.invariant, BucketIndex{violation_.bucket}, violation_.slot,
                   violation_.text};
}

// Hit words come full of ones, so that a call that leaves some as they were shows.
template <class Call>
size_t MirroredCTable::answered(size_t count, HitWords hits, Call&& call) {
  std::vector<uint64_t> words(hit_word_count(count), ~uint64_t{0});
  const size_t hit_count = call(words.data());
  hits.clear(count);
  for (size_t lane = 0; lane < 64 * words.size(); ++lane) {
    if (roost_is_hit(words.data(), lane)) hits.set(lane);
  }
  return hit_count;
}

std::byte* MirroredCTable::values_of(std::byte* values) const {
  return sizes_.value_bytes == 0 ? nullptr : values;
}

roost_info MirroredCTable::info() const {
  roost_info info;
  info.size = sizeof(info);
  roost_table_info(table_.get(), &info);
  return info;
}

}  // namespace roost
