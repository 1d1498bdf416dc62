#include "lab/packets/capture_files.h"

#include <fmt/format.h>
#include <pcap/pcap.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

namespace roost::lab {

namespace {

constexpr int kFrameBytesMax = 2'048;

}  // namespace

void CaptureFiles::Close::operator()(pcap* capture) const { pcap_close(capture); }
void CaptureFiles::Close::operator()(pcap_dumper* file) const { pcap_dump_close(file); }

CaptureFiles::CaptureFiles(std::unique_ptr<pcap, Close> capture) : capture_(std::move(capture)) {}
CaptureFiles::CaptureFiles(CaptureFiles&&) noexcept = default;
CaptureFiles::~CaptureFiles() = default;

Result<CaptureFiles> CaptureFiles::create(std::span<const std::string> paths) {
  CaptureFiles files(std::unique_ptr<pcap, Close>(pcap_open_dead(DLT_EN10MB, kFrameBytesMax)));
  for (const std::string& path : paths) {
    files.files_.emplace_back(pcap_dump_open(files.capture_.get(), path.c_str()));
    if (!files.files_.back()) return Error{pcap_geterr(files.capture_.get())};
  }
  return files;
}

void CaptureFiles::write(size_t file, std::span<const uint8_t> frame) {
  const auto bytes = static_cast<bpf_u_int32>(frame.size());
  const pcap_pkthdr header{.ts = {}, .caplen = bytes, .len = bytes};
  pcap_dump(reinterpret_cast<u_char*>(files_[file].get()), &header, frame.data());
}

std::optional<Error> CaptureFiles::finish() {
  for (const auto& file : files_) {
    if (pcap_dump_flush(file.get()) != 0) return Error{"the capture cannot be written: disk full?"};
  }
  return {};
}

CaptureFolder::CaptureFolder()
    : path_(std::filesystem::temp_directory_path() / "roost-lab-XXXXXX") {
  if (mkdtemp(path_.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), path_ + " cannot be made");
  }
}

CaptureFolder::~CaptureFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string CaptureFolder::file(size_t number) const {
  return fmt::format("{}/{}.pcap", path_, number);
}

}  // namespace roost::lab
