#include "roost/control/control.h"

#include <chrono>
#include <sstream>
#include <utility>

#include "roost/control/neighbour_rows.h"

namespace roost::control {

namespace {

// Announces the local addresses. All workers have the same ones, so one gets the request.
class AnnounceRequest final : public node::Request {
 public:
  explicit AnnounceRequest(l3::NextHops& next_hops) : next_hops_(next_hops) {}
  bool step() override {
    next_hops_.announce();
    return true;
  }

 private:
  l3::NextHops& next_hops_;
};

}  // namespace

Result<Json> Control::run(const Json& request) {
  const Result<ParsedRequest> parsed = parse_request(config_.commands, request);
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
    const Command& command = *find_command(config_.commands, json["command"].get<std::string>());
    answer["view"] = command.view(result.value());
  } else {
    answer["error"] = result.error().message;
  }
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Json> Control::run_command(const ParsedRequest& request) {
  const std::string_view name = request.command->name;
  if (name == "neighbours") return neighbours(request.parameters);
  if (name == "announce") return announce();
  if (name == "version") return version();
  if (name == "trace") {
    if (!config_.trace) return Error{"this " + config_.function + " cannot trace"};
    return config_.trace(request.parameters);
  }
  return run_own(request);
}

Result<Json> Control::reload() {
  Result<Json> outcome = [this] {
    const std::scoped_lock lock(mutex_);
    Result<Json> taken = take_file();
    ++(taken ? reloads_.taken : reloads_.refused);
    return taken;
  }();
  tell_reload(outcome);
  if (outcome && config_.on_reload) config_.on_reload();
  return outcome;
}

// A line for each fault, as at the start.
void Control::tell_reload(const Result<Json>& outcome) const {
  if (outcome) {
    config_.tell(Severity::kNotice, "the configuration was taken: " + taken_text(outcome.value()));
    return;
  }
  std::istringstream faults(outcome.error().message);
  for (std::string fault; std::getline(faults, fault);) config_.tell(Severity::kError, fault);
  config_.tell(Severity::kError, "the configuration was not taken; nothing has changed");
}

// By one worker: each address is announced once.
Result<Json> Control::announce() {
  std::vector<node::Request*> posted(config_.workers.size(), nullptr);
  AnnounceRequest request(*config_.workers.front().next_hops);
  posted.front() = &request;
  if (auto error = ask(posted)) return *error;
  return Json{{"addresses", advertised_count()}};
}

Result<Json> Control::neighbours(const Json& parameters) {
  Requests<NeighboursRequest> requests;
  for (const WorkerHandle& worker : config_.workers) {
    requests.add(worker.next_hops->neighbours());
  }
  if (auto error = ask(requests.posted())) return *error;
  return Json{{"neighbours", neighbour_rows_json(requests, parameters.value("state", ""))}};
}

Json Control::version() const {
  return {{"roost", ROOST_PROJECT_VERSION},
          {"io", config_.io_version},
          {"workers", config_.workers.size()}};
}

void Control::complete(RunReport& report) const {
  config_.read_devices(report.run.ports);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began_;
  report.run.seconds = elapsed.count();
  add_up_ports(report);
  report.reloads = reloads_;
}

}  // namespace roost::control
