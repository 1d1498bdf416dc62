// Ports that connections are bound to, as `fullnat` and NAT do: addresses of our own with a range
// of ports each, from which servers are addressed, and the client behind each binding.
//
// An address belongs to one worker, so that the address alone gives a packet's owner: a fragment or
// an ICMP error may have no port.
//
// A port serves one connection for each server. Which ones are taken is known by the table of
// replies alone: ports are taken in turn, so that one comes back as late as possible, and where the
// turn falls on one that is taken, candidates spread evenly over all of them follow.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "roost/base/assert.h"
#include "roost/base/result.h"
#include "roost/memory/arena.h"
#include "roost/net/flow_key.h"

namespace roost::conntrack {

// Which port a connection is bound to.
struct BoundPort {
  uint16_t address = 0;  // index
  uint16_t port = 0;
};

template <class Address>
class BindablePorts {
 public:
  using Endpoint = net::Endpoint<Address>;

  // Two pools of addresses: some servers can be addressed from those of one only.
  static constexpr size_t kPools = 2;

  struct Config {
    std::vector<Address> addresses{};  // of all workers, at most 65,536; none: nothing is bound
    std::vector<Address> second_addresses{};  // those of the second pool, likewise
    uint16_t first_port = 1'024;
    uint16_t last_port = 65'535;
    size_t worker = 0;  // their owner: of n workers, each has every n-th address of a pool
    size_t worker_count = 1;
  };

  explicit BindablePorts(Config config)
      : config_(std::move(config)),
        pools_{make_pool(config_.addresses), make_pool(config_.second_addresses)} {
    std::ranges::sort(sorted_);
  }

  // The worker that the address belongs to, if it is one of these. O(log addresses).
  [[nodiscard]] std::optional<size_t> worker_of(const Address& address) const {
    const auto place = std::ranges::lower_bound(sorted_, address, {}, &Sorted::first);
    if (place == sorted_.end() || place->first != address) return {};
    return place->second;
  }
  // Whether there is a second pool.
  [[nodiscard]] bool has_second() const { return !config_.second_addresses.empty(); }

  // The worker's own of a pool.
  [[nodiscard]] uint64_t count(size_t pool) const { return pools_[pool].count; }
  [[nodiscard]] Endpoint endpoint(BoundPort bound) const {
    return {addresses_[bound.address], bound.port};
  }
  // The candidates of a turn, all different while `candidate` is below count().
  [[nodiscard]] BoundPort candidate(size_t pool, uint64_t turn, uint64_t candidate) const {
    const Pool& from = pools_[pool];
    const uint64_t position = (turn + candidate * from.stride) % from.count;
    return {from.own[position % from.own.size()],
            static_cast<uint16_t>(config_.first_port + position / from.own.size())};
  }

 private:
  using Sorted = std::pair<Address, size_t>;
  struct Pool {
    std::vector<uint16_t> own;  // indices
    uint64_t count = 0;         // of ports
    uint64_t stride = 1;        // from candidate to candidate
  };

  // Behind the pools before.
  Pool make_pool(const std::vector<Address>& addresses) {
    Pool pool;
    for (size_t i = 0; i < addresses.size(); ++i) {
      const size_t worker = i % config_.worker_count;
      if (worker == config_.worker) pool.own.push_back(static_cast<uint16_t>(addresses_.size()));
      sorted_.emplace_back(addresses[i], worker);
      addresses_.push_back(addresses[i]);
    }
    pool.count = pool.own.size() * (size_t{config_.last_port} - config_.first_port + 1);
    // About the golden section of all, so that any stretch of candidates lies spread.
    pool.stride = pool.count * 618 / 1'000 + 1;
    while (std::gcd(pool.stride, pool.count) > 1) ++pool.stride;
    return pool;
  }

  Config config_;
  std::vector<Address> addresses_;  // by index: of the first pool, then of the second
  std::vector<Sorted> sorted_;      // every address and its worker
  std::array<Pool, kPools> pools_;
};

// The client behind a bound port.
template <class Address>
struct PortBinding {
  net::Endpoint<Address> client{};
  uint16_t owner = 0;  // what else the reply rule needs to know
  uint32_t note = 0;   // the function's own
};
static_assert(sizeof(PortBinding<net::Ipv4Address>) == 12 &&
                  sizeof(PortBinding<net::Ipv6Address>) == 24,
              "the note stands where alignment left room");

// What stands before the bindings in memory.
struct BindingsHeader {
  static constexpr std::array<char, 8> kMagic = {'R', 'o', 'o', 's', 't', 'B', 'n', 'd'};
  static constexpr uint32_t kVersion = 2;

  std::array<char, 8> magic = kMagic;
  uint32_t version = kVersion;
  uint32_t binding_bytes = 0;
  uint64_t capacity = 0;
  uint64_t taken = 0;
  uint32_t first_free = 0;
  std::array<uint32_t, 7> unused{};

