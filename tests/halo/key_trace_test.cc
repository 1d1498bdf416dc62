// Traces: keys from text, bytes and captures, and what is no trace.
#include "apps/halo/key_trace.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <span>
#include <string>

#include "apps/halo/built_table.h"
#include "roost/memory/whole_file.h"
#include "roost/net/flow_key.h"
#include "sim/saved_table.h"

namespace roost::halo {
namespace {

class Traces : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "roost-halo-XXXXXX").string();
    close(mkstemp(name.data()));
    path_ = name;
  }
  void TearDown() override { std::filesystem::remove(path_); }

  // The keys of a file of this text in hexadecimal, or what is wrong, without the file's name.
  [[nodiscard]] std::string read(const std::string& text, uint32_t key_bytes,
                                 std::optional<TraceFormat> format = {}) const {
    EXPECT_FALSE(write_whole(path_, std::as_bytes(std::span(text))));
    const auto trace = read_trace(path_, key_bytes, format);
    if (!trace) return trace.error().message.substr(path_.size());
    std::string keys;
    for (const sim::KeyBytes& key : trace.value().keys) keys += hex_of(key, key_bytes) + " ";
    return keys;
  }

  std::string path_;
};

TEST_F(Traces, text_is_a_key_a_line) {
  EXPECT_EQ(read("# keys\n00:1A:ff\n\n  0xabcdef # one\r\n010203", 3), "001aff abcdef 010203 ");
}

TEST_F(Traces, what_is_no_key_is_named_with_its_line) {
  EXPECT_EQ(read("001aff\n\n001a", 3),
            ":3: 4 digits, and keys of the table have 3 bytes; write two digits a byte");
  EXPECT_EQ(read("001aff01", 3),
            ":1: 8 digits, and keys of the table have 3 bytes; write two digits a byte");
  EXPECT_EQ(read("001aff\n00 1aff", 3), ":2: \"00 1aff\" is no hexadecimal number");
  EXPECT_EQ(read("# nothing\n", 3),
            ": there is no key in it; give one a line, or a capture with flows");
}

TEST_F(Traces, bytes_are_keys_one_behind_the_other) {
  EXPECT_EQ(read("abcdef", 3, TraceFormat::kBinary), "616263 646566 ");
  EXPECT_EQ(read("abcdefg", 3, TraceFormat::kBinary),
            ": 7 bytes are no whole number of keys of 3 bytes; the last one begins at byte 6");
}

TEST_F(Traces, captures_have_the_flow_keys_of_their_packets) {
  const std::string capture = ROOST_SOURCE_FOLDER "/demo/lb/client.pcap";
  ASSERT_EQ(format_of(read_whole(capture).value()), TraceFormat::kCapture);
  const auto short_keys = read_trace(capture, 13, {});
  const auto padded_keys = read_trace(capture, 16, {});
  const auto wide_keys = read_trace(capture, 40, {});
  ASSERT_TRUE(short_keys.ok() && padded_keys.ok() && wide_keys.ok());
  ASSERT_GT(padded_keys.value().keys.size(), 100U);
  EXPECT_EQ(short_keys.value().keys, padded_keys.value().keys);
  ASSERT_GE(wide_keys.value().keys.size(), padded_keys.value().keys.size());
  EXPECT_LE(wide_keys.value().without_key, padded_keys.value().without_key);
  // The first IPv4 key is the same flow among those of IPv6.
  net::FlowKey4 narrow;
  std::memcpy(&narrow, padded_keys.value().keys[0].data(), sizeof(narrow));
  const net::FlowKey6 mapped = net::ipv4_mapped(narrow);
  sim::KeyBytes bytes{};
  std::memcpy(bytes.data(), &mapped, sizeof(mapped));
  EXPECT_NE(std::ranges::count(wide_keys.value().keys, bytes), 0);
  EXPECT_EQ(read_trace(capture, 8, {}).error().message,
            capture +
                ": a capture has flow keys of 13 or 16 bytes, or of 37 or 40, and the table's have "
                "8; give its keys as text");
}

TEST(BuiltTables, hold_their_keys_at_the_load_that_was_asked_for) {
  for (const BuiltFormat format :
       {BuiltFormat::kPaper, BuiltFormat::kSplit, BuiltFormat::kInline}) {
    const BuildOptions options{.entries = 20'000, .load = 0.75, .format = format};
    const auto built = build_table(options);
    ASSERT_TRUE(built.ok()) << built.error().message;
    const auto audited = sim::audit_image(built.value().image);
    ASSERT_TRUE(audited.ok()) << audited.error().message;
    EXPECT_EQ(audited.value().entries, options.entries);
    const auto slots =
        static_cast<double>(audited.value().metadata.buckets * audited.value().metadata.slots);
    const double load = 20'000 / slots;
    EXPECT_LE(load, 0.751);
    EXPECT_GT(load, format == BuiltFormat::kPaper ? 0.75 / 2 : 0.749);
    EXPECT_NEAR(static_cast<double>(built.value().image.size()),
                static_cast<double>(built_bytes(options)),
                0.1 * static_cast<double>(built_bytes(options)));
  }
  EXPECT_EQ(build_table({.entries = 4096, .load = 1.0})
                .error()
                .message.rfind("a table of load 1 has room for", 0),
            0U);
}

}  // namespace
}  // namespace roost::halo
