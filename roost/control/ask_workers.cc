#include "roost/control/ask_workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace roost::control {

std::optional<Error> Asked::error(std::string_view function) const {
  if (ok()) return {};
  if (is_closed()) return Error{fmt::format("the {} is ending", function)};
  return Error{
      fmt::format("worker {} did not answer within {} s; what was asked of the others "
                  "is done, ask again",
                  worker, kAnswerWaitMax.count())};
}

Asked ask_workers(node::WorkerMailboxes& mailboxes, std::span<node::Request* const> requests) {
  const std::vector<node::Answer> answers = mailboxes.ask(requests, kAnswerWaitMax);
  const auto failed = std::ranges::find_if(answers, [](node::Answer answer) {
    return answer == node::Answer::kClosed || answer == node::Answer::kTimedOut;
  });
  if (failed == answers.end()) return {};
  return {*failed, static_cast<size_t>(failed - answers.begin())};
}

Asked ask_until_done(node::WorkerMailboxes& mailboxes, std::vector<node::Request*> requests) {
  while (true) {
    const std::vector<node::Answer> answers = mailboxes.ask(requests, kAnswerWaitMax);
    bool is_done = true;
    for (size_t i = 0; i < answers.size(); ++i) {
      if (answers[i] == node::Answer::kClosed) return {answers[i], i};
      if (answers[i] == node::Answer::kDone) requests[i] = nullptr;
      if (answers[i] == node::Answer::kTimedOut) is_done = false;
    }
    if (is_done) return {};
  }
}

}  // namespace roost::control
