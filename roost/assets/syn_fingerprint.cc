#include "roost/assets/syn_fingerprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "roost/net/byte_order.h"
#include "roost/net/headers.h"

namespace roost::assets {

namespace {

using net::load_be16;
using net::load_be32;

constexpr std::string_view kQuirkLetters = "Q0PZIUXATFDL!";
constexpr uint8_t kWindowScale = 3;  // options beside those of net::tcp
constexpr uint8_t kSackPermitted = 4;
constexpr uint8_t kTimestamp = 8;
constexpr uint8_t kMssBytes = 4;  // of options, kind and length included
constexpr uint8_t kWindowScaleBytes = 3;
constexpr uint8_t kTimestampBytes = 10;
constexpr int kUnknownBytesMax = 33;
constexpr uint16_t kBigBytes = 100;  // from here on sizes are not compared
constexpr uint8_t kUsualFlags = net::tcp::kSyn | net::tcp::kRst | net::tcp::kAck | 0xc0;  // ECN's
constexpr uint32_t kFlowLabelMask = 0x000fffff;

void add(SynFingerprint& syn, Quirk quirk, bool is_so = true) {
  if (is_so) syn.quirks |= static_cast<uint16_t>(quirk);
}

// The options as prads reads them: lengths of the known ones are not looked at, and what an option
// needs may stand behind the header, up to the packet's end.
class OptionReader {
 public:
  OptionReader(const uint8_t* at, int bytes, const uint8_t* end)
      : at_(at), left_(bytes), end_(end) {}

  void read(SynFingerprint& syn) {
    while (left_ > 0) {
      if (at_ >= end_ || !read_one(syn) || syn.option_count == SynFingerprint::kOptionsMax) {
        return add(syn, Quirk::kBrokenOptions);
      }
    }
  }

 private:
  // False: it is broken, and is not there.
  bool read_one(SynFingerprint& syn) {
    const uint8_t kind = *at_;
    const int bytes = bytes_of(kind);
    if (bytes == 0 || (bytes > 2 && is_known(kind) && end_ - at_ < bytes)) return false;
    if (kind == net::tcp::kOptionMss) syn.mss = load_be16(at_ + 2);
    if (kind == kWindowScale) syn.window_scale = at_[2];
    if (kind == kTimestamp) {
      syn.has_timestamp = load_be32(at_ + 2) != 0;
      add(syn, Quirk::kSecondTimestamp, load_be32(at_ + 6) != 0);
    }
    syn.options[syn.option_count++] = kind;
    add(syn, Quirk::kPastEnd, kind == net::tcp::kOptionEnd && left_ > 1);
    left_ -= bytes;
    at_ += std::min<ptrdiff_t>(bytes, end_ - at_);
    return true;
  }
  static bool is_known(uint8_t kind) {
    return kind == net::tcp::kOptionMss || kind == kWindowScale || kind == kTimestamp;
  }
  // 0: its length cannot be.
  [[nodiscard]] int bytes_of(uint8_t kind) const {
    switch (kind) {
      case net::tcp::kOptionEnd:
      case net::tcp::kOptionPadding:
        return 1;
      case kSackPermitted:
        return 2;
      case net::tcp::kOptionMss:
        return kMssBytes;
      case kWindowScale:
        return kWindowScaleBytes;
      case kTimestamp:
        return kTimestampBytes;
      default:
        if (end_ - at_ < 2 || at_[1] > kUnknownBytesMax) return 0;
        return at_[1];
    }
  }

