#include "lab/jobs/line_up_on_cores.h"

#include <fmt/format.h>

#include <utility>

namespace roost::lab {
namespace {

// The table of the contender's next core.
Result<std::unique_ptr<AnyTable>> next_table(const JobConfig& config, const Contender& contender) {
  if (!config.shared || contender.by_core.empty())
    return contender.entry->create(config.slots, config.pages);
  std::unique_ptr<AnyTable> reader = contender.table().reader();
  if (!reader) return Error{"one thread has it to itself"};
  return reader;
}

}  // namespace

Result<std::vector<Contender>> make_contenders(const JobConfig& config, Rows& rows) {
  std::vector<Contender> contenders;
  for (const std::string& name : config.contestants) {
    const ContestantEntry* entry = find_contestant(name);
    if (entry == nullptr) return Error{"there is no contestant " + name};
    Contender contender{entry, {}};
    std::string why;
    while (why.empty() && contender.by_core.size() < config.cores.size()) {
      auto table = next_table(config, contender);
      if (table) {
        contender.by_core.push_back(std::move(table).value());
      } else {
        why = table.error().message;
      }
    }
    if (why.empty()) {
      contenders.push_back(std::move(contender));
    } else {
      for (const double load : config.loads)
        rows.push_back(not_run(row_of(config, load, name), why));
    }
  }
  return contenders;
}

void fill_contenders(const JobConfig& config, double load_from, double load_to,
                     std::vector<Contender>& contenders, Rows& rows) {
  const uint64_t first = entries_at(config, load_from);
  const uint64_t past = entries_at(config, load_to);
  std::erase_if(contenders, [&](const Contender& contender) {
    const size_t table_count = config.shared ? 1 : contender.by_core.size();
    for (size_t core = 0; core < table_count; ++core) {
      const auto inserted =
          contender.table(core).insert(keys_of_core(config, core), first, past, kPlainCall.lanes);
      if (inserted.stored == past - first) continue;
      rows.push_back(not_run(
          row_of(config, load_to, contender.name()),
          fmt::format("it refused a key after {} of {} entries", first + inserted.stored, past)));
      return true;
    }
    return false;
  });
}

}  // namespace roost::lab
