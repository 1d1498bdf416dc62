// Captures made and read back by the tests, through libpcap.
#pragma once

#include <pcap/pcap.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "roost/base/assert.h"

namespace roost::io {

inline constexpr uint64_t kSecond = 1'000'000;  // in microseconds

struct Frame {
  uint64_t timestamp_us = 0;
  std::vector<uint8_t> bytes;
};

// A directory of its own, removed with the object.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "roost-test-XXXXXX").string();
    ROOST_ASSERT(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }

  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// A frame of `byte_count` bytes that differs from every other: `number` stands in its first four
// bytes, the rest is a pattern made from it.
inline std::vector<uint8_t> numbered_frame(uint32_t number, size_t byte_count) {
  std::vector<uint8_t> bytes(byte_count);
  for (size_t i = 0; i < byte_count; ++i) {
    bytes[i] = static_cast<uint8_t>(i < 4 ? size_t{number} >> (8 * i) : number + i * 7);
  }
  return bytes;
}

inline uint32_t frame_number(const uint8_t* data) {
  return uint32_t{data[0]} | uint32_t{data[1]} << 8 | uint32_t{data[2]} << 16 |
         uint32_t{data[3]} << 24;
}

struct CaptureFormat {
  int link_type = DLT_EN10MB;
  bool has_nanoseconds = false;
  uint32_t snap_bytes = 0;  // frames longer than this are cut in the capture; 0 keeps them whole
};

inline void write_capture(const std::string& path, const std::vector<Frame>& frames,
                          const CaptureFormat& format = {}) {
  const u_int precision =
      format.has_nanoseconds ? PCAP_TSTAMP_PRECISION_NANO : PCAP_TSTAMP_PRECISION_MICRO;
  pcap_t* capture = pcap_open_dead_with_tstamp_precision(format.link_type, 262144, precision);
  pcap_dumper_t* dumper = pcap_dump_open(capture, path.c_str());
  ROOST_ASSERT(dumper != nullptr);
  for (const Frame& frame : frames) {
    pcap_pkthdr header = {};
    header.ts.tv_sec = static_cast<time_t>(frame.timestamp_us / kSecond);
    header.ts.tv_usec = static_cast<suseconds_t>(frame.timestamp_us % kSecond);
    if (format.has_nanoseconds) header.ts.tv_usec = header.ts.tv_usec * 1000 + 999;
    header.len = static_cast<bpf_u_int32>(frame.bytes.size());
    header.caplen = format.snap_bytes == 0 ? header.len : std::min(header.len, format.snap_bytes);
    pcap_dump(reinterpret_cast<u_char*>(dumper), &header, frame.bytes.data());
  }
  pcap_dump_close(dumper);
  pcap_close(capture);
}

inline std::vector<Frame> read_capture(const std::string& path) {
  char reason[PCAP_ERRBUF_SIZE] = {};
  pcap_t* capture = pcap_open_offline(path.c_str(), reason);
  ROOST_ASSERT(capture != nullptr);
  std::vector<Frame> frames;
  pcap_pkthdr* header = nullptr;
  const u_char* bytes = nullptr;
  while (pcap_next_ex(capture, &header, &bytes) == 1) {
    const auto seconds = static_cast<uint64_t>(header->ts.tv_sec);
    frames.push_back({.timestamp_us = seconds * kSecond + static_cast<uint64_t>(header->ts.tv_usec),
                      .bytes = std::vector<uint8_t>(bytes, bytes + header->caplen)});
  }
  pcap_close(capture);
  return frames;
}

inline void cut_file(const std::string& path, uint64_t byte_count) {
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - byte_count);
}

}  // namespace roost::io
