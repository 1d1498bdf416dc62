// What the lab's measuring programs have in common: how they speak to lab.py.
#pragma once

#include <optional>
#include <string>

#include "lab/jobs/job.h"

namespace roost::lab {

// Calls run(argc, argv) and returns what it does; an exception is told on standard error, and is 1.
[[nodiscard]] int run_program(int (*run)(int, char**), int argc, char** argv);

// Says what went wrong, behind the program's name. Returns 1.
int fail(const std::string& what);

// Says on standard error how far a job is.
void say_progress(double share_done, const std::string& what);

// Writes a job's rows; what is wrong with them, or with the file, if anything is.
[[nodiscard]] std::optional<Error> write_rows(const Result<Rows>& rows, const std::string& path);

}  // namespace roost::lab
