// One table of a TOML file, read strictly: a key is asked for by its type, and what was not asked
// for is a fault in the end. Faults are collected, so that one reading finds them all.
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apps/lb/config.h"

namespace roost::lb {

// A TOML value's line; 1 where the library knows none, as for an empty file.
[[nodiscard]] uint32_t line_of(const toml::node& node);

// Text of a file as a message may show it: control characters, which a terminal would obey, in
// hexadecimal.
[[nodiscard]] std::string printable(std::string_view text);

// Text from a file for a message: in quotes, control characters written out, not too long.
[[nodiscard]] std::string in_quotes(std::string_view text);

// A number as messages write it: digits in groups of three.
[[nodiscard]] std::string grouped(uint64_t number);

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
  std::optional<double> number(std::string_view key);
  std::optional<std::string> text(std::string_view key);
  std::optional<net::MacAddress> mac(std::string_view key);  // of one station, not of a group
  std::optional<net::IpAddress> address(std::string_view key);
  const toml::array* array(std::string_view key);
  const toml::table* table(std::string_view key);
  // The elements of an array of tables; an element of another type is a fault.
  std::vector<const toml::table*> tables(std::string_view key);

  // A fault if the key is absent; `example` shows what it looks like.
  void require(std::string_view key, std::string_view example);

  // Every key that was not asked for is a fault.
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

// Reads a service's `check`; nothing when it has none.
[[nodiscard]] std::optional<CheckConfig> read_check(TomlTable& service, std::vector<Fault>& faults);

// Reads [fullnat].
[[nodiscard]] FullnatConfig read_fullnat(TomlTable& top, std::vector<Fault>& faults);

// Reads [control].
[[nodiscard]] ControlConfig read_control(TomlTable& top, std::vector<Fault>& faults);

}  // namespace roost::lb
