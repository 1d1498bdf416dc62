// Calls of libbpf's whose errors are sentences, and what a loaded program is made of.
#pragma once

#include <bpf/libbpf.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "roost/base/file_descriptor.h"
#include "roost/base/result.h"
#include "targets/xdp/xdp_line_map.h"

namespace roost::xdp {

// Names of the program and its maps; the kernel has 15 letters of each.
inline constexpr const char* kProgramName = "roost_line_map";
inline constexpr const char* kLinesName = "roost_lines";
inline constexpr const char* kActionsName = "roost_actions";
inline constexpr const char* kPortsName = "roost_ports";
inline constexpr const char* kCountsName = "roost_counts";
inline constexpr const char* kSettingsName = ".rodata.settings";

// "what: why", with what to do where that is known. `code`: of errno, of either sign.
[[nodiscard]] Error kernel_error(const std::string& what, int code);

// While it lives, what libbpf would print is kept: it is the reason of an error.
class QuietLibbpf {
 public:
  QuietLibbpf();
  QuietLibbpf(const QuietLibbpf&) = delete;
  QuietLibbpf& operator=(const QuietLibbpf&) = delete;
  ~QuietLibbpf();

  // The last lines.
  [[nodiscard]] static std::string said();

 private:
  libbpf_print_fn_t before_;
};

// A program with its maps, as it was compiled.
struct CloseObject {
  void operator()(bpf_object* object) const { bpf_object__close(object); }
};
using Object = std::unique_ptr<bpf_object, CloseObject>;
// The map must be there.
[[nodiscard]] bpf_map* map_named(const Object& object, const char* name);

// The elements of an array of the kernel's in the memory of this process.
class MappedArray {
 public:
  static Result<MappedArray> map(int array, size_t bytes, bool is_writable);
  MappedArray(MappedArray&& from) noexcept;
  MappedArray& operator=(MappedArray&& from) noexcept;
  ~MappedArray();

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  explicit MappedArray(std::span<std::byte> bytes) : bytes_(bytes) {}
  std::span<std::byte> bytes_;
};

// Of all processors, by verdict.
[[nodiscard]] Result<XdpCounts> read_counts(int counts);

// Index of an interface in this network namespace.
[[nodiscard]] Result<unsigned> interface_index(const std::string& interface);

}  // namespace roost::xdp
