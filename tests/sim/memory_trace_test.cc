// Memory traces of real programs: what of lackey's text is replayed, and by which operations.
#include "sim/memory_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/trace_program.h"
#include "tests/sim/op_text.h"
#include "tests/sim/script.h"

namespace roost::sim {
namespace {

constexpr uint64_t kFirst = kTracePagesAddress;
constexpr uint64_t kSecond = kTracePagesAddress + kTracePageBytes;

MemoryTrace parsed(std::string_view text) { return parse_memory_trace(text).value(); }

std::string error_of(std::string_view text) {
  const auto trace = parse_memory_trace(text);
  return trace ? "none" : trace.error().message;
}

std::vector<std::string> words_of_ops(const MemoryTrace& trace, uint32_t waiting_loads) {
  Parameters parameters = default_parameters();
  parameters.neighbour_waiting_loads = waiting_loads;
  TraceProgram program(trace.accesses, parameters);
  std::vector<std::string> words;
  for (Op op; program.fetch(op) == Fetch::kOp; op = Op{})
    words.push_back(std::to_string(op.instructions) + " " + text_of(op));
  EXPECT_TRUE(program.has_ended());
  return words;
}

constexpr std::string_view kText =
    "==12== Lackey, an example Valgrind tool\n"
    " L 1ffe000000,8\n"  // of an instruction before
    "I  04001000,3\n"
    "I  04001003,4\n"
    " L 1ffeffe7e8,8\n"
    "I  04001007,2\n"
    " S 0404f010,4\n"
    "I  04001009,2\n"
    "I  0400100b,2\n"
    " M 1ffeffe010,1\n"
    "I  0400100d,5\n"
    "==12== \n";

TEST(MemoryTrace, has_instructions_and_what_they_access) {
  const MemoryTrace trace = parsed(kText);
  EXPECT_EQ(trace.instructions, 6U);
  EXPECT_EQ(trace.loads, 2U);
  EXPECT_EQ(trace.stores, 2U);
  EXPECT_EQ(trace.pages, 2U);
  // Ten instructions take three cycles: the first one none.
  EXPECT_EQ(words_of_ops(trace, 0),
            (std::vector<std::string>{"1 compute 0", "1 " + at("load", kFirst + 0x7e8),
                                      "1 " + at("store", kSecond + 0x10, " -2"), "1 compute 0 -3",
                                      "1 " + at("load", kFirst + 0x10),
                                      "0 " + at("store", kFirst + 0x10, " -2"), "1 compute 0 -3"}));
}

TEST(MemoryTrace, loads_wait_as_often_as_the_machine_says) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += "I  1000,4\n L " + std::to_string(1000 + i) + ",1\n";
  const MemoryTrace trace = parsed(text);
  for (const uint32_t waiting : {0U, 3U, 5U, 10U}) {
    const auto words = words_of_ops(trace, waiting);
    const auto count =
        std::ranges::count_if(words, [](const auto& op) { return op.ends_with(" -1"); });
    // The first one has none before it.
    EXPECT_EQ(count, 2 * waiting - (waiting == 10 ? 1 : 0)) << waiting;
  }
}

TEST(MemoryTrace, what_waits_does_so_for_the_load_before_and_for_computing) {
  const MemoryTrace trace = parsed(
      "I  1000,4\nI  1000,4\nI  1000,4\nI  1000,4\n L 1000,8\nI  1000,4\nI  1000,4\n L 2000,8\n");
  EXPECT_EQ(words_of_ops(trace, 10),
            (std::vector<std::string>{"3 compute 0", "1 " + at("load", kFirst, " -1"),
                                      "1 compute 1 -2 -1", "1 " + at("load", kSecond, " -2 -1")}));
  EXPECT_EQ(words_of_ops(trace, 0),
            (std::vector<std::string>{"3 compute 0", "1 " + at("load", kFirst), "1 compute 1 -2",
                                      "1 " + at("load", kSecond)}));
}

TEST(MemoryTrace, computing_is_written_in_chunks_and_takes_three_cycles_for_ten) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += "I  1000,4\n";
  EXPECT_EQ(words_of_ops(parsed(text + " S 1000,8\n"), 0),
            (std::vector<std::string>{"8 compute 2", "8 compute 2 -1", "3 compute 1 -1",
                                      "1 " + at("store", kFirst, " -1")}));
}

// Of 100 bytes: to the page's end, and then lines at most.
TEST(MemoryTrace, long_accesses_are_of_one_page_and_a_line_s_bytes_each) {
  const MemoryTrace trace = parsed("I  1000,4\n S 1fd0,130\n");
  EXPECT_EQ(words_of_ops(trace, 0), (std::vector<std::string>{"1 " + at("store", kFirst + 0xfd0),
                                                              "0 " + at("store", kSecond),
                                                              "0 " + at("store", kSecond + 64)}));
  EXPECT_EQ(trace.accesses[0].bytes, 48);
  EXPECT_EQ(trace.accesses[1].bytes, 64);
  EXPECT_EQ(trace.accesses[2].bytes, 18);
}

TEST(MemoryTrace, refuses_what_is_none) {
  EXPECT_EQ(error_of("I  1000,4\n L 1000;8\n"),
            "line 2: \" L 1000;8\" is none of valgrind --tool=lackey --trace-mem=yes");
  for (const char* line : {"hello", " L 1000,0", " L 1000,", " L ,8", "I 1000,8", " X 1000,8",
                           " L 1000,8 ", "L  1000,8", " L 1000,99999"}) {
    EXPECT_TRUE(error_of("I  1000,4\n" + std::string(line) + "\n").starts_with("line 2: ")) << line;
  }
  EXPECT_TRUE(error_of("I  1000,4\n").starts_with("no instruction of it accesses memory"));
  EXPECT_TRUE(error_of("").starts_with("no instruction of it accesses memory"));
  EXPECT_TRUE(error_of(" L 1000,8\n").starts_with("no instruction of it accesses memory"));
}

}  // namespace
}  // namespace roost::sim
