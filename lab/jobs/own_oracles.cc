#include "lab/jobs/own_oracles.h"

#include <string>

namespace roost::lab {

OwnOracles::OwnOracles(const Contender& contender, std::span<const NamedStream> streams)
    : contender_(&contender) {
  for (const NamedStream& named : streams) {
    for (size_t core = 0; core < named.by_core.size(); ++core)
      by_stream_[&named.by_core[core]] = contender.table(core).oracles(named.by_core[core]);
  }
}

std::vector<Entrant> OwnOracles::entrants(Call call) const {
  std::vector<Entrant> found;
  if (by_stream_.empty()) return found;
  const Oracles& kinds = by_stream_.begin()->second;
  for (size_t kind = 0; kind < kinds.size(); ++kind) {
    const auto form = kinds[kind]->form(call);
    if (!form) continue;
    found.push_back({.contestant = std::string(kinds[kind]->name()),
                     .form = *form,
                     .first_wrong =
                         [this, kind, call](size_t, const Stream& stream) {
                           return by_stream_.at(&stream)[kind]->first_wrong(stream, call);
                         },
                     .expected =
                         [this](size_t core, const Stream& stream) {
                           return contender_->table(core).expected(stream);
                         },
                     .pass =
                         [this, kind, call](size_t, const Stream& stream) {
                           return by_stream_.at(&stream)[kind]->pass(stream, call);
                         }});
  }
  return found;
}

}  // namespace roost::lab