  const uint8_t* at_;
  int left_;
  const uint8_t* end_;
};

std::string window_text(const SynFingerprint& syn) {
  const int window = syn.window;
  const int mss = syn.mss;
  if (window != 0 && mss != 0 && window % mss == 0) return fmt::format("S{}", window / mss);
  if (window != 0 && window % 1'460 == 0) return fmt::format("S{}", window / 1'460);
  if (window != 0 && mss != 0 && window % (mss + 40) == 0)
    return fmt::format("T{}", window / (mss + 40));
  if (window != 0 && window % 1'500 == 0) return fmt::format("T{}", window / 1'500);
  return window == 12'345 ? "*(12345)" : std::to_string(window);
}

std::string option_text(const SynFingerprint& syn, uint8_t kind) {
  switch (kind) {
    case net::tcp::kOptionEnd:
      return "E";
    case net::tcp::kOptionPadding:
      return "N";
    case net::tcp::kOptionMss:
      return fmt::format("M{}", syn.mss);
    case kWindowScale:
      return fmt::format("W{}", syn.window_scale);
    case kSackPermitted:
      return "S";
    case kTimestamp:
      return syn.has_timestamp ? "T" : "T0";
    default:
      return fmt::format("?{}", kind);
  }
}

}  // namespace

std::string SynFingerprint::format() const {
  std::string option_words;
  for (size_t i = 0; i < option_count; ++i) {
    if (i != 0) option_words += ',';
    option_words += option_text(*this, options[i]);
  }
  if (option_words.size() < 2) option_words += '.';  // so prads: of one letter, too
  std::string letters;
  for (size_t i = 0; i < kQuirkLetters.size(); ++i) {
    if ((quirks >> i & 1) != 0) letters += kQuirkLetters[i];
  }
  return fmt::format("{}:{}:{:d}:{}:{}:{}", window_text(*this), ttl, may_not_be_cut,
                     size < kBigBytes ? std::to_string(size) : fmt::format("*({})", size),
                     option_words, letters.empty() ? "." : letters);
}

SynFingerprint read_syn(const net::Packet& packet, const net::ParsedPacket& parsed) {
  const uint8_t* const ip = packet.data + parsed.ip_offset;
  const uint8_t* const tcp = packet.data + parsed.l4_offset;
  const uint32_t seen_bytes = std::min(packet.contiguous_bytes, parsed.ip_offset + parsed.ip_bytes);
  const int header_bytes = 4 * (tcp[net::tcp::kDataOffset] >> 4);
  SynFingerprint syn{
      .window = load_be16(tcp + net::tcp::kWindow), .ttl = parsed.ttl, .may_not_be_cut = true};
  if (parsed.is_ipv6) {
    const bool has_label = (load_be32(ip) & kFlowLabelMask) != 0;
    syn.size = load_be16(ip + net::ipv6::kPayloadLength);
    add(syn, has_label ? Quirk::kFlowLabel : Quirk::kZeroId);
  } else {
    syn.size = load_be16(ip + net::ipv4::kTotalLength);
    syn.may_not_be_cut = (load_be16(ip + net::ipv4::kFragment) & net::ipv4::kDontFragment) != 0;
    add(syn, Quirk::kZeroId, load_be16(ip + net::ipv4::kIdentification) == 0);
    add(syn, Quirk::kIpOptions, parsed.l4_offset > parsed.ip_offset + net::ipv4::kHeaderBytesMin);
  }
  const uint32_t sequence = load_be32(tcp + net::tcp::kSequence);
  const uint32_t acknowledgement = load_be32(tcp + net::tcp::kAcknowledgement);
  add(syn, Quirk::kEqualNumbers, sequence == acknowledgement);
  add(syn, Quirk::kZeroSequence, sequence == 0);
  add(syn, Quirk::kAcknowledgement, acknowledgement != 0);
  add(syn, Quirk::kUrgent, load_be16(tcp + net::tcp::kUrgentPointer) != 0);
  add(syn, Quirk::kReserved, (tcp[net::tcp::kDataOffset] & 0x0f) != 0);
  add(syn, Quirk::kFlags, (tcp[net::tcp::kFlags] & ~kUsualFlags) != 0);
  add(syn, Quirk::kData, parsed.l4_bytes > static_cast<uint32_t>(header_bytes));
  OptionReader(tcp + net::tcp::kHeaderBytesMin,
               header_bytes - static_cast<int>(net::tcp::kHeaderBytesMin), packet.data + seen_bytes)
      .read(syn);
  return syn;
}

}  // namespace roost::assets
