#include "targets/xdp/kernel_calls.h"

#include <bpf/bpf.h>
#include <net/if.h>
#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>
#include <vector>

#include "roost/base/assert.h"

namespace roost::xdp {
namespace {

thread_local std::string kept_lines;

int keep_line(enum libbpf_print_level level, const char* format, va_list arguments) {
  if (level == LIBBPF_DEBUG) return 0;
  std::array<char, 1024> line{};
  const int size = std::vsnprintf(line.data(), line.size(), format, arguments);
  kept_lines += line.data();
  return size;
}

}  // namespace

Error kernel_error(const std::string& what, int code) {
  code = std::abs(code);
  std::string text = what + ": " + std::generic_category().message(code);
  if (code == EPERM || code == EACCES)
    text += "; it takes root, or CAP_BPF and CAP_NET_ADMIN, and a kernel that allows BPF";
  return Error{std::move(text)};
}

QuietLibbpf::QuietLibbpf() : before_(libbpf_set_print(keep_line)) { kept_lines.clear(); }
QuietLibbpf::~QuietLibbpf() { libbpf_set_print(before_); }

std::string QuietLibbpf::said() {
  constexpr size_t kLettersMax = 1'500;
  if (kept_lines.size() <= kLettersMax) return kept_lines;
  return kept_lines.substr(kept_lines.find('\n', kept_lines.size() - kLettersMax) + 1);
}

bpf_map* map_named(const Object& object, const char* name) {
  bpf_map* const map = bpf_object__find_map_by_name(object.get(), name);
  ROOST_ASSERT(map != nullptr);
  return map;
}

Result<MappedArray> MappedArray::map(int array, size_t bytes, bool is_writable) {
  const int protection = PROT_READ | (is_writable ? PROT_WRITE : 0);
  void* const memory = ::mmap(nullptr, bytes, protection, MAP_SHARED, array, 0);
  if (memory == MAP_FAILED) return kernel_error("the array of lines cannot be mapped", errno);
  return MappedArray({static_cast<std::byte*>(memory), bytes});
}

MappedArray::MappedArray(MappedArray&& from) noexcept : bytes_(std::exchange(from.bytes_, {})) {}
MappedArray& MappedArray::operator=(MappedArray&& from) noexcept {
  std::swap(bytes_, from.bytes_);
  return *this;
}
MappedArray::~MappedArray() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

Result<XdpCounts> read_counts(int counts) {
  const int processors = libbpf_num_possible_cpus();
  if (processors <= 0) return kernel_error("processors cannot be counted", processors);
  std::vector<uint64_t> by_processor(static_cast<size_t>(processors));
  XdpCounts sums{};
  for (uint32_t verdict = 0; verdict < kXdpVerdicts; ++verdict) {
    const int error = bpf_map_lookup_elem(counts, &verdict, by_processor.data());
    if (error != 0) return kernel_error("the counts cannot be read", error);
    for (const uint64_t count : by_processor) sums[verdict] += count;
  }
  return sums;
}

Result<unsigned> interface_index(const std::string& interface) {
  const unsigned index = if_nametoindex(interface.c_str());
  if (index == 0) return Error{"there is no interface " + interface + " in this network namespace"};
  return index;
}

}  // namespace roost::xdp
