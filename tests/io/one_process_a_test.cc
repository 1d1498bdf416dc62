// A main for tests that start EAL, which a process can do once: without a filter, each test runs in
// a process of its own; with --gtest_filter, the tests it names run in this one.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

std::vector<std::string> test_names() {
  std::vector<std::string> names;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int suite = 0; suite < all.total_test_suite_count(); ++suite) {
    const testing::TestSuite& tests = *all.GetTestSuite(suite);
    for (int test = 0; test < tests.total_test_count(); ++test) {
      names.push_back(std::string(tests.name()) + "." + tests.GetTestInfo(test)->name());
    }
  }
  return names;
}

// Runs this program again for one test; whether it passed.
bool passes(const char* program, const std::string& name) {
  const pid_t child = fork();
  if (child == 0) {
    const std::string filter = "--gtest_filter=" + name;
    execl(program, program, filter.c_str(), "--gtest_brief=1", nullptr);
    _exit(127);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (testing::GTEST_FLAG(filter) != "*" || testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
  int failed_count = 0;
  for (const std::string& name : test_names()) {
    const bool has_passed = passes("/proc/self/exe", name);
    std::printf("%s %s\n", has_passed ? "passed" : "FAILED", name.c_str());
    std::fflush(stdout);
    if (!has_passed) ++failed_count;
  }
  return failed_count == 0 ? 0 : 1;
}
