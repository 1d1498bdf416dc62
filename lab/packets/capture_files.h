// Captures of frames that are made here: what a port plays for ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "roost/base/result.h"

struct pcap;
struct pcap_dumper;

namespace roost::lab {

// Files that frames are written to, one after the other.
class CaptureFiles {
 public:
  static Result<CaptureFiles> create(std::span<const std::string> paths);
  CaptureFiles(CaptureFiles&&) noexcept;
  CaptureFiles& operator=(CaptureFiles&&) = delete;
  ~CaptureFiles();

  // Appends a frame to the file of this number.
  void write(size_t file, std::span<const uint8_t> frame);
  // Until then nothing need be on the disk.
  [[nodiscard]] std::optional<Error> finish();

 private:
  struct Close {
    void operator()(pcap* capture) const;
    void operator()(pcap_dumper* file) const;
  };
  explicit CaptureFiles(std::unique_ptr<pcap, Close> capture);

  std::unique_ptr<pcap, Close> capture_;
  std::vector<std::unique_ptr<pcap_dumper, Close>> files_;
};

// A folder for captures, which are read when a port starts and not needed after that.
class CaptureFolder {
 public:
  CaptureFolder();
  CaptureFolder(const CaptureFolder&) = delete;
  CaptureFolder& operator=(const CaptureFolder&) = delete;
  ~CaptureFolder();

  [[nodiscard]] std::string file(size_t number) const;

 private:
  std::string path_;
};

}  // namespace roost::lab
