#include "roost/config/toml_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "roost/config/message_text.h"

namespace roost::config {

namespace {

std::string_view type_name(toml::node_type type) {
  switch (type) {
    case toml::node_type::none:
      return "nothing";
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a decimal number";
    case toml::node_type::boolean:
      return "a boolean";
    case toml::node_type::date:
    case toml::node_type::time:
    case toml::node_type::date_time:
      return "a date or time";
  }
  return "something else";
}

}  // namespace

uint32_t line_of(const toml::node& node) { return std::max<uint32_t>(1, node.source().begin.line); }

TomlTable::TomlTable(const toml::table& table, std::string name, std::vector<Fault>& faults)
    : table_(table), name_(std::move(name)), faults_(faults) {}

uint32_t TomlTable::line_of_key(std::string_view key) const {
  const auto place = table_.find(key);
  return place == table_.end() ? line() : std::max<uint32_t>(1, place->first.source().begin.line);
}

void TomlTable::fault(uint32_t line, std::string text) {
  faults_.push_back({line, std::move(text)});
}

void TomlTable::fault_in(std::string_view key, const std::string& text) {
  fault(line_of_key(key), name_ + (name_.empty() ? "" : " ") + std::string(key) + ": " + text);
}

const toml::node* TomlTable::find(std::string_view key) {
  known_.emplace(key);
  return table_.get(key);
}

void TomlTable::wrong_type(std::string_view key, const toml::node& node, std::string_view wanted) {
  fault_in(key, "this is " + std::string(type_name(node.type())) + "; give " + std::string(wanted));
}

std::optional<bool> TomlTable::boolean(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr) return {};
  if (!node->is_boolean()) {
    wrong_type(key, *node, "true or false");
    return {};
  }
  return node->as_boolean()->get();
}

std::optional<uint64_t> TomlTable::integer(std::string_view key, IntegerRange range) {
  const toml::node* node = find(key);
  if (node == nullptr) return {};
  const std::string wanted = "an integer from " + grouped(range.min) + " to " + grouped(range.max);
  if (!node->is_integer()) {
    wrong_type(key, *node, wanted);
    return {};
  }
  const int64_t value = node->as_integer()->get();
  if (value < 0 || std::cmp_less(value, range.min) || std::cmp_greater(value, range.max)) {
    fault_in(key, std::to_string(value) + " is out of range; give " + wanted);
    return {};
  }
  return static_cast<uint64_t>(value);
}

std::vector<uint64_t> TomlTable::integers(std::string_view key, IntegerRange range,
                                          std::string_view wrong) {
  std::vector<uint64_t> found;
  const toml::array* elements = array(key);
  if (elements == nullptr) return found;
  for (const toml::node& element : *elements) {
    const auto* integer = element.as_integer();
    if (integer != nullptr && !std::cmp_less(integer->get(), range.min) &&
        !std::cmp_greater(integer->get(), range.max)) {
      found.push_back(static_cast<uint64_t>(integer->get()));
    } else {
      fault(line_of(element), fmt::format("{} {}: {}; give integers from {} to {}", name_, key,
                                          wrong, grouped(range.min), grouped(range.max)));
    }
  }
  return found;
}

std::vector<net::IpPrefix> TomlTable::prefixes(std::string_view key, std::string_view wrong) {
  std::vector<net::IpPrefix> found;
  const toml::array* elements = array(key);
  if (elements == nullptr) return found;
  for (const toml::node& element : *elements) {
    const std::string text = element.value_or(std::string());
    const Result<net::IpPrefix> prefix = net::IpPrefix::parse(text);
    if (element.is_string() && prefix) {
      found.push_back(prefix.value());
    } else {
      fault(line_of(element), fmt::format("{} {}: {} {}", name_, key, in_quotes(text), wrong));
    }
  }
  return found;
}

std::optional<double> TomlTable::number(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr) return {};
  if (node->is_integer()) return static_cast<double>(node->as_integer()->get());
  if (node->is_floating_point()) return node->as_floating_point()->get();
  wrong_type(key, *node, "a number");
  return {};
}

