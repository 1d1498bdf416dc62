// A neighbour of HALO's figure 12: payloads searched for many patterns at once, by Hyperscan, which
// Snort and Suricata search with. Patterns and payloads are bytes by chance.
//
//   roost_lab_matcher_neighbour compile FILE
//   roost_lab_matcher_neighbour scan FILE
//
// The second form says "ready" when payloads with patterns in them were found, and goes on with
// those by chance until it is ended: neighbour_trace.py has valgrind write what it does to memory
// from there on. Compiling is apart because it takes much longer.
#include <hs.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "roost/traffic/draw.h"

namespace roost::lab {
namespace {

constexpr size_t kPatterns = 2'000;
constexpr size_t kPatternBytesMin = 4;
constexpr size_t kPatternBytesMax = 16;
constexpr size_t kPayloads = 256;
constexpr size_t kPayloadBytes = 512;

template <class T, auto kFree>
struct Freed {
  void operator()(T* thing) const { (void)kFree(thing); }
};
using Database = std::unique_ptr<hs_database_t, Freed<hs_database_t, hs_free_database>>;
using Scratch = std::unique_ptr<hs_scratch_t, Freed<hs_scratch_t, hs_free_scratch>>;

std::string bytes_by_chance(traffic::Draw& draw, size_t count) {
  std::string bytes;
  for (size_t i = 0; i < count; ++i) bytes.push_back(static_cast<char>(draw.below(256)));
  return bytes;
}

std::vector<std::string> patterns() {
  traffic::Draw draw(1);
  std::vector<std::string> all;
  for (size_t i = 0; i < kPatterns; ++i) {
    const size_t bytes = kPatternBytesMin + draw.below(kPatternBytesMax - kPatternBytesMin + 1);
    all.push_back(bytes_by_chance(draw, bytes));
  }
  return all;
}

int complain(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  return 1;
}

// For any processor with AVX2: valgrind has no more.
int compile(const char* path) {
  const std::vector<std::string> all = patterns();
  std::vector<const char*> texts;
  std::vector<size_t> sizes;
  std::vector<unsigned> flags(all.size(), 0);
  std::vector<unsigned> numbers;
  for (const std::string& pattern : all) {
    texts.push_back(pattern.data());
    sizes.push_back(pattern.size());
    numbers.push_back(static_cast<unsigned>(numbers.size()));
  }
  const hs_platform_info_t platform{.tune = HS_TUNE_FAMILY_GENERIC,
                                    .cpu_features = HS_CPU_FEATURES_AVX2,
                                    .reserved1 = 0,
                                    .reserved2 = 0};
  hs_database_t* made = nullptr;
  hs_compile_error_t* error = nullptr;
  if (hs_compile_lit_multi(texts.data(), flags.data(), numbers.data(), sizes.data(),
                           static_cast<unsigned>(all.size()), HS_MODE_BLOCK, &platform, &made,
                           &error) != HS_SUCCESS) {
    return complain(error->message);
  }
  const Database database(made);
  char* bytes = nullptr;
  size_t size = 0;
  if (hs_serialize_database(database.get(), &bytes, &size) != HS_SUCCESS)
    return complain("the patterns' database cannot be written");
  const std::unique_ptr<char, decltype(&std::free)> held(bytes, &std::free);
  std::ofstream file(path, std::ios::binary);
  file.write(bytes, static_cast<std::streamsize>(size));
  return file.flush() ? 0 : complain(std::string(path) + " cannot be written");
}

int count_match(unsigned /*number*/, unsigned long long /*from*/, unsigned long long /*to*/,
                unsigned /*flags*/, void* count) {
  ++*static_cast<uint64_t*>(count);
  return 0;
}

int scan(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  hs_database_t* read = nullptr;
  if (hs_deserialize_database(bytes.data(), bytes.size(), &read) != HS_SUCCESS)
    return complain(std::string(path) + " is no database for this processor");
  const Database database(read);
  hs_scratch_t* made = nullptr;
  if (hs_alloc_scratch(database.get(), &made) != HS_SUCCESS) return complain("no memory");
  const Scratch scratch(made);
  const auto matches_in = [&](std::string_view payload) {
    uint64_t count = 0;
    const auto status =
        hs_scan(database.get(), payload.data(), static_cast<unsigned>(payload.size()), 0,
                scratch.get(), count_match, &count);
    return status == HS_SUCCESS ? count : 0;
  };
  const std::vector<std::string> all = patterns();
  for (size_t i = 0; i < all.size(); i += 100)
    if (matches_in("..." + all[i] + "...") == 0) return complain("a pattern was not found");
  traffic::Draw draw(2);
  std::vector<std::string> payloads;
  for (size_t i = 0; i < kPayloads; ++i) payloads.push_back(bytes_by_chance(draw, kPayloadBytes));
  std::puts("ready");
  std::fflush(stdout);
  for (uint64_t found = 0;;) {
    for (const std::string& payload : payloads) found += matches_in(payload);
    if (found > UINT64_MAX / 2) return complain("too many matches");
  }
}

}  // namespace
}  // namespace roost::lab

int main(int count, char** arguments) {
  if (count != 3) return 1;
  const std::string_view what = arguments[1];
  if (what == "compile") return roost::lab::compile(arguments[2]);
  return what == "scan" ? roost::lab::scan(arguments[2]) : 1;
}
