#include "lab/jobs/program.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>

namespace roost::lab {

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