std::optional<std::string> TomlTable::text(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr) return {};
  if (!node->is_string()) {
    wrong_type(key, *node, "a string in quotes");
    return {};
  }
  return node->as_string()->get();
}

std::optional<size_t> TomlTable::choice(std::string_view key,
                                        std::span<const std::string_view> names) {
  const std::optional<std::string> written = text(key);
  if (!written) return {};
  const auto named = std::ranges::find(names, *written);
  if (named != names.end()) return static_cast<size_t>(named - names.begin());
  fault_in(key, in_quotes(*written) + " is none; give one of " +
                    fmt::format("{}", fmt::join(names, ", ")));
  return {};
}

std::optional<net::MacAddress> TomlTable::mac(std::string_view key) {
  const std::optional<std::string> written = text(key);
  if (!written) return {};
  const Result<net::MacAddress> mac = net::MacAddress::parse(*written);
  if (!mac) {
    fault_in(key, in_quotes(*written) +
                      " is no MAC address; write six pairs of hexadecimal digits, "
                      "such as \"02:00:00:00:00:01\"");
    return {};
  }
  if (mac.value().is_multicast() || mac.value() == net::MacAddress{}) {
    fault_in(key, in_quotes(*written) +
                      " is not the MAC of one station; give one whose first byte is "
                      "even, such as \"02:00:00:00:00:01\"");
    return {};
  }
  return mac.value();
}

std::optional<net::IpAddress> TomlTable::address(std::string_view key) {
  const std::optional<std::string> written = text(key);
  if (!written) return {};
  const Result<net::IpAddress> address = net::IpAddress::parse(*written);
  if (!address) {
    fault_in(key, in_quotes(*written) +
                      " is no address; write an IPv4 or IPv6 address without a "
                      "prefix, such as \"192.0.2.10\" or \"2001:db8::10\"");
    return {};
  }
  return address.value();
}

const toml::array* TomlTable::array(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr) return nullptr;
  if (!node->is_array()) wrong_type(key, *node, "an array in square brackets");
  return node->as_array();
}

const toml::table* TomlTable::table(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr) return nullptr;
  if (!node->is_table()) wrong_type(key, *node, "a table: [" + std::string(key) + "]");
  return node->as_table();
}

std::vector<const toml::table*> TomlTable::tables(std::string_view key) {
  std::vector<const toml::table*> found;
  const toml::node* node = find(key);
  if (node == nullptr) return found;
  if (!node->is_array()) {
    wrong_type(key, *node, "tables: [[" + std::string(key) + "]], or {...} in square brackets");
    return found;
  }
  for (const toml::node& element : *node->as_array()) {
    if (element.is_table()) {
      found.push_back(element.as_table());
    } else {
      fault(line_of(element), name_ + (name_.empty() ? "" : " ") + std::string(key) +
                                  ": an element is " + std::string(type_name(element.type())) +
                                  "; give tables only");
    }
  }
  return found;
}

bool TomlTable::contains(std::string_view key) { return find(key) != nullptr; }

void TomlTable::require(std::string_view key, std::string_view example) {
  if (table_.contains(key)) return;
  const std::string where = name_.empty() ? "the file" : name_;
  fault(line(), where + " has no " + std::string(key) + "; add " + std::string(example));
}

void TomlTable::refuse_unknown_keys() {
  std::string known_keys;
  for (const std::string& key : known_)
    known_keys.append(known_keys.empty() ? "" : ", ").append(key);
  for (const auto& [key, node] : table_) {
    if (known_.contains(key.str())) continue;
    const std::string where = name_.empty() ? "at the top of the file" : "in " + name_;
    fault(std::max<uint32_t>(1, key.source().begin.line),
          fmt::format("unknown key {} {}; known here are {}", in_quotes(key.str()), where,
                      known_keys));
  }
}

}  // namespace roost::config
