// Reading flows: see flow_text.h.
#include "roost/openflow/flow_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "roost/openflow/action_text.h"
#include "roost/openflow/flow_words.h"
#include "roost/openflow/match_text.h"

namespace roost::openflow {
namespace {

constexpr std::string_view kBlanks = " \t\r\v\f";
constexpr std::string_view kActions = "actions=";
// What a dump says of a flow besides: how it has fared.
constexpr std::array<std::string_view, 5> kStatistics = {"duration", "n_packets", "n_bytes",
                                                         "idle_age", "hard_age"};
// How a dump begins.
constexpr std::array<std::string_view, 2> kDumpHeads = {"NXST_FLOW reply", "OFPST_FLOW reply"};
constexpr size_t kQuotedMax = 60;

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// A word of the text in a message: no bytes there but those that can be printed.
std::string quoted(std::string_view word) {
  std::string text = "'";
  for (const char byte : word.substr(0, kQuotedMax)) {
    text += byte >= ' ' && byte <= '~' ? byte : '?';
  }
  return text + (word.size() > kQuotedMax ? "...'" : "'");
}

// One line, word by word; a fault does not end it, so that all are found.
class LineReader {
 public:
  LineReader(uint32_t line, std::vector<config::Fault>& faults) : line_(line), faults_(faults) {}

  std::optional<Flow> read(std::string_view text) {
    const size_t faults_before = faults_.size();
    const size_t actions = text.find(kActions);
    read_match(text.substr(0, actions));
    if (actions == std::string_view::npos) {
      fault("actions", "missing; add actions=drop if there are none");
    } else {
      read_actions(trimmed(text.substr(actions + kActions.size())));
    }
    if (faults_.size() != faults_before) return std::nullopt;
    return flow_;
  }

 private:
  void fault(std::string_view word, std::string_view what) {
    faults_.push_back({line_, fmt::format("{}: {}", quoted(word), what)});
  }

  void read_match(std::string_view text) {
    MatchReader match(flow_);
    while (true) {
      const size_t first = text.find_first_not_of(" \t\r\v\f,");
      if (first == std::string_view::npos) break;
      text.remove_prefix(first);
      const std::string_view word = text.substr(0, text.find_first_of(" \t\r\v\f,"));
      text.remove_prefix(word.size());
      const size_t equals = word.find('=');
      const std::string_view key = word.substr(0, equals);
      const std::string_view value =
          equals == std::string_view::npos ? std::string_view{} : word.substr(equals + 1);
      if (std::ranges::find(kStatistics, key) != kStatistics.end()) continue;
      const std::string wrong = read_word(match, key, value);
      if (!wrong.empty()) fault(word, wrong);
    }
    const std::string wrong = match.missing_kind();
    if (!wrong.empty()) fault(format_match(flow_), wrong);
  }

  std::string read_word(MatchReader& match, std::string_view key, std::string_view value) {
    if (key == "table") {
      const std::optional<uint64_t> table = parse_number(value, kTablesMax - 1);
      if (!table) return "give a table from 0 to 7";
      flow_.table = static_cast<uint8_t>(*table);
      return "";
    }
    if (key == "priority") {
      const std::optional<uint64_t> priority = parse_number(value, UINT16_MAX);
      if (!priority) return "give a number from 0 to 65535";
      flow_.match.priority = static_cast<uint16_t>(*priority);
      return "";
    }
    if (key == "cookie") {
      const std::optional<uint64_t> cookie = parse_number(value, UINT64_MAX);
      if (!cookie) return "give a number";
      flow_.cookie = *cookie;
      return "";
    }
    return match.read(key, value);
  }

  void read_actions(std::string_view text) {
    if (text.empty() || text == "drop") return;
    while (!text.empty()) {
      const std::string_view word = text.substr(0, end_of_action(text));
      text.remove_prefix(std::min(text.size(), word.size() + 1));
      if (trimmed(word).empty() && text.empty()) break;
      std::string wrong =
          trimmed(word) == "drop" ? "drop stands alone" : read_action(trimmed(word), flow_);
      if (!wrong.empty()) fault(trimmed(word), wrong);
    }
  }

  // Where an action ends: at a comma that is in no brackets.
  static size_t end_of_action(std::string_view text) {
    int depth = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '(') ++depth;
      if (text[i] == ')') --depth;
      if (text[i] == ',' && depth <= 0) return i;
    }
    return text.size();
  }

  uint32_t line_;
  std::vector<config::Fault>& faults_;
  Flow flow_;
};

}  // namespace

std::vector<Flow> parse_flows(std::string_view text, std::vector<config::Fault>& faults,
                              const std::function<std::string(const Flow&)>& check) {
  std::vector<Flow> flows;
  for (uint32_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    line = trimmed(line.substr(0, line.find('#')));
    const bool is_head = std::ranges::any_of(
        kDumpHeads, [&](std::string_view head) { return line.starts_with(head); });
    if (line.empty() || is_head) continue;
    std::optional<Flow> flow = LineReader(number, faults).read(line);
    if (!flow) continue;
    std::string wrong = check(*flow);
    if (wrong.empty()) {
      flows.push_back(*std::move(flow));
    } else {
      faults.push_back({number, std::move(wrong)});
    }
  }
  return flows;
}

}  // namespace roost::openflow
