#include "lab/jobs/program.h"

#include <fmt/format.h>

#include <cerrno>  // of GNU's C library: program_invocation_short_name
#include <cstdio>
#include <exception>
#include <fstream>

namespace roost::lab {

int run_program(int (*run)(int, char**), int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {  // memory, or a stream of the standard library
    std::fputs(error.what(), stderr);
    return 1;
  }
}

int fail(const std::string& what) {
  fmt::print(stderr, "{}: {}\n", program_invocation_short_name, what);
  return 1;
}

void say_progress(double share_done, const std::string& what) {
  fmt::print(stderr, "progress {:.3f} {}\n", share_done, what);
}

std::optional<Error> write_rows(const Result<Rows>& rows, const std::string& path) {
  if (!rows) return rows.error();
  std::ofstream csv(path);
  csv << csv_header();
  for (const RecordRow& row : rows.value()) csv << csv_line(row);
  csv.close();
  if (!csv) return Error{"the results cannot be written to " + path};
  return {};
}

}  // namespace roost::lab
