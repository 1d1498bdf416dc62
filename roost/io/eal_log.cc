#include "roost/io/eal_log.h"

#include <string_view>

namespace roost::io {

namespace {

constexpr size_t kLogBytesMax = 8192;

}  // namespace

EalLog::EalLog()
    : stream_(fopencookie(this, "w",
                          {.read = nullptr, .write = append, .seek = nullptr, .close = nullptr})) {
  if (stream_ != nullptr) setvbuf(stream_, nullptr, _IONBF, 0);
}

EalLog::~EalLog() {
  if (stream_ != nullptr) fclose(stream_);
}

ssize_t EalLog::append(void* cookie, const char* text, size_t byte_count) {
  std::string& kept = static_cast<EalLog*>(cookie)->text_;
  kept.append(text, byte_count);
  if (kept.size() > kLogBytesMax) kept.erase(0, kept.size() - kLogBytesMax / 2);
  return static_cast<ssize_t>(byte_count);
}

std::string EalLog::last_lines(size_t line_count_max) const {
  if (stream_ == nullptr) return {};
  flockfile(stream_);
  const std::string text = text_;
  funlockfile(stream_);
  std::string joined;
  size_t end = text.find_last_not_of('\n');
  for (size_t line = 0; line < line_count_max && end != std::string::npos; ++line) {
    const size_t newline = text.rfind('\n', end);
    const size_t begin = newline == std::string::npos ? 0 : newline + 1;
    joined.insert(0, text.substr(begin, end + 1 - begin) + (line == 0 ? "" : "; "));
    end = begin == 0 ? std::string::npos : text.find_last_not_of('\n', begin - 1);
  }
  return joined;
}

}  // namespace roost::io
