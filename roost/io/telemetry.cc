#include "roost/io/telemetry.h"

#include <rte_telemetry.h>
#include <rte_version.h>

#include <map>
#include <mutex>

namespace roost::io {

namespace {

struct Commands {
  std::mutex mutex;
  std::map<std::string, TelemetryAnswer, std::less<>> answers;
};

Commands& commands() {
  static Commands all;
  return all;
}

void add_number(rte_tel_data* reply, const std::string& name, uint64_t number) {
#if RTE_VERSION >= RTE_VERSION_NUM(23, 3, 0, 0)  // renamed, and the old name is to go
  rte_tel_data_add_dict_uint(reply, name.c_str(), number);
#else
  rte_tel_data_add_dict_u64(reply, name.c_str(), number);
#endif
}

int answer(const char* path, const char* parameter, rte_tel_data* reply) {
  rte_tel_data_start_dict(reply);
  Commands& all = commands();
  const std::scoped_lock lock(all.mutex);
  const auto found = all.answers.find(std::string_view(path));
  if (found == all.answers.end() || !found->second) return 0;
  size_t count = 0;
  for (const auto& [name, value] : found->second(parameter == nullptr ? "" : parameter)) {
    if (count++ == kTelemetryEntriesMax) break;
    if (const auto* number = std::get_if<uint64_t>(&value)) {
      add_number(reply, name, *number);
    } else {
      rte_tel_data_add_dict_string(reply, name.c_str(), std::get<std::string>(value).c_str());
    }
  }
  return 0;
}

}  // namespace

TelemetryCommand::TelemetryCommand(const std::string& path, const std::string& help,
                                   TelemetryAnswer answer_of_command) {
  Commands& all = commands();
  const std::scoped_lock lock(all.mutex);
  const bool is_known = all.answers.contains(path);
  if (!is_known && rte_telemetry_register_cmd(path.c_str(), answer, help.c_str()) != 0) return;
  all.answers[path] = std::move(answer_of_command);
  path_ = path;
}

TelemetryCommand::~TelemetryCommand() {
  if (path_.empty()) return;
  Commands& all = commands();
  const std::scoped_lock lock(all.mutex);
  all.answers[path_] = nullptr;
}

}  // namespace roost::io
