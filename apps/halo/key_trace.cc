#include "apps/halo/key_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "roost/capture/reader.h"
#include "roost/memory/whole_file.h"
#include "roost/net/flow_key.h"

namespace roost::halo {

namespace {

using net::FlowKey4;
using net::FlowKey6;

std::optional<unsigned> digit_of(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return {};
}

// A line without its comment and the space around it.
std::string_view trimmed(std::string_view line) {
  constexpr std::string_view kSpace = " \t\r";
  line = line.substr(0, line.find('#'));
  const size_t first = line.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(kSpace) - first + 1);
}

// Errors: what is wrong, without its place.
Result<sim::KeyBytes> key_of_text(std::string_view text, uint32_t key_bytes) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  sim::KeyBytes key{};
  size_t digits = 0;
  for (const char c : text) {
    if (c == ':') continue;
    const auto digit = digit_of(c);
    if (!digit) return Error{fmt::format("\"{}\" is no hexadecimal number", text)};
    if (digits < size_t{2} * key_bytes) {
      std::byte& byte = key[digits / 2];
      byte = byte << 4 | static_cast<std::byte>(*digit);
    }
    ++digits;
  }
  if (digits == size_t{2} * key_bytes) return key;
  return Error{
      fmt::format("{} digits, and keys of the table have {} bytes; write two digits a byte", digits,
                  key_bytes)};
}

Result<KeyTrace> keys_of_text(const std::string& path, std::string_view text, uint32_t key_bytes) {
  KeyTrace trace;
  for (uint64_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    const auto key = key_of_text(line, key_bytes);
    if (!key) return Error{fmt::format("{}:{}: {}", path, number, key.error().message)};
    trace.keys.push_back(key.value());
  }
  return trace;
}

Result<KeyTrace> keys_of_bytes(const std::string& path, std::string_view bytes,
                               uint32_t key_bytes) {
  if (bytes.size() % key_bytes != 0) {
    return Error{
        fmt::format("{}: {} bytes are no whole number of keys of {} bytes; the last one "
                    "begins at byte {}",
                    path, bytes.size(), key_bytes, bytes.size() / key_bytes * key_bytes)};
  }
  KeyTrace trace;
  trace.keys.resize(bytes.size() / key_bytes);
  for (size_t i = 0; i < trace.keys.size(); ++i)
    std::memcpy(trace.keys[i].data(), bytes.data() + i * key_bytes, key_bytes);
  return trace;
}

template <class Key>
sim::KeyBytes bytes_of(const Key& key) {
  sim::KeyBytes bytes{};
  std::memcpy(bytes.data(), &key, sizeof(key));
  return bytes;
}

// The flow key of a frame, if it has one of that size.
std::optional<sim::KeyBytes> key_of_frame(const capture::Frame& frame, bool is_ipv6_wanted) {
  // A packet view is writable; the parser only reads.
  const auto captured = static_cast<uint32_t>(frame.bytes.size());
  const net::Packet packet{.data = const_cast<uint8_t*>(frame.bytes.data()),
                           .contiguous_bytes = captured,
                           .total_bytes = std::max(frame.wire_bytes, captured)};
  net::ParsedPacket parsed;
  if (net::parse(packet, parsed) != net::ParseVerdict::kOk) return {};
  if (parsed.is_ipv6) {
    if (!is_ipv6_wanted) return {};
    return bytes_of(FlowKey6::from_packet(packet, parsed));
  }
  const FlowKey4 key = FlowKey4::from_packet(packet, parsed);
  return is_ipv6_wanted ? bytes_of(net::ipv4_mapped(key)) : bytes_of(key);
}

Result<KeyTrace> keys_of_capture(const std::string& path, uint32_t key_bytes) {
  const bool is_ipv4 = key_bytes == FlowKey4::kSignificantBytes || key_bytes == sizeof(FlowKey4);
  const bool is_ipv6 = key_bytes == FlowKey6::kSignificantBytes || key_bytes == sizeof(FlowKey6);
  if (!is_ipv4 && !is_ipv6) {
    return Error{
        fmt::format("{}: a capture has flow keys of 13 or 16 bytes, or of 37 or 40, and "
                    "the table's have {}; give its keys as text",
                    path, key_bytes)};
  }
  auto reader = capture::Reader::open(path);
  if (!reader) return reader.error();
  KeyTrace trace;
  while (const auto frame = reader.value().next()) {
    if (const auto key = key_of_frame(*frame, is_ipv6)) {
      trace.keys.push_back(*key);
    } else {
      ++trace.without_key;
    }
  }
  if (const auto& why = reader.value().cut_reason()) return Error{path + ": " + *why};
  return trace;
}

}  // namespace

TraceFormat format_of(std::string_view beginning) {
  constexpr std::array<uint32_t, 5> kCaptures = {0xA1B2C3D4, 0xD4C3B2A1, 0xA1B23C4D, 0x4D3CB2A1,
                                                 0x0A0D0D0A};
  uint32_t magic = 0;
  if (beginning.size() < sizeof(magic)) return TraceFormat::kText;
  std::memcpy(&magic, beginning.data(), sizeof(magic));
  return std::ranges::count(kCaptures, magic) != 0 ? TraceFormat::kCapture : TraceFormat::kText;
}

Result<KeyTrace> read_trace(const std::string& path, uint32_t key_bytes,
                            std::optional<TraceFormat> format) {
  const Result<std::string> text = read_whole(path);
  if (!text) return text.error();
  Result<KeyTrace> trace = KeyTrace{};
  switch (format.value_or(format_of(text.value()))) {
    case TraceFormat::kText:
      trace = keys_of_text(path, text.value(), key_bytes);
      break;
    case TraceFormat::kBinary:
      trace = keys_of_bytes(path, text.value(), key_bytes);
      break;
    case TraceFormat::kCapture:
      trace = keys_of_capture(path, key_bytes);
  }
  if (trace && trace.value().keys.empty())
    return Error{path + ": there is no key in it; give one a line, or a capture with flows"};
  return trace;
}

std::string hex_of(const sim::KeyBytes& key, uint32_t key_bytes) {
  std::string text;
  for (uint32_t i = 0; i < key_bytes; ++i)
    text += fmt::format("{:02x}", std::to_integer<unsigned>(key[i]));
  return text;
}

}  // namespace roost::halo
