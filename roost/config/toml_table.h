// One table of a TOML file, read strictly: a key is read by its type, and a key that was not read
// is a fault in the end. Faults are collected, so that one reading finds them all.
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roost/config/fault.h"
#include "roost/net/address.h"

namespace roost::config {

// A TOML value's line; 1 where the library knows none, as for an empty file.
[[nodiscard]] uint32_t line_of(const toml::node& node);

struct IntegerRange {
  uint64_t min = 0;
  uint64_t max = 0;
};

class TomlTable {
 public:
  // `name` is what messages call the table: "[table]", "[[port]]". Table and faults must outlive
  // this object.
  TomlTable(const toml::table& table, std::string name, std::vector<Fault>& faults);

  [[nodiscard]] uint32_t line() const { return line_of(table_); }
  [[nodiscard]] const std::string& name() const { return name_; }
  // The line of a key that is there, else the table's.
  [[nodiscard]] uint32_t line_of_key(std::string_view key) const;

  // Each returns nothing when the key is absent, or has another type, or its value is refused; the
  // latter two are faults.
  std::optional<bool> boolean(std::string_view key);
  std::optional<uint64_t> integer(std::string_view key, IntegerRange range);
  // Those of an array; an element that is none in the range is a fault: "[[port]] vlan: WRONG; give
  // integers from ...".
  std::vector<uint64_t> integers(std::string_view key, IntegerRange range, std::string_view wrong);
  // The same of prefixes: "[[port]] addresses: "192.0.2" WRONG".
  std::vector<net::IpPrefix> prefixes(std::string_view key, std::string_view wrong);
  std::optional<double> number(std::string_view key);
  std::optional<std::string> text(std::string_view key);
  // Which of `names` the text is.
  std::optional<size_t> choice(std::string_view key, std::span<const std::string_view> names);
  std::optional<net::MacAddress> mac(std::string_view key);  // of one station, not of a group
  std::optional<net::IpAddress> address(std::string_view key);
  const toml::array* array(std::string_view key);
  const toml::table* table(std::string_view key);
  // The elements of an array of tables; an element of another type is a fault.
  std::vector<const toml::table*> tables(std::string_view key);

  // Whether the key is there, with whatever value; it counts as read.
  [[nodiscard]] bool contains(std::string_view key);

  // A fault if the key is absent; `example` shows what it looks like.
  void require(std::string_view key, std::string_view example);

  // Every key that was not read is a fault.
  void refuse_unknown_keys();

  void fault(uint32_t line, std::string text);
  // A fault in a key of this table: "[[port]] mtu: ..."
  void fault_in(std::string_view key, const std::string& text);

 private:
  const toml::node* find(std::string_view key);
  void wrong_type(std::string_view key, const toml::node& node, std::string_view wanted);

  const toml::table& table_;
  std::string name_;
  std::vector<Fault>& faults_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace roost::config
