#include "roost/capture/summary.h"

#include <algorithm>
#include <filesystem>

#include "roost/capture/reader.h"

namespace roost::capture {

namespace {

void add_frame(const Frame& frame, Summary& summary) {
  if (summary.packet_count == 0) {
    summary.first_timestamp_us = frame.timestamp_us;
  } else if (frame.timestamp_us < summary.last_timestamp_us) {
    ++summary.backward_count;
  }
  const auto bytes = static_cast<uint32_t>(frame.bytes.size());
  summary.last_timestamp_us = frame.timestamp_us;
  ++summary.packet_count;
  summary.packet_bytes += bytes;
  summary.largest_packet_bytes = std::max(summary.largest_packet_bytes, bytes);
  if (bytes < frame.wire_bytes) ++summary.snapped_count;
}

}  // namespace

Result<Summary> summarize(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return Error{path + ": not a file that can be read twice; give a capture saved on disk"};
  }
  Result<Reader> reader = Reader::open(path);
  if (!reader) return reader.error();
  Summary summary{.path = path};
  while (const auto frame = reader.value().next()) add_frame(*frame, summary);
  if (const auto& reason = reader.value().cut_reason()) {
    summary.cut_reason = "after packet " + std::to_string(summary.packet_count) + ": " + *reason;
  }
  return summary;
}

}  // namespace roost::capture
