#include "bindings/python/src/table.h"

#include <limits>
#include <utility>

#include <nanobind/ndarray.h>

namespace nb = nanobind;

namespace roost::python {
namespace {

// An array of the log's rows, which keeps them alive.
ArrayObject array_of(std::vector<std::byte> rows, size_t row_count, size_t row_bytes) {
  auto owned = std::make_unique<std::vector<std::byte>>(std::move(rows));
  auto* data = reinterpret_cast<uint8_t*>(owned->data());
  nb::capsule owner(owned.get(), [](void* bytes) noexcept {
    delete static_cast<std::vector<std::byte>*>(bytes);
  });
  static_cast<void>(owned.release());  // the capsule's now
  using Array = nb::ndarray<nb::numpy, uint8_t, nb::ndim<2>>;
  return nb::borrow<ArrayObject>(nb::cast(Array(data, {row_count, row_bytes}, owner)));
}

std::string where(const roost_violation& violation) {
  return "invariant " + std::to_string(violation.invariant) + ", bucket " +
         std::to_string(violation.bucket) + ", slot " + std::to_string(violation.slot) + ": " +
         static_cast<const char*>(violation.text);
}

uint32_t layout_of(const std::string& name) {
  if (name == "automatic") return ROOST_LAYOUT_AUTOMATIC;
  if (name == "split") return ROOST_LAYOUT_SPLIT;
  if (name == "inline") return ROOST_LAYOUT_INLINE;
  if (name == "packed") return ROOST_LAYOUT_PACKED;
  raise(PyExc_ValueError,
        "layout is \"" + name + "\"; it is \"automatic\", \"split\", \"inline\" or \"packed\"");
}

}  // namespace

Table::Table(const Wishes& wishes)
    : wishes_(wishes), log_{wishes.key_bytes, wishes.value_bytes, {}, {}} {
  roost_config config;
  roost_config_init(&config, sizeof(config));
  config.key_bytes = wishes.key_bytes;
  config.value_bytes = wishes.value_bytes;
  config.capacity = wishes.capacity;
  config.entries_max = wishes.entries_max;
  config.expires = wishes.expiry;
  config.layout = layout_of(wishes.layout);
  config.key_bits = wishes.key_bits;
  config.has_hash_seed = wishes.seed.has_value();
  config.hash_seed = wishes.seed.value_or(0);
  if (wishes.expiry_log) {
    config.on_expiry = ExpiryLog::add;
    config.on_expiry_context = &log_;
  }
  roost_table* table = nullptr;
  char error[512];
  const roost_status status = roost_table_create(&config, &table, error, sizeof(error));
  if (status != ROOST_OK)
    raise(status == ROOST_NO_MEMORY ? PyExc_MemoryError : PyExc_ValueError, error);
  table_.reset(table);
}

template <class Work>
auto Table::use(Work&& work) {
  const nb::gil_scoped_release others_run;
  const std::lock_guard lock(mutex_);
  return work(table_.get());
}

template <class Work>
uint64_t Table::use_with_log(Work&& work) {
  const auto [count, lost] = use([&](roost_table* table) {
    const uint64_t done = work(table);
    return std::pair(done, std::exchange(log_.lost, 0));
  });
  if (lost != 0) {
    raise(PyExc_MemoryError,
          "the expiry log had no memory for " + std::to_string(lost) +
              " entries, which are gone; the call is done otherwise. take_expired() more often");
  }
  return count;
}

Buffer Table::keys_of(const ArrayObject& keys) const {
  Buffer buffer(keys, "keys", Access::kRead);
  buffer.require_no_floats();
  buffer.require_row_bytes(wishes_.key_bytes);
  return buffer;
}

roost_keys Table::lanes(const Buffer& keys, size_t first, size_t count) const {
  roost_keys lanes{};
  lanes.keys = keys.data() + first * wishes_.key_bytes;
  lanes.count = count;
  return lanes;
}

template <class Look>
ArrayObject Table::look_up(const Buffer& keys, const ArrayObject& hits, Look&& look) {
  Hits found(hits, "hits", keys.rows());
  use([&](roost_table* table) {
    found.fill([&](size_t first, size_t count, uint64_t* words) {
      const roost_keys batch = lanes(keys, first, count);
      look(table, batch, first, words);
    });
  });
  return found.array();
}

ArrayPair Table::lookup(const ArrayObject& keys, const ArrayObject& out, const ArrayObject& hits) {
  const Buffer buffer = keys_of(keys);
  const Rows values(out, "out", buffer.rows(), wishes_.value_bytes);
  const auto copy_out = [&](roost_table* table, const roost_keys& batch, size_t first,
                            uint64_t* words) {
    std::byte* to = values.buffer.data() + first * wishes_.value_bytes;
    roost_table_lookup(table, &batch, to, words);
  };
  return ArrayPair(nb::make_tuple(values.array, look_up(buffer, hits, copy_out)));
}

ArrayObject Table::contains(const ArrayObject& keys, const ArrayObject& hits) {
  return look_up(keys_of(keys), hits,
                 [](roost_table* table, const roost_keys& batch, size_t, uint64_t* words) {
                   roost_table_lookup(table, &batch, nullptr, words);
                 });
}

ArrayObject Table::refresh(const ArrayObject& keys, const TimeoutsObject& timeouts,
                           const ArrayObject& hits) {
  const Buffer buffer = keys_of(keys);
  const Timeouts lives(timeouts, buffer.rows(), wishes_.expiry);
  return look_up(buffer, hits,
                 [&](roost_table* table, const roost_keys& batch, size_t first, uint64_t* words) {
                   const roost_timeouts ticks = lives.from(first);
                   roost_table_lookup_refresh(table, &batch, &ticks, nullptr, words);
                 });
}

ArrayObject Table::erase(const ArrayObject& keys, const ArrayObject& hits) {
  return look_up(keys_of(keys), hits,
                 [](roost_table* table, const roost_keys& batch, size_t, uint64_t* words) {
                   roost_table_erase(table, &batch, words);
                 });
}

template <class Put>
ArrayObject Table::put(const ArrayObject& keys, const ArrayObject& values, Access access,
                       const TimeoutsObject& timeouts, const ArrayObject& outcomes, Put&& put) {
  const Buffer lane_keys = keys_of(keys);
  const size_t count = lane_keys.rows();
  std::optional<Buffer> lane_values;
  if (!values.is_none()) {
    lane_values.emplace(values, "values", access);
    lane_values->require_row_bytes(wishes_.value_bytes);
    lane_values->require_rows(count);
  } else if (wishes_.value_bytes != 0) {
    raise(PyExc_ValueError, "values: none, and this table's have " +
                                std::to_string(wishes_.value_bytes) + " bytes; give one row a key");
  }
  const Timeouts lives(timeouts, count, wishes_.expiry);
  const Rows became(outcomes, "outcomes", count);
  const roost_keys batch = lanes(lane_keys, 0, count);
  const roost_timeouts ticks = lives.from(0);
  use_with_log([&](roost_table* table) {
    return put(table, &batch, lane_values ? lane_values->data() : nullptr, &ticks,
               reinterpret_cast<uint8_t*>(became.buffer.data()));
  });
  return became.array;
}

ArrayObject Table::insert(const ArrayObject& keys, const ArrayObject& values,
                          const TimeoutsObject& timeouts, const ArrayObject& outcomes) {
  return put(keys, values, Access::kRead, timeouts, outcomes, roost_table_insert);
}

ArrayObject Table::upsert(const ArrayObject& keys, const ArrayObject& values,
                          const TimeoutsObject& timeouts, const ArrayObject& outcomes) {
  return put(keys, values, Access::kWrite, timeouts, outcomes, roost_table_upsert);
}

void Table::clear() { use(roost_table_clear); }

bool Table::scan(roost_cursor& cursor, size_t max, uint64_t bucket_budget, ArrayPair& entries) {
  const Rows keys({}, "keys", max, wishes_.key_bytes);
  const Rows values({}, "values", max, wishes_.value_bytes);
  size_t count = 0;
  const int goes_on = use([&](roost_table* table) {
    return roost_table_scan_part(table, &cursor, keys.buffer.data(), values.buffer.data(), max,
                                 bucket_budget, &count);
  });
  const nb::slice filled(nb::int_(0), nb::int_(count), nb::none());
  entries = ArrayPair(nb::make_tuple(keys.array[filled], values.array[filled]));
  return goes_on != 0;
}

void Table::advance(uint64_t now) {
  const auto [status, then] = use([&](roost_table* table) {
    const roost_status advanced = roost_table_advance(table, now);
    return std::pair(advanced, roost_table_now(table));
  });
  if (status == ROOST_TIME_BACKWARDS) {
    raise(PyExc_ValueError, "now: " + std::to_string(now) + " lies before the table's " +
                                std::to_string(then) + ", and time may not run backwards");
  }
  if (status == ROOST_SCAN_OVERDUE &&
      PyErr_WarnEx(PyExc_RuntimeWarning,
                   "the time is past scan_deadline: entries that expired long ago may be found "
                   "again; "
                   "maintain() every bucket between advances",
                   1) != 0) {
    throw nb::python_error();
  }
}

uint64_t Table::now() { return use(roost_table_now); }

uint64_t Table::maintain(std::optional<uint64_t> bucket_budget) {
  return use_with_log([&](roost_table* table) {
    return roost_table_maintain(table,
                                bucket_budget.value_or(std::numeric_limits<uint64_t>::max()));
  });
}

uint64_t Table::scan_deadline() { return use(roost_table_scan_deadline); }

ArrayPair Table::take_expired() {
  if (!wishes_.expiry_log) {
    raise(PyExc_ValueError,
          "this table keeps no log of expired entries; create it with expiry_log=True");
  }
  auto [keys, values] = use([&](roost_table*) {
    return std::pair(std::exchange(log_.keys, {}), std::exchange(log_.values, {}));
  });
  const size_t count = keys.size() / wishes_.key_bytes;
  return ArrayPair(nb::make_tuple(array_of(std::move(keys), count, wishes_.key_bytes),
                                  array_of(std::move(values), count, wishes_.value_bytes)));
}

roost_info Table::info() {
  roost_info info{};
  info.size = sizeof(info);
  use([&](roost_table* table) { return roost_table_info(table, &info); });
  return info;
}

roost_stats Table::stats() {
  roost_stats stats{};
  stats.size = sizeof(stats);
  use([&](roost_table* table) { return roost_table_stats(table, &stats); });
  return stats;
}

std::array<uint64_t, ROOST_OCCUPANCY_FIELDS> Table::occupancy() {
  std::array<uint64_t, ROOST_OCCUPANCY_FIELDS> buckets{};
  use([&](roost_table* table) { roost_table_occupancy(table, buckets.data()); });
  return buckets;
}

void Table::audit() {
  roost_violation violation{};
  violation.size = sizeof(violation);
  const roost_status status =
      use([&](roost_table* table) { return roost_table_audit(table, &violation); });
  if (status == ROOST_NO_MEMORY) {
    raise(PyExc_MemoryError, "no memory to audit with; it takes 24 bytes a bucket");
  }
  if (status == ROOST_BROKEN) raise(PyExc_RuntimeError, where(violation));
}

std::string Table::dump_bucket(uint64_t bucket) {
  const uint64_t bucket_count = info().bucket_count;
  if (bucket >= bucket_count) {
    raise(PyExc_IndexError, "bucket: there is no " + std::to_string(bucket) + "; the last one is " +
                                std::to_string(bucket_count - 1));
  }
  return use([&](roost_table* table) {
    std::string text(roost_table_dump_bucket(table, bucket, nullptr, 0), '\0');
    roost_table_dump_bucket(table, bucket, text.data(), text.size() + 1);
    return text;
  });
}

}  // namespace roost::python
