#include "roost/memory/arena.h"

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

namespace roost {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr int kHugeShift =
    26;  // MAP_HUGE_SHIFT: the page's log2 stands in the upper bits of the flags

constexpr std::array kOwnedKinds = {PageKind::kHuge1GiB, PageKind::kHuge2MiB,
                                    PageKind::kTransparentHuge, PageKind::kSmall};

uint64_t page_bytes(PageKind kind) {
  switch (kind) {
    case PageKind::kHuge1GiB:
      return 1024 * kMiB;
    case PageKind::kHuge2MiB:
    case PageKind::kTransparentHuge:
      return 2 * kMiB;
    case PageKind::kSmall:
    case PageKind::kBorrowed:
      break;
  }
  return static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

uint64_t round_up(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

bool rounding_is_cheap(uint64_t bytes, PageKind kind) {
  return kind == PageKind::kSmall || round_up(bytes, page_bytes(kind)) - bytes <= bytes / 8;
}

int map_flags(PageKind kind) {
  constexpr int kAnonymous = MAP_PRIVATE | MAP_ANONYMOUS;
  switch (kind) {
    case PageKind::kHuge1GiB:
      return kAnonymous | MAP_HUGETLB | (30 << kHugeShift);
    case PageKind::kHuge2MiB:
      return kAnonymous | MAP_HUGETLB | (21 << kHugeShift);
    case PageKind::kTransparentHuge:
    case PageKind::kSmall:
    case PageKind::kBorrowed:
      break;
  }
  return kAnonymous | MAP_NORESERVE;
}

std::byte* map_bytes(uint64_t bytes, int flags) {
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  return address == MAP_FAILED ? nullptr : static_cast<std::byte*>(address);
}

// A region whose start is a multiple of 2 MiB: the ends of a larger one are given back.
std::byte* map_aligned(uint64_t bytes, int flags) {
  const uint64_t unit = 2 * kMiB;
  std::byte* start = map_bytes(bytes + unit, flags);
  if (start == nullptr) return nullptr;
  const uint64_t before = (unit - reinterpret_cast<uintptr_t>(start) % unit) % unit;
  if (before != 0) munmap(start, before);
  if (before != unit) munmap(start + before + bytes, unit - before);
  return start + before;
}

std::string reason_of_errno() { return std::generic_category().message(errno); }

bool transparent_huge_pages_are_on() {
  std::ifstream setting("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string line;
  return std::getline(setting, line) && line.find("[never]") == std::string::npos;
}

}  // namespace

std::string_view page_kind_name(PageKind kind) {
  switch (kind) {
    case PageKind::kHuge1GiB:
      return "1 GiB";
    case PageKind::kHuge2MiB:
      return "2 MiB";
    case PageKind::kTransparentHuge:
      return "transparent huge";
    case PageKind::kSmall:
      return "4 KiB";
    case PageKind::kBorrowed:
      return "caller's";
  }
  return "unknown";
}

std::optional<Arena> Arena::try_map(uint64_t bytes, PageKind kind) {
  const uint64_t whole = round_up(bytes, page_bytes(kind));
  if (kind == PageKind::kTransparentHuge) {
    if (!transparent_huge_pages_are_on()) return std::nullopt;
    std::byte* data = map_aligned(whole, map_flags(kind));
    if (data == nullptr) return std::nullopt;
    if (madvise(data, whole, MADV_HUGEPAGE) != 0) {
      munmap(data, whole);
      return std::nullopt;
    }
    return Arena(data, whole, kind);
  }
  std::byte* data = map_bytes(whole, map_flags(kind));
  if (data == nullptr) return std::nullopt;
  // Where huge pages are on for every process, small pages asked for by name must stay small.
  if (kind == PageKind::kSmall) static_cast<void>(madvise(data, whole, MADV_NOHUGEPAGE));
  return Arena(data, whole, kind);
}

// Sets the policy of the pages that will stand here: from this node only. False with errno if the
// node is not there or not for this process.
bool Arena::bind_to(unsigned numa_node) const {
  // A bit a node, as many as Linux may be built for; the kernel reads one less than it is told of.
  std::array<uint64_t, 16> nodes{};
  constexpr unsigned kNodeCount = 64 * nodes.size();
  if (numa_node >= kNodeCount) {
    errno = EINVAL;
    return false;
  }
  nodes[numa_node / 64] = uint64_t{1} << (numa_node % 64);
  return syscall(SYS_mbind, data_, bytes_, MPOL_BIND, nodes.data(), kNodeCount + 1, 0) == 0;
}

// Takes every page now if they are reserved ones, which are reserved of the whole machine and not
// of a node.
bool Arena::take_reserved_pages() const {
  if (kind_ != PageKind::kHuge1GiB && kind_ != PageKind::kHuge2MiB) return true;
  if (madvise(data_, bytes_, MADV_POPULATE_WRITE) == 0) return true;
  errno = ENOMEM;  // it says EFAULT, for the signal that a touch would have given
  return false;
}

Result<Arena> Arena::map(uint64_t bytes, const ArenaOptions& options) {
  if (bytes == 0) return Error{"an arena of 0 bytes was asked for; ask for at least one"};
  if (bytes > (uint64_t{1} << 46)) {
    return Error{"an arena of " + std::to_string(bytes) +
                 " bytes is beyond the address space; ask for less"};
  }
  const std::string where =
      options.numa_node ? " of NUMA node " + std::to_string(*options.numa_node) : std::string();
  for (const PageKind kind : kOwnedKinds) {
    if (options.pages ? kind != *options.pages : !rounding_is_cheap(bytes, kind)) continue;
    std::optional<Arena> arena = try_map(bytes, kind);
    if (!arena) continue;
    if (options.numa_node && !arena->bind_to(*options.numa_node)) {
      return Error{"an arena cannot be bound to pages" + where + " (" + reason_of_errno() +
                   "); name a node of /sys/devices/system/node/has_memory that this process may "
                   "use, or none"};
    }
    if (options.numa_node && !arena->take_reserved_pages()) continue;
    return std::move(*arena);
  }
  const std::string reason = reason_of_errno();
  return Error{"no memory for an arena of " + std::to_string(bytes) + " bytes on " +
               (options.pages ? std::string(page_kind_name(*options.pages)) : std::string("any")) +
               " pages" + where + " (" + reason +
               "); reserve huge pages, allow smaller ones, or ask for less"};
}

Result<Arena> Arena::borrow(std::span<std::byte> memory) {
  if (memory.empty() || reinterpret_cast<uintptr_t>(memory.data()) % 64 != 0) {
    return Error{"the memory lent to an arena is empty or not aligned to 64 bytes; align it"};
  }
  return Arena(memory.data(), memory.size(), PageKind::kBorrowed);
}

Arena::Arena(Arena&& from) noexcept
    : data_(std::exchange(from.data_, nullptr)),
      bytes_(std::exchange(from.bytes_, 0)),
      kind_(from.kind_) {}

Arena& Arena::operator=(Arena&& from) noexcept {
  if (this != &from) {
    release();
    data_ = std::exchange(from.data_, nullptr);
    bytes_ = std::exchange(from.bytes_, 0);
    kind_ = from.kind_;
  }
  return *this;
}

Arena::~Arena() { release(); }

void Arena::release() {
  if (data_ != nullptr && kind_ != PageKind::kBorrowed) munmap(data_, bytes_);
}

}  // namespace roost