  // The same memory, whatever is taken of it.
  [[nodiscard]] bool is_like(const BindingsHeader& other) const {
    return magic == other.magic && version == other.version &&
           binding_bytes == other.binding_bytes && capacity == other.capacity;
  }
};
static_assert(sizeof(BindingsHeader) == 64, "bindings begin with a cache line");

// A fixed number of bindings; one worker uses it. Constant time. Nothing in its memory is a
// pointer, so that another process can adopt it.
template <class Address>
class PortBindingPool {
 public:
  using Binding = PortBinding<Address>;
  static_assert(std::is_trivially_copyable_v<Binding>);

  // With all of them free, in this memory, or in its own if none is given. Without any it needs no
  // memory.
  [[nodiscard]] static Result<PortBindingPool> create(uint64_t capacity,
                                                      std::span<std::byte> memory = {}) {
    ROOST_ASSERT(capacity < kNone);
    if (capacity == 0) return PortBindingPool();
    auto arena = memory.empty() ? Arena::map(bytes_for(capacity)) : Arena::borrow(memory);
    if (!arena) return arena.error();
    if (arena.value().bytes() < bytes_for(capacity)) {
      return Error{"the memory lent to port bindings is too small; lend more"};
    }
    PortBindingPool pool(std::move(arena).value());
    pool.header() = header_of(capacity);
    for (uint64_t i = 0; i < capacity; ++i) {
      pool.bindings()[i] = {.note = i + 1 < capacity ? static_cast<uint32_t>(i + 1) : kNone};
    }
    return pool;
  }
  // As they are in this memory. Refused: memory of something else, or of other bindings.
  [[nodiscard]] static Result<PortBindingPool> adopt(uint64_t capacity,
                                                     std::span<std::byte> memory) {
    if (capacity == 0) return PortBindingPool();
    auto arena = Arena::borrow(memory);
    if (!arena) return arena.error();
    PortBindingPool pool(std::move(arena).value());
    if (memory.size() < bytes_for(capacity) || !pool.header().is_like(header_of(capacity))) {
      return Error{"the memory holds no port bindings of this kind and number; begin anew"};
    }
    return pool;
  }

  // There must be one left.
  [[nodiscard]] uint32_t take(const Binding& binding) {
    const uint32_t index = header().first_free;
    ROOST_ASSERT(index != kNone);
    header().first_free = bindings()[index].note;
    bindings()[index] = binding;
    ++header().taken;
    return index;
  }
  void give_back(uint32_t index) {
    bindings()[index] = {.note = header().first_free};
    header().first_free = index;
    --header().taken;
  }

  [[nodiscard]] const Binding& operator[](uint32_t index) const { return bindings()[index]; }
  [[nodiscard]] uint32_t& note(uint32_t index) { return bindings()[index].note; }
  [[nodiscard]] uint64_t capacity() const { return data_ == nullptr ? 0 : header().capacity; }
  [[nodiscard]] uint64_t taken() const { return data_ == nullptr ? 0 : header().taken; }
  [[nodiscard]] uint64_t memory_bytes() const { return bytes_for(capacity()); }
  [[nodiscard]] static uint64_t bytes_for(uint64_t capacity) {
    return capacity == 0 ? 0 : sizeof(BindingsHeader) + capacity * sizeof(Binding);
  }

  // Whether each binding is one of `taken` or free, and none both or twice; each of `taken` must be
  // below capacity(). Linear in the capacity; allocates.
  [[nodiscard]] bool audit(std::span<const uint32_t> taken) const {
    if (taken.size() != this->taken()) return false;
    std::vector<bool> is_seen(capacity());
    uint64_t seen = 0;
    const auto see = [&](uint32_t index) {
      if (index >= is_seen.size() || is_seen[index]) return false;
      ++seen;
      is_seen[index] = true;
      return true;
    };
    for (const uint32_t index : taken) {
      if (!see(index)) return false;
    }
    for (uint32_t free = data_ == nullptr ? kNone : header().first_free; free != kNone;) {
      if (!see(free)) return false;
      free = bindings()[free].note;
    }
    return seen == capacity();
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  PortBindingPool() = default;
  explicit PortBindingPool(Arena arena) : arena_(std::move(arena)), data_(arena_->data()) {}

  static BindingsHeader header_of(uint64_t capacity) {
    return {.binding_bytes = sizeof(Binding), .capacity = capacity};
  }
  [[nodiscard]] BindingsHeader& header() const { return *reinterpret_cast<BindingsHeader*>(data_); }
  // Of a free one, `note` is the next free one.
  [[nodiscard]] Binding* bindings() const {
    return reinterpret_cast<Binding*>(data_ + sizeof(BindingsHeader));
  }

  std::optional<Arena> arena_;  // none without capacity
  std::byte* data_ = nullptr;   // the arena's
};

}  // namespace roost::conntrack
