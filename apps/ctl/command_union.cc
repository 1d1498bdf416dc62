#include "apps/ctl/command_union.h"

#include <algorithm>
#include <sstream>

namespace roost::ctl {

namespace {

using control::Command;
using control::Parameter;
using Names = std::vector<std::string>;

Names words_of(std::string_view text) {
  std::istringstream stream{std::string(text)};
  Names words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::string in_a_row(const Names& names) {
  std::string row;
  for (const std::string& name : names) row += (row.empty() ? "" : ", ") + name;
  return row;
}

// The texts on one thing, each with the functions that say it.
class Texts {
 public:
  void add(std::string_view function, std::string_view text) {
    auto same = std::ranges::find(texts_, text, &Text::text);
    if (same == texts_.end()) same = texts_.insert(same, Text{.text = std::string(text)});
    same->functions.emplace_back(function);
  }

  // Functions are named only where not all say the same.
  [[nodiscard]] std::string joined(size_t function_count) const {
    if (texts_.size() == 1 && texts_[0].functions.size() == function_count) return texts_[0].text;
    std::string joined;
    for (const Text& one : texts_) {
      joined += (joined.empty() ? "" : "; ") + in_a_row(one.functions) + ": " + one.text;
    }
    return joined;
  }

 private:
  struct Text {
    std::string text{};
    Names functions{};
  };
  std::vector<Text> texts_;
};

// A name of a list, with what every function that has it says of it.
template <class Item>
struct Named {
  std::string name;
  std::vector<std::pair<std::string_view, const Item*>> of{};  // by function
};

template <class Item>
void add_to(std::vector<Named<Item>>& list, std::string_view function, const Item& item) {
  auto named = std::ranges::find(list, item.name, &Named<Item>::name);
  if (named == list.end()) named = list.insert(named, {.name = std::string(item.name)});
  named->of.emplace_back(function, &item);
}

template <class Item>
std::string help_of(const Named<Item>& named, size_t function_count) {
  Texts texts;
  for (const auto& [function, item] : named.of) texts.add(function, item->help);
  return texts.joined(function_count);
}

Names choices_of(const Named<Parameter>& named) {
  Names choices;
  for (const auto& [function, parameter] : named.of) {
    if (parameter->choices.empty()) return {};
    for (const std::string& word : words_of(parameter->choices)) {
      if (std::ranges::find(choices, word) == choices.end()) choices.push_back(word);
    }
  }
  return choices;
}

JoinedParameter join_parameter(const Named<Parameter>& named, size_t function_count) {
  const Parameter& first = *named.of.front().second;
  const bool is_always_required =
      std::ranges::all_of(named.of, [](const auto& one) { return one.second->is_required; });
  return {.name = named.name,
          .kind = first.kind,
          .is_positional = first.is_positional,
          .is_required = is_always_required && named.of.size() == function_count,
          .choices = choices_of(named),
          .help = help_of(named, function_count)};
}

JoinedCommand join_command(const Named<Command>& named, size_t function_count) {
  std::vector<Named<Parameter>> parameters;
  for (const auto& [function, command] : named.of) {
    for (const Parameter& parameter : command->parameters) add_to(parameters, function, parameter);
  }
  JoinedCommand joined{.name = named.name, .help = help_of(named, function_count)};
  for (const Named<Parameter>& parameter : parameters) {
    joined.parameters.push_back(join_parameter(parameter, named.of.size()));
  }
  return joined;
}

}  // namespace

std::vector<JoinedCommand> join_commands(std::span<const FunctionCommands> functions) {
  std::vector<Named<Command>> commands;
  for (const FunctionCommands& one : functions) {
    for (const Command& command : one.commands) add_to(commands, one.function, command);
  }
  std::vector<JoinedCommand> joined;
  for (const Named<Command>& command : commands) {
    joined.push_back(join_command(command, functions.size()));
  }
  return joined;
}

}  // namespace roost::ctl
