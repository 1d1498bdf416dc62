#include "roost/io/pcapng_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace roost::io {

namespace {

enum Block : uint32_t {
  kSectionHeader = 0x0A0D0D0A,
  kInterfaceDescription = 1,
  kInterfaceStatistics = 5,
  kEnhancedPacket = 6
};

// Options are numbered by block; these first two are the same in all.
enum Option : uint16_t {
  kEndOfOptions = 0,
  kComment = 1,
  kPacketFlags = 2,
  kInterfaceName = 2,
  kApplication = 4,
  kReceivedCount = 4,
  kDroppedCount = 5,
  kTimeResolution = 9,
  kFilter = 11
};

constexpr uint32_t kByteOrderMagic = 0x1A2B3C4D;
constexpr uint16_t kLinkTypeEthernet = 1;
constexpr uint64_t kUnknownLength = ~uint64_t{0};
constexpr uint8_t kNanoseconds = 9;         // 10 to the power of -9
constexpr size_t kOptionBytesMax = 60'000;  // an option's length has 16 bits

// Fields of a block's body, as they stand in memory.
class Fields {
 public:
  explicit Fields(std::vector<uint8_t>& body) : body_(body) { body_.clear(); }

  template <class Value>
  void add(Value value) {
    std::memcpy(grow(sizeof value), &value, sizeof value);
  }
  // Padded by zeroes to a multiple of four.
  void add_bytes(std::span<const uint8_t> bytes) {
    uint8_t* const room = grow((bytes.size() + 3) / 4 * 4);
    if (!bytes.empty()) std::memcpy(room, bytes.data(), bytes.size());
  }
  void add_option(uint16_t code, std::span<const uint8_t> bytes) {
    add(code);
    add(static_cast<uint16_t>(bytes.size()));
    add_bytes(bytes);
  }
  // Nothing if the text is empty.
  void add_text(uint16_t code, std::string_view text) {
    if (text.empty()) return;
    text = text.substr(0, kOptionBytesMax);
    add_option(code, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  }
  template <class Value>
  void add_value(uint16_t code, Value value) {
    std::array<uint8_t, sizeof(Value)> bytes;
    std::memcpy(bytes.data(), &value, sizeof(Value));
    add_option(code, bytes);
  }
  void end_options() { add_option(kEndOfOptions, {}); }
  // A time as blocks have it: its upper half first.
  void add_time(uint64_t nanoseconds) {
    add(static_cast<uint32_t>(nanoseconds >> 32));
    add(static_cast<uint32_t>(nanoseconds));
  }

 private:
  // As many zeroes at the end.
  uint8_t* grow(size_t bytes) {
    const size_t before = body_.size();
    body_.resize(before + bytes);
    return body_.data() + before;
  }

  std::vector<uint8_t>& body_;
};

}  // namespace

Result<PcapngFile> PcapngFile::create(const Config& config) {
  std::FILE* file = std::fopen(config.path.c_str(), "wbe");
  if (file == nullptr) {
    return Error{config.path + ": cannot be written: " + std::generic_category().message(errno)};
  }
  PcapngFile capture(file, config);
  capture.write_header(config);
  return capture;
}

void PcapngFile::write_header(const Config& config) {
  Fields section(body_);
  section.add(kByteOrderMagic);
  section.add(uint16_t{1});  // version 1.0
  section.add(uint16_t{0});
  section.add(kUnknownLength);
  section.add_text(kApplication, config.application);
  section.end_options();
  write_block(kSectionHeader);
  for (const std::string& name : config.interfaces) {
    Fields interface(body_);
    interface.add(kLinkTypeEthernet);
    interface.add(uint16_t{0});
    interface.add(config.snap_bytes);
    interface.add_text(kInterfaceName, name);
    interface.add_value(kTimeResolution, kNanoseconds);
    // Type 0: a filter as text, in tcpdump's language.
    if (!config.filter.empty()) interface.add_text(kFilter, std::string(1, '\0') + config.filter);
    interface.end_options();
    write_block(kInterfaceDescription);
  }
}

void PcapngFile::write(const Frame& frame) {
  Fields packet(body_);
  packet.add(frame.interface);
  packet.add_time(frame.nanoseconds);
  packet.add(static_cast<uint32_t>(frame.bytes.size()));
  packet.add(frame.total_bytes);
  packet.add_bytes(frame.bytes);
  packet.add_text(kComment, frame.comment);
  packet.add_value(kPacketFlags, static_cast<uint32_t>(frame.direction));
  packet.end_options();
  write_block(kEnhancedPacket);
  ++counts_[frame.interface];
  last_nanoseconds_ = frame.nanoseconds;
}

std::optional<Error> PcapngFile::finish(uint64_t dropped_count) {
  for (uint32_t i = 0; i < counts_.size(); ++i) {
    Fields statistics(body_);
    statistics.add(i);
    statistics.add_time(last_nanoseconds_);
    statistics.add_value(kReceivedCount, counts_[i]);
    // Which interface they were for is not known.
    if (i == 0) statistics.add_value(kDroppedCount, dropped_count);
    statistics.end_options();
    write_block(kInterfaceStatistics);
  }
  if (std::fclose(file_.release()) != 0) note_failure();
  return failure();
}

void PcapngFile::flush() {
  if (failed_number_ == 0 && std::fflush(file_.get()) != 0) note_failure();
}

std::optional<Error> PcapngFile::failure() const {
  if (failed_number_ == 0) return {};
  return Error{path_ + ": not all of it could be written: " +
               std::generic_category().message(failed_number_)};
}

// The first one counts.
void PcapngFile::note_failure() {
  if (failed_number_ == 0) failed_number_ = errno == 0 ? EIO : errno;
}

void PcapngFile::write_block(uint32_t type) {
  const auto length = static_cast<uint32_t>(body_.size() + 3 * sizeof(uint32_t));
  const std::array<uint32_t, 2> begin = {type, length};
  if (failed_number_ != 0) return;
  const bool is_written = std::fwrite(begin.data(), sizeof begin, 1, file_.get()) == 1 &&
                          std::fwrite(body_.data(), body_.size(), 1, file_.get()) == 1 &&
                          std::fwrite(&length, sizeof length, 1, file_.get()) == 1;
  if (!is_written) note_failure();
}

}  // namespace roost::io
