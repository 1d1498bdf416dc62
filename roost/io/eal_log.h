// DPDK's log, kept instead of printed, so that an error can quote it.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

namespace roost::io {

// Holds the latest few kilobytes. The stream takes text from any thread.
class EalLog {
 public:
  EalLog();
  EalLog(const EalLog&) = delete;
  EalLog& operator=(const EalLog&) = delete;
  ~EalLog();

  // To be given to rte_openlog_stream; nullptr if the system has no memory for it.
  [[nodiscard]] FILE* stream() const { return stream_; }

  // The last lines, up to `line_count_max`, joined by "; ".
  [[nodiscard]] std::string last_lines(size_t line_count_max) const;

 private:
  static ssize_t append(void* cookie, const char* text, size_t byte_count);

  std::string text_;
  FILE* stream_;
};

}  // namespace roost::io
