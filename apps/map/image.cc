#include "apps/map/image.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>
#include <utility>

#include "roost/base/hit_words.h"
#include "roost/compact/image_head.h"
#include "roost/memory/whole_file.h"

namespace roost::map {
namespace {

// Keys of the reader's type, group by group.
template <class ReaderKey, class Reader, class Convert>
std::vector<Answer> ask(const Reader& reader, std::span<const Key> keys, bool is_certain,
                        Convert&& convert) {
  constexpr size_t kLanes = 256;
  std::array<ReaderKey, kLanes> asked;
  std::array<uint32_t, kLanes> values;
  HitArray<kLanes> maybe;
  std::vector<Answer> answers;
  answers.reserve(keys.size());
  for (size_t at = 0; at < keys.size(); at += kLanes) {
    const size_t lanes = std::min(kLanes, keys.size() - at);
    for (size_t lane = 0; lane < lanes; ++lane) asked[lane] = convert(keys[at + lane]);
    reader.lookup_unverified(std::span<const ReaderKey>(asked).first(lanes), values, maybe);
    for (size_t lane = 0; lane < lanes; ++lane) {
      answers.push_back(maybe.test(lane) ? Answer{values[lane], is_certain}
                                         : Answer{std::nullopt, true});
    }
  }
  return answers;
}

compact::ImageKind kind_of(std::span<const std::byte> bytes) {
  compact::ImageHead head;
  if (bytes.size() < sizeof head) return {};
  std::memcpy(&head, bytes.data(), sizeof head);
  return head.kind;
}

// A change takes less than a microsecond, or as long as its builder does not run; one that was
// killed in it leaves a line that nobody can read.
bool comes_to_rest(const LineReader::Line& line) {
  constexpr int kTries = 1'000;
  for (int tried = 0; line.version() % 2 != 0; ++tried) {
    if (tried == kTries) return false;
    std::this_thread::yield();
  }
  return true;
}

bool has_checksum(std::span<const std::byte> bytes) {
  compact::ImageHead head;
  std::memcpy(&head, bytes.data(), sizeof head);
  return head.checksum != 0;
}

}  // namespace

net::Ipv6Address ipv6_of(const Key& key) {
  net::Ipv6Address address;
  for (size_t i = 0; i < 8; ++i) {
    address.bytes[i] = static_cast<uint8_t>(key.high >> (56 - 8 * i));
    address.bytes[8 + i] = static_cast<uint8_t>(key.low >> (56 - 8 * i));
  }
  return address;
}

Result<Image> Image::read(const std::string& path) {
  const auto text = read_whole(path);
  if (!text) return text.error();
  const size_t size = text.value().size();
  auto memory = Arena::map(std::max<size_t>(size, 1));
  if (!memory) return memory.error();
  std::byte* const bytes = memory.value().data();
  std::memcpy(bytes, text.value().data(), size);
  auto image = open(std::move(memory).value(), {bytes, size});
  if (!image) return Error{path + ": " + image.error().message};
  if (!has_checksum(image.value().bytes()))
    return Error{path + ": the image has no checksum: it was changed, or not exported"};
  if (const auto wrong = image.value().audit())
    return Error{path + ": no builder has made this image: " + *wrong};
  return image;
}

Result<Image> Image::borrow(std::span<const std::byte> bytes) {
  auto image = open({}, bytes);
  if (!image) return image.error();
  if (const auto wrong = image.value().audit()) return Error{"the image cannot be read: " + *wrong};
  return image;
}

Result<Image> Image::open(std::optional<Arena> memory, std::span<const std::byte> bytes) {
  if (kind_of(bytes) != compact::ImageKind::kLineMap) {
    const auto reader = compact::ParrotReader::open(bytes);
    if (!reader) return reader.error();
    return Image(std::move(memory), bytes, reader.value());
  }
  if (const auto reader = LineReader::open(bytes))
    return Image(std::move(memory), bytes, reader.value());
  const auto reader = LineReaderIpv6::open(bytes);
  if (!reader) return reader.error();
  return Image(std::move(memory), bytes, reader.value());
}

const compact::LineMapHead* Image::line_map() const {
  if (const auto* reader = std::get_if<LineReader>(&reader_)) return &reader->head();
  if (const auto* reader = std::get_if<LineReaderIpv6>(&reader_)) return &reader->head();
  return nullptr;
}

LineReader::Line Image::line(size_t level, uint64_t index) const {
  if (const auto* reader = std::get_if<LineReader>(&reader_)) return reader->line(level, index);
  return std::get<LineReaderIpv6>(reader_).line(level, index);
}

uint32_t Image::key_bits() const {
  if (const auto* table = parrot()) return table->head().shape.key_bits;
  return 8 * line_map()->key_bytes;
}

std::vector<Answer> Image::answers(std::span<const Key> keys) const {
  if (const auto* reader = std::get_if<LineReaderIpv6>(&reader_))
    return ask<net::Ipv6Address>(*reader, keys, false, ipv6_of);
  const auto low = [](const Key& key) { return key.low; };
  const auto* const table = parrot();
  std::vector<Answer> answers =
      table != nullptr ? ask<uint64_t>(*table, keys, table->head().shape.has_keys != 0, low)
                       : ask<uint64_t>(std::get<LineReader>(reader_), keys, false, low);
  const uint64_t mask = table != nullptr ? table->head().shape.key_mask() : ~uint64_t{0};
  for (size_t i = 0; i < keys.size(); ++i)
    if (keys[i].high != 0 || (keys[i].low & ~mask) != 0) answers[i] = {std::nullopt, true};
  return answers;
}

// A line map's lookups stay within the image whatever its lines have; what is wrong there makes
// wrong answers only.
std::optional<std::string> Image::audit() const {
  if (const auto* table = parrot()) return table->audit();
  const compact::LineMapHead& head = *line_map();
  for (size_t level = 0; level < head.level_count; ++level) {
    for (uint64_t index = 0; index < head.levels[level].line_count; ++index) {
      const auto wrong = [&](const char* what) {
        return "line " + std::to_string(index) + " of level " + std::to_string(level) + what;
      };
      if (!comes_to_rest(line(level, index))) return wrong(" was being changed");
      if (level + 1 < head.level_count) continue;
      for (uint32_t group = 0; group < head.shape.groups(); ++group)
        if (line(level, index).seed(group) == compact::kSeedFurther)
          return wrong(" leads beyond the last one");
    }
  }
  return {};
}

}  // namespace roost::map
