// What goes to etcd and comes from it through its JSON gateway (v3): all keys of a prefix at one
// revision, and a watch over them. Keys and values travel in base64. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "roost/base/result.h"

namespace roost::control {

// What stands below a prefix.
struct EtcdKeys {
  int64_t revision = 0;                         // of the whole store when it was read
  std::map<std::string, std::string> values{};  // by key, the prefix included
};

// The bodies of POST /v3/kv/range and POST /v3/watch. Watched is what comes after this revision.
[[nodiscard]] std::string etcd_range_request(std::string_view prefix);
[[nodiscard]] std::string etcd_watch_request(std::string_view prefix, int64_t revision);

// The answer to the former. An error says what is wrong with it, or what etcd says is wrong.
[[nodiscard]] Result<EtcdKeys> parse_etcd_range(std::string_view answer);

// Whether a line of the latter's answer says that keys have changed; an error ends the watch.
[[nodiscard]] Result<bool> parse_etcd_watch_line(std::string_view line);

}  // namespace roost::control
