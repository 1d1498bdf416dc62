// How control threads ask all workers of a run: a request of one kind for each, and what came of
// it.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "roost/base/result.h"
#include "roost/node/mailbox.h"

namespace roost::control {

// A worker's turn takes microseconds; seconds pass when something is wrong, or a walk is long.
inline constexpr std::chrono::seconds kAnswerWaitMax{5};

// Whether all workers have run their request; else how the first of the others answered.
struct Asked {
  node::Answer answer = node::Answer::kDone;
  size_t worker = 0;

  [[nodiscard]] bool ok() const { return answer == node::Answer::kDone; }
  [[nodiscard]] bool is_closed() const { return answer == node::Answer::kClosed; }
  // `function`: as messages name it, "balancer".
  [[nodiscard]] std::optional<Error> error(std::string_view function) const;
};

// requests[i] is worker i's; null: it gets none. Blocks for kAnswerWaitMax at most.
[[nodiscard]] Asked ask_workers(node::WorkerMailboxes& mailboxes,
                                std::span<node::Request* const> requests);

// The same for what all workers must have done or none: repeats the requests until it is so, or
// they have ended.
[[nodiscard]] Asked ask_until_done(node::WorkerMailboxes& mailboxes,
                                   std::vector<node::Request*> requests);

// A request of one kind for each worker, in their order.
template <class Request>
class Requests {
 public:
  template <class... Arguments>
  Request& add(Arguments&&... arguments) {
    Request& request = requests_.emplace_back(std::forward<Arguments>(arguments)...);
    posted_.push_back(&request);
    return request;
  }
  [[nodiscard]] const std::vector<node::Request*>& posted() const { return posted_; }
  [[nodiscard]] size_t size() const { return requests_.size(); }
  [[nodiscard]] const Request& operator[](size_t worker) const { return requests_[worker]; }
  [[nodiscard]] auto begin() const { return requests_.begin(); }
  [[nodiscard]] auto end() const { return requests_.end(); }

 private:
  std::deque<Request> requests_;
  std::vector<node::Request*> posted_;
};

}  // namespace roost::control
