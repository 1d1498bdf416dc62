// What a health check asks a backend for, by kind, and which answers are good.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace roost::control {

// A connection is enough.
struct TcpCheck {};

struct StatusRange {
  uint16_t first = 200;
  uint16_t last = 399;  // included

  bool operator==(const StatusRange&) const = default;
};

struct HttpCheck {
  std::string path = "/";
  std::string host{};  // empty: the target's address and port
  bool is_head = false;
  std::vector<StatusRange> statuses = {{}};  // those that are good
  std::string body{};  // a text that the answer's body contains; empty: any body
};

using CheckKind = std::variant<TcpCheck, HttpCheck>;

}  // namespace roost::control
