// The specification as text: DPDK's own reader of such files takes it.
#include <gtest/gtest.h>
#include <rte_swx_pipeline.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "roost/io/eal.h"
#include "targets/switch/switch_export.h"
#include "tests/targets/switch_sets.h"

namespace roost::targets {
namespace {

struct Close {
  void operator()(FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<FILE, Close>;

// What DPDK says is wrong, with the line; nothing, if it makes C code of it.
std::string fault_of(const std::string& text) {
  const File in(std::tmpfile());
  const File out(std::tmpfile());
  std::fwrite(text.data(), 1, text.size(), in.get());
  EXPECT_EQ(std::fseek(in.get(), 0, SEEK_SET), 0);
  uint32_t line = 0;
  const char* message = nullptr;
  const int status = rte_swx_pipeline_codegen(in.get(), out.get(), &line, &message);
  if (status == 0) return std::ftell(out.get()) > 0 ? "" : "no code was written";
  return "line " + std::to_string(line) + ": " + (message != nullptr ? message : "");
}

TEST(SwxSpecification, is_one_that_dpdk_reads) {
  const std::vector<std::string> arguments = {"--no-huge",        "--no-pci", "--no-telemetry",
                                              "--vdev=net_null0", "-m",       "64"};
  const auto eal = io::Eal::start(arguments);
  ASSERT_TRUE(eal) << eal.error().message;
  for (const bool keeps_keys : {false, true}) {
    const compact::ParrotBuilder table =
        table_of({.keeps_keys = keeps_keys, .model = kSixKeys}, compact::dense_keys(1'000));
    for (const Answer answer : {Answer::kPort, Answer::kSource}) {
      const std::string text = export_swx(table.image(), {.answer = answer}).value().front().text;
      EXPECT_EQ(fault_of(text), "");
      EXPECT_NE(fault_of(text + "table {\n"), "");
    }
  }
}

}  // namespace
}  // namespace roost::targets
