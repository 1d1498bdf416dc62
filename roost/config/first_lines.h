// Where in a file something is given first, for faults that name both places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace roost::config {

[[nodiscard]] inline std::string at_line(uint32_t line) { return "line " + std::to_string(line); }

// `Identity`: what makes two elements the same.
template <class Identity>
class FirstLines {
 public:
  // The line of the earlier element with this identity; 0 when this is the first.
  uint32_t note(Identity identity, uint32_t line) {
    const auto [place, is_first] = lines_.emplace(std::move(identity), line);
    return is_first ? 0 : place->second;
  }
  // The line of the element with this identity; 0 when there is none.
  [[nodiscard]] uint32_t find(const Identity& identity) const {
    const auto place = lines_.find(identity);
    return place == lines_.end() ? 0 : place->second;
  }
  [[nodiscard]] size_t count() const { return lines_.size(); }

 private:
  std::map<Identity, uint32_t> lines_;
};

}  // namespace roost::config
