// Writes frames into a pcapng file: one interface a port, and with each frame its direction and a
// comment. For Wireshark, tshark, capinfos and tcpdump.
//
//   file = section header, an interface description a port, then frames; at the end interface
//   statistics. Each is a block:  type | length | fields | options | length,  in multiples of four
//   bytes, in this machine's byte order, which the section header tells.
//
// Source: draft-ietf-opsawg-pcapng, "PCAP Now Generic (pcapng) Capture File Format".
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roost/base/result.h"

namespace roost::io {

class PcapngFile {
 public:
  enum class Direction : uint32_t { kIn = 1, kOut = 2 };  // as in the flags of a frame

  struct Config {
    std::string path{};  // an old file is replaced
    std::vector<std::string> interfaces{};
    uint32_t snap_bytes = 0;  // the most that is kept of a frame
    std::string application{};
    std::string filter{};  // written into the file; empty: none
  };

  struct Frame {
    uint32_t interface = 0;
    uint64_t nanoseconds = 0;  // since 1970
    Direction direction = Direction::kIn;
    std::span<const uint8_t> bytes{};  // what was kept
    uint32_t total_bytes = 0;          // of the frame
    std::string_view comment{};        // none if empty; cut at 60,000 bytes
  };

  static Result<PcapngFile> create(const Config& config);

  // The first error is kept and returned by finish(); nothing is written after it.
  void write(const Frame& frame);

  // What was written can be read, whatever comes after.
  void flush();

  // Why not all of it could be written so far: a full disk above all. Only what was flushed is
  // known; a buffer's worth may wait.
  [[nodiscard]] std::optional<Error> failure() const;

  // Ends the file, with how many frames had no room on their way here. An error: a frame was not
  // written, a full disk above all.
  [[nodiscard]] std::optional<Error> finish(uint64_t dropped_count);

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  explicit PcapngFile(std::FILE* file, const Config& config)
      : file_(file), path_(config.path), counts_(config.interfaces.size()) {}
  void write_header(const Config& config);
  void write_block(uint32_t type);
  void note_failure();

  std::unique_ptr<std::FILE, CloseFile> file_;
  std::string path_;
  std::vector<uint64_t> counts_;  // frames by interface
  std::vector<uint8_t> body_;     // of the block that is being made
  uint64_t last_nanoseconds_ = 0;
  int failed_number_ = 0;  // the system's; 0: nothing has failed
};

}  // namespace roost::io
