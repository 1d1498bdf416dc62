#include "apps/lb/control/control.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace roost::lb {

Control::Control(const lb::Config& lb_config, Config config)
    : lb_config_(lb_config),
      config_(std::move(config)),
      layout_(config_.workers.front().state->layout()) {
  for (size_t family = 0; family < layout_.families.size(); ++family) {
    has_tables_[family] = !layout_.families[family].services.empty();
    backend_states_[family].resize(layout_.families[family].backends.size());
  }
}

Result<Json> Control::run(const Json& request) {
  const Result<control::ParsedRequest> parsed = control::parse_request(command_list(), request);
  if (!parsed) return parsed.error();
  if (parsed.value().command->name == "reload") return reload();
  const std::scoped_lock lock(mutex_);
  return run_command(parsed.value());
}

std::string Control::answer(std::string_view request) {
  const Json json = Json::parse(request, nullptr, false);
  const Result<Json> result = json.is_discarded() ? Error{"the request is not JSON"} : run(json);
  Json answer = Json::object();
  if (result) {
    answer["result"] = result.value();
  } else {
    answer["error"] = result.error().message;
  }
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Json> Control::run_command(const control::ParsedRequest& request) {
  const std::string_view name = request.command->name;
  if (name == "stats") return stats();
  if (name == "services") return services();
  if (name == "backends") return backends(request.parameters);
  if (name == "backend") return backend(request.parameters);
  if (name == "flows") return flows(request.parameters);
  if (name == "timeouts") return timeouts(request.parameters);
  if (name == "neighbours") return neighbours(request.parameters);
  if (name == "announce") return announce();
  if (name == "trace") {
    if (!config_.trace) return Error{"this balancer cannot trace"};
    return config_.trace(request.parameters);
  }
  if (name == "workers") return workers();
  ROOST_ASSERT(name == "version");
  return version();
}

// One request for each worker. An error names the workers that did not answer.
std::optional<Error> Control::ask_all(std::span<node::Request* const> requests) {
  const std::vector<node::Answer> answers = config_.room->ask(requests, kAnswerWaitMax);
  for (size_t i = 0; i < answers.size(); ++i) {
    if (answers[i] == node::Answer::kClosed) return Error{"the balancer is ending"};
    if (answers[i] == node::Answer::kTimedOut) {
      return Error{
          fmt::format("worker {} did not answer within {} s; what was asked of the others "
                      "is done, ask again",
                      i, kAnswerWaitMax.count())};
    }
  }
  return {};
}

Result<Control::Sample> Control::sample() {
  const std::scoped_lock lock(mutex_);
  return take_sample();
}

}  // namespace roost::lb
