// libFuzzer target: any bytes as a text file of keys and values, and files of which is known what
// is in them and what is wrong. A refusal names lines of the file; what is taken is what is
// written, and an image of it has every answer.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/map/build.h"
#include "apps/map/entry_file.h"
#include "apps/map/image.h"
#include "roost/base/assert.h"
#include "roost/base/file_descriptor.h"
#include "tests/base/byte_source.h"
#include "tests/map/entry_text.h"

namespace roost::map {
namespace {

constexpr size_t kFaultsListed = 10;

// A file without a folder.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::byte> bytes) : file_(memfd_create("fuzz", MFD_CLOEXEC)) {
    ROOST_ASSERT(pwrite(file_.number(), bytes.data(), bytes.size(), 0) ==
                 static_cast<ssize_t>(bytes.size()));
  }
  explicit MemoryFile(std::string_view text) : MemoryFile(std::as_bytes(std::span(text))) {}
  [[nodiscard]] std::string path() const {
    return "/proc/self/fd/" + std::to_string(file_.number());
  }

 private:
  FileDescriptor file_;
};

// The lines that a refusal names, without those that it only counts.
std::vector<uint32_t> lines_of(const Error& error, const std::string& path, size_t* more) {
  std::vector<uint32_t> lines;
  ROOST_ASSERT(std::ranges::none_of(
      error.message, [](char c) { return (c >= 0 && c < ' ' && c != '\n') || c == 0x7f; }));
  for (std::string_view left = error.message; !left.empty();) {
    std::string_view said = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(said.size() + 1, left.size()));
    ROOST_ASSERT(said.starts_with(path));
    said.remove_prefix(path.size());
    const bool is_count = said.starts_with(": and ");
    if (said.starts_with(" has no entry;")) continue;
    said.remove_prefix(is_count ? 6 : 1);
    uint32_t number = 0;
    const auto read = std::from_chars(said.data(), said.data() + said.size(), number);
    ROOST_ASSERT(read.ec == std::errc() && (*read.ptr == ':' || is_count));
    if (is_count) {
      *more = number;
    } else {
      lines.push_back(number);
    }
  }
  return lines;
}

void check_refusal(const Error& error, const std::string& path, std::string_view text) {
  size_t more = 0;
  const auto last = static_cast<uint32_t>(1 + std::ranges::count(text, '\n'));
  for (const uint32_t line : lines_of(error, path, &more)) ROOST_ASSERT(line >= 1 && line <= last);
}

bool same(const EntryFile& a, const EntryFile& b) {
  return a.form == b.form &&
         std::ranges::equal(
             a.entries, b.entries, {},
             [](const Entry& entry) { return std::pair(entry.key, entry.value); },
             [](const Entry& entry) { return std::pair(entry.key, entry.value); });
}

void check_widths(const EntryFile& file, const EntryWidths& widths) {
  const uint32_t bits = widths.key_bits.value_or(bits_of_form(file.form));
  const Entry* before = nullptr;
  for (const Entry& entry : file.entries) {
    ROOST_ASSERT(before == nullptr || before->key < entry.key);
    ROOST_ASSERT(entry.value < (uint64_t{1} << widths.value_bits) - 1);
    if (bits <= 64) ROOST_ASSERT(entry.key.high == 0);
    if (bits < 64) ROOST_ASSERT(entry.key.low >> bits == 0);
    before = &entry;
  }
}

// Written anew, they are the same.
void check_again(const EntryFile& file, const EntryWidths& widths) {
  std::string text;
  for (const Entry& entry : file.entries)
    text += text_of({file.form, entry.key}, 0) + " " + std::to_string(entry.value) + "\n";
  const auto again = read_entries(MemoryFile(text).path(), widths);
  ROOST_ASSERT(again && same(again.value(), file));
}

void check_image(const EntryFile& file, const BuildOptions& options) {
  const auto built = build_image(options, file);
  if (!built) {  // no model fits, or its keys are too wide for one
    ROOST_ASSERT(options.kind == compact::ImageKind::kParrot);
    return;
  }
  const auto image = Image::read(MemoryFile(built.value().image).path());
  ROOST_ASSERT(image.ok());
  std::vector<Key> keys;
  for (const Entry& entry : file.entries) keys.push_back(entry.key);
  const std::vector<Answer> answers = image.value().answers(keys);
  for (size_t i = 0; i < keys.size(); ++i) ROOST_ASSERT(answers[i].value == file.entries[i].value);
}

void check_taken(const EntryFile& file, const EntryWidths& widths, ByteSource bytes) {
  check_widths(file, widths);
  check_again(file, widths);
  const bool is_parrot = bytes.next(1) % 4 == 0;
  constexpr std::array<uint32_t, 4> kFingerprints = {0, 8, 12, 16};
  check_image(file, {.kind = is_parrot ? compact::ImageKind::kParrot : compact::ImageKind::kLineMap,
                     .value_bits = widths.value_bits,
                     .fingerprint_bits = kFingerprints[bytes.next(1) % 4],
                     .hash_seed = 1});
}

void run_any(ByteSource bytes) {
  const EntryWidths widths{.value_bits = 4 + static_cast<uint32_t>(bytes.next(1) % 29)};
  const std::string text(reinterpret_cast<const char*>(bytes.data), bytes.size);
  const MemoryFile memory(text);
  const auto file = read_entries(memory.path(), widths);
  if (file) {
    check_taken(file.value(), widths, bytes);
  } else {
    check_refusal(file.error(), memory.path(), text);
  }
  const auto questions = read_questions(memory.path());
  if (!questions) return check_refusal(questions.error(), memory.path(), text);
  for (const Question& question : questions.value()) {
    const auto key = parse_key(question.text);
    ROOST_ASSERT(key && key->form == question.key.form && key->key == question.key.key);
  }
}

void run_known(ByteSource bytes) {
  KnownFile known = known_file(bytes);
  const MemoryFile memory(known.text);
  const auto file = read_entries(memory.path(), known.widths);
  ROOST_ASSERT(file.ok() == (known.fault_lines.empty() && !known.file.entries.empty()));
  if (file) {
    ROOST_ASSERT(same(file.value(), known.file));
    return check_taken(file.value(), known.widths, bytes);
  }
  size_t more = 0;
  const std::vector<uint32_t> lines = lines_of(file.error(), memory.path(), &more);
  const size_t listed = std::min(known.fault_lines.size(), kFaultsListed);
  ROOST_ASSERT(more == known.fault_lines.size() - listed);
  known.fault_lines.resize(listed);
  std::ranges::stable_sort(known.fault_lines);
  ROOST_ASSERT(lines == known.fault_lines);
}

}  // namespace
}  // namespace roost::map

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const roost::ByteSource bytes{data + 1, size - 1};
  data[0] % 4 == 0 ? roost::map::run_any(bytes) : roost::map::run_known(bytes);
  return 0;
}
