#include "sim/memory_trace.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <unordered_map>

#include "sim/simulated_memory.h"

namespace roost::sim {

namespace {

// Of what lackey prints; an instruction's own fetch has them too.
struct Fetched {
  char kind = 0;
  uint64_t address = 0;
  uint64_t bytes = 0;
};

constexpr uint64_t kAccessBytesMax = 4096;  // more than any instruction accesses

std::optional<Fetched> parse_line(std::string_view line) {
  Fetched fetched;
  const size_t kind_at = line.starts_with("I  ") ? 0 : 1;
  constexpr size_t kAddressAt = 3;
  if (line.size() <= kAddressAt || (kind_at == 1 && line[0] != ' ') || line[2] != ' ') return {};
  fetched.kind = line[kind_at];
  if (kind_at == 1 && fetched.kind != 'L' && fetched.kind != 'S' && fetched.kind != 'M') return {};
  const char* const end = line.data() + line.size();
  const auto [comma, wrong] = std::from_chars(line.data() + kAddressAt, end, fetched.address, 16);
  if (wrong != std::errc() || comma == end || *comma != ',') return {};
  const auto [rest, also_wrong] = std::from_chars(comma + 1, end, fetched.bytes);
  if (also_wrong != std::errc() || rest != end) return {};
  if (fetched.bytes == 0 || fetched.bytes > kAccessBytesMax) return {};
  return fetched;
}

class TraceBuilder {
 public:
  void add(const Fetched& fetched) {
    if (fetched.kind == 'I') {
      if (has_own_) ++before_;  // the one before accesses nothing
      has_own_ = true;
      has_begun_ = true;
      ++trace_.instructions;
      return;
    }
    if (!has_begun_) return;
    if (fetched.kind != 'S') put(fetched, false);
    if (fetched.kind != 'L') put(fetched, true);
  }

  MemoryTrace take() && {
    if (has_own_) ++before_;
    if (before_ != 0) trace_.accesses.push_back({.before = before_});
    trace_.pages = pages_.size();
    return std::move(trace_);
  }

 private:
  void put(Fetched left, bool is_store) {
    while (left.bytes != 0) {
      const uint64_t in_page = left.address % kTracePageBytes;
      const uint64_t bytes = std::min({left.bytes, kLineBytes, kTracePageBytes - in_page});
      trace_.accesses.push_back({.address = place_of(left.address / kTracePageBytes) + in_page,
                                 .before = before_,
                                 .bytes = static_cast<uint8_t>(bytes),
                                 .is_store = is_store,
                                 .is_first = has_own_});
      ++(is_store ? trace_.stores : trace_.loads);
      before_ = 0;
      has_own_ = false;
      left.address += bytes;
      left.bytes -= bytes;
    }
  }

  uint64_t place_of(uint64_t page) {
    const auto number = pages_.try_emplace(page, pages_.size()).first->second;
    return kTracePagesAddress + number * kTracePageBytes;
  }

  MemoryTrace trace_;
  std::unordered_map<uint64_t, uint64_t> pages_;  // by the program's number of a page
  uint32_t before_ = 0;
  bool has_begun_ = false;
  bool has_own_ = false;  // an instruction that has not accessed anything so far
};

}  // namespace

Result<MemoryTrace> parse_memory_trace(std::string_view text) {
  TraceBuilder builder;
  for (uint64_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.empty() || line.starts_with("==")) continue;
    const auto fetched = parse_line(line);
    if (!fetched) {
      return Error{"line " + std::to_string(number) + ": \"" + std::string(line.substr(0, 40)) +
                   "\" is none of valgrind --tool=lackey --trace-mem=yes"};
    }
    builder.add(*fetched);
  }
  MemoryTrace trace = std::move(builder).take();
  if (trace.loads + trace.stores == 0)
    return Error{
        "no instruction of it accesses memory; write one by valgrind --tool=lackey "
        "--trace-mem=yes --log-file=FILE PROGRAM"};
  return trace;
}

}  // namespace roost::sim
