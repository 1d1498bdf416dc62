// A value, or the reason why there is none.
//
// Construction of anything that can fail returns Result<T>; an object that exists is usable. The
// reason is a full sentence for the person who has to act on it: what is wrong, where, what to do.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "roost/base/assert.h"

namespace roost {

struct Error {
  std::string message;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // The value. The result must be ok.
  [[nodiscard]] T& value() & {
    ROOST_ASSERT(ok());
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] const T& value() const& {
    ROOST_ASSERT(ok());
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] T&& value() && {
    ROOST_ASSERT(ok());
    return std::move(*std::get_if<0>(&state_));
  }

  // Why there is no value. The result must not be ok.
  [[nodiscard]] const Error& error() const {
    ROOST_ASSERT(!ok());
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, Error> state_;
};

}  // namespace roost
