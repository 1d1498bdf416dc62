// Text files of entries: what is taken, and where what is wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "apps/map/entry_file.h"
#include "tests/map/map_files.h"

namespace roost::map {
namespace {

EntryFile entries_of(const std::string& text, const EntryWidths& widths = {.value_bits = 16}) {
  const Folder folder;
  auto file = read_entries(folder.write("entries", text), widths);
  EXPECT_TRUE(file) << file.error().message;
  return file ? std::move(file).value() : EntryFile{};
}
// Without the folder.
std::string refusal(const std::string& text, const EntryWidths& widths = {.value_bits = 16}) {
  const Folder folder;
  const auto file = read_entries(folder.write("entries", text), widths);
  if (file) return "taken";
  std::string message = file.error().message;
  const std::string prefix = folder.path("");
  for (size_t at = message.find(prefix); at != std::string::npos; at = message.find(prefix))
    message.erase(at, prefix.size());
  return message;
}

TEST(Key, is_read_in_its_forms) {
  const auto key = [](const char* text) { return parse_key(text).value(); };
  EXPECT_EQ(key("02:00:00:00:01:10").form, KeyForm::kMac);
  EXPECT_EQ(key("02:00:00:00:01:10").key, (Key{0, 0x0200'0000'0110}));
  EXPECT_EQ(key("192.0.2.1").form, KeyForm::kIpv4);
  EXPECT_EQ(key("192.0.2.1").key, (Key{0, 0xc000'0201}));
  EXPECT_EQ(key("2001:db8::7").form, KeyForm::kIpv6);
  EXPECT_EQ(key("2001:db8::7").key, (Key{0x2001'0db8'0000'0000, 7}));
  EXPECT_EQ(key("0xfFfFfFfFfFfFfFfF").key, (Key{0, ~uint64_t{0}}));
  EXPECT_EQ(key("18446744073709551615").form, KeyForm::kNumber);
  for (const char* text : {"", "0x", "-1", "1 ", "18446744073709551616", "02:00:00:00:01", "1.2.3",
                           "02-00-00-00-01-10", "::g", "0x1g", "port"})
    EXPECT_FALSE(parse_key(text)) << text;
}

TEST(EntryFile, has_a_key_and_a_value_a_line) {
  const EntryFile file = entries_of(
      "# ports\n"
      "\n"
      "02:00:00:00:00:02\t7 # the second\r\n"
      "  02:00:00:00:00:01   0x10");
  EXPECT_EQ(file.form, KeyForm::kMac);
  ASSERT_EQ(file.entries.size(), 2U);
  EXPECT_EQ(file.entries[0].key.low, 0x0200'0000'0001U);
  EXPECT_EQ(file.entries[0].value, 16U);
  EXPECT_EQ(file.entries[0].line, 4U);
  EXPECT_EQ(file.entries[1].value, 7U);
}

TEST(EntryFile, keys_that_are_there_twice_are_refused_with_both_lines) {
  EXPECT_EQ(refusal("7 1\n8 2\n0x7 3\n"),
            "entries:3: this key is in line 1 already; leave one of them out");
}

TEST(EntryFile, keys_and_values_that_are_too_wide_are_refused_with_their_lines) {
  EXPECT_EQ(refusal("1 1\n256 1\n", {.value_bits = 16, .key_bits = 8}),
            "entries:2: the key \"256\" is too wide: it has 9 bits, and keys have 8");
  EXPECT_EQ(refusal("::1 1\n1:: 1\n", {.value_bits = 16, .key_bits = 64}),
            "entries:2: the key \"1::\" is too wide: it has 113 bits, and keys have 64");
  EXPECT_EQ(entries_of("255 1\n", {.value_bits = 16, .key_bits = 8}).entries.size(), 1U);
  EXPECT_EQ(refusal("1 65534\n2 65535\n"),
            "entries:2: the value 65535 is too wide: values of 16 bits are at most 65534; give "
            "--value-bits");
  EXPECT_EQ(refusal("1 4294967295\n", {.value_bits = 32}),
            "entries:1: the value 4294967295 is too wide: values of 32 bits are at most "
            "4294967294; give --value-bits");
  EXPECT_EQ(refusal("1 18446744073709551615\n", {.value_bits = 32}).substr(0, 20),
            "entries:1: the value");
}

TEST(EntryFile, a_refusal_does_not_control_the_terminal) {
  EXPECT_EQ(refusal("1 \033[2J\n"),
            "entries:1: \"\\x1b[2J\" is no value; give a number, decimal or 0x...");
  EXPECT_EQ(refusal("\007 1\n").substr(0, 27), "entries:1: \"\\x07\" is no key");
}

TEST(EntryFile, lines_that_are_no_entries_are_refused) {
  EXPECT_EQ(refusal("1\n"), "entries:1: a key without a value; give both");
  EXPECT_EQ(refusal("1 2 3\n"), "entries:1: more than a key and a value; a comment begins with #");
  EXPECT_EQ(refusal("1 x\n"), "entries:1: \"x\" is no value; give a number, decimal or 0x...");
  EXPECT_EQ(refusal("port 2\n").substr(0, 27), "entries:1: \"port\" is no key");
  EXPECT_EQ(refusal("# nothing\n"), "entries has no entry; give a key and a value a line");
  EXPECT_EQ(refusal("10.0.0.1 1\n167772162 1\n"),
            "entries:2: the keys are IPv4 addresses since line 1, and this is not one");
}

TEST(EntryFile, of_many_faults_ten_are_listed_and_the_others_counted) {
  std::string text;
  for (int i = 0; i < 25; ++i) text += "x 1\n";
  const std::string said = refusal(text);
  EXPECT_EQ(std::ranges::count(said, '\n'), 10);
  EXPECT_TRUE(said.ends_with("\nentries: and 15 more")) << said;
}

TEST(EntryFile, files_that_cannot_be_read_are_said) {
  const Folder folder;
  for (const std::string& path : {folder.path("none"), folder.path("")}) {
    const auto file = read_entries(path, {.value_bits = 16});
    ASSERT_FALSE(file);
    EXPECT_TRUE(file.error().message.starts_with(path + " cannot be read: "))
        << file.error().message;
  }
}

TEST(Questions, have_a_value_or_none) {
  const Folder folder;
  const auto questions = read_questions(folder.write("keys", "7 1\n10.0.0.1\n# 8\n"));
  ASSERT_TRUE(questions) << questions.error().message;
  ASSERT_EQ(questions.value().size(), 2U);
  EXPECT_EQ(questions.value()[0].value, 1U);
  EXPECT_EQ(questions.value()[1].text, "10.0.0.1");
  EXPECT_FALSE(questions.value()[1].value);
  EXPECT_FALSE(read_questions(folder.write("keys", "7 1 2\n")));
}

}  // namespace
}  // namespace roost::map
