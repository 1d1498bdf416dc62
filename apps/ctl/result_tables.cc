#include "apps/ctl/result_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "roost/config/message_text.h"

namespace roost::ctl {

namespace {

using Json = nlohmann::ordered_json;
using Names = std::vector<std::string>;

std::string cell_text(const Json& value) {
  if (value.is_string()) return config::printable(value.get<std::string>());
  if (value.is_number_float()) return fmt::format("{:.10g}", value.get<double>());
  return value.is_null() ? "-" : value.dump();
}

// Rows of objects as a table: a column for each name, numbers to the right.
std::string table_of(const Json& rows, const Names& names) {
  std::vector<size_t> widths;
  std::vector<bool> is_number;
  for (const std::string& name : names) {
    size_t width = name.size();
    bool are_numbers = !rows.empty();
    for (const Json& row : rows) {
      const Json cell = row.value(name, Json());
      width = std::max(width, cell_text(cell).size());
      are_numbers = are_numbers && cell.is_number();
    }
    widths.push_back(width);
    is_number.push_back(are_numbers);
  }
  std::string text;
  const auto line = [&](auto&& cell_of) {
    size_t column = 0;
    std::string cells;
    for (const std::string& name : names) {
      cells += is_number[column] ? fmt::format("{:>{}}  ", cell_of(name), widths[column])
                                 : fmt::format("{:<{}}  ", cell_of(name), widths[column]);
      ++column;
    }
    cells.erase(cells.find_last_not_of(' ') + 1);
    text += cells + "\n";
  };
  line([](const std::string& name) { return name; });
  for (const Json& row : rows) {
    line([&](const std::string& name) { return cell_text(row.value(name, Json())); });
  }
  return text;
}

// Names and values, one a line; without those that are 0 if so wanted.
std::string list_of(const Json& object, bool with_zeroes) {
  size_t width = 0;
  for (const auto& [name, value] : object.items()) width = std::max(width, name.size());
  std::string text;
  for (const auto& [name, value] : object.items()) {
    if (!with_zeroes && value == 0) continue;
    text += fmt::format("  {:<{}}  {:>16}\n", name, width, cell_text(value));
  }
  return text;
}

// A pointer into the result, or the value itself.
const Json& part_of(const Json& where, const Json& result) {
  return where.is_string() ? result.at(Json::json_pointer(where.get<std::string>())) : where;
}

// Lines of text of untrusted bytes.
std::string text_of(const std::string& lines) {
  std::istringstream stream(lines);
  std::string text;
  for (std::string line; std::getline(stream, line);) text += config::printable(line) + "\n";
  return text.empty() ? "\n" : text;
}

}  // namespace

std::string format_result(const Json& view, const Json& result) {
  std::string text;
  for (const Json& block : view) {
    if (block.contains("text")) {
      text += text_of(block["text"].get<std::string>());
    } else if (block.contains("rows")) {
      text += table_of(part_of(block["rows"], result),
                       block["columns"].get<std::vector<std::string>>());
    } else {
      text += list_of(part_of(block.at("list"), result), !block.value("without_zeroes", false));
    }
  }
  return text;
}

}  // namespace roost::ctl
