// The reply table where the server sends what the client does with its ends exchanged: there is
// nothing to keep.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "roost/base/result.h"
#include "roost/conntrack/reply_table.h"

namespace roost::conntrack {

template <class Rule, class Tables>
  requires kIsSameEnds<Rule>
class ReplyTable<Rule, Tables> {
 public:
  using Address = typename Rule::Address;
  using Key = net::FlowKey<Address>;

  static Result<ReplyTable> create(const ReplyConfig<Address>&, Rule rule, const Tables&) {
    return ReplyTable(std::move(rule));
  }
  static Result<uint64_t> bytes_for(const ReplyConfig<Address>&) { return uint64_t{0}; }
  static std::optional<Error> add_bytes_to_lend(const ReplyConfig<Address>&, TableBytes&) {
    return {};
  }

  [[nodiscard]] Rule& rule() { return rule_; }
  [[nodiscard]] bool is_seen(const Connection&) { return true; }
  size_t find_clients(std::span<const Key> keys, std::span<const uint8_t> lanes,
                      std::span<Key> client_keys, std::span<uint8_t> client_lanes) {
    for (size_t i = 0; i < lanes.size(); ++i) client_keys[i] = keys[lanes[i]].reversed();
    std::ranges::copy(lanes, client_lanes.begin());
    return lanes.size();
  }
  [[nodiscard]] bool insert(const Key&, const Connection&) { return true; }
  size_t insert(const NewConnections<Key>&, std::span<uint8_t>) { return 0; }
  static constexpr size_t kForgottenMax = 1;
  [[nodiscard]] Hash64 ask_for(const Key&, const Connection&) { return {}; }
  void forget(std::span<const OverConnection<Key>>) {}
  [[nodiscard]] uint64_t memory_bytes() const { return 0; }

 private:
  explicit ReplyTable(Rule rule) : rule_(std::move(rule)) {}

  Rule rule_;
};

}  // namespace roost::conntrack
