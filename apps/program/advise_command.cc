#include "apps/program/advise_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <span>
#include <string_view>
#include <utility>

#include "apps/advise/report.h"
#include "apps/program/exit_status.h"
#include "apps/program/function_command.h"
#include "roost/memory/memory_there.h"

namespace roost::program {
namespace {

constexpr const char* kAdviseAbout =
    "Which table, how large, which timeouts: before anything is bought or configured.";

constexpr const char* kAdviseFooter =
    "\n"
    "  roost advise --connections 800000 --new 50000 --packets 1000000 --toml lb.toml\n"
    "  roost advise capture.pcap --toml lb.toml\n"
    "The advice, on standard output, is for `roost lb`; what is wrong, on standard error.\n"
    "\n"
    "Exit status:\n"
    "  0  there is an advice, and it fits\n"
    "  2  the command line is wrong: numbers out of range, or that contradict each other\n"
    "  4  the tables do not fit in memory (the advice is there), a capture cannot be read\n"
    "     or has no connection, or a file cannot be written";

constexpr std::array<std::string_view, 3> kFamilyWords = {"ipv4", "ipv6", "both"};

// The position of a word that is in the list.
size_t index_in(std::span<const std::string_view> words, std::string_view word) {
  return static_cast<size_t>(std::ranges::find(words, word) - words.begin());
}

std::vector<std::string> as_strings(std::span<const std::string_view> words) {
  return {words.begin(), words.end()};
}

// "udp=30" changes one; false: it is none.
bool apply_timeout(std::string_view text, advise::TimeoutSeconds& timeouts) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view number = text.substr(equals + 1);
  double seconds = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), seconds);
  if (error != std::errc() || end != number.data() + number.size() || !(seconds > 0)) return false;
  for (size_t i = 0; i < timeouts.size(); ++i) {
    if (conntrack::kTcpUdpTimeouts[i].name != text.substr(0, equals)) continue;
    timeouts[i] = seconds;
    return true;
  }
  return false;
}

std::string check_timeout(const std::string& text) {
  advise::TimeoutSeconds timeouts{};
  if (apply_timeout(text, timeouts)) return {};
  std::string names;
  for (const conntrack::NamedTimeout& named : conntrack::kTcpUdpTimeouts)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", named.name);
  return fmt::format("{} is no timeout; give NAME=SECONDS, NAME one of {}", text, names);
}

}  // namespace

AdviseCommand::AdviseCommand(CLI::App& app) : app_(app.add_subcommand("advise", kAdviseAbout)) {
  app_->footer(kAdviseFooter);
  auto* capture = app_->add_option("capture", capture_path_, "a capture, instead of numbers");
  auto* begin =
      app_->add_option("--new", workload_.new_per_second, "connections that begin in a second")
          ->excludes(capture);
  auto* packets = app_->add_option("--packets", workload_.packets_per_second, "packets a second")
                      ->excludes(capture);
  app_->add_option("--connections", workload_.connections, "connections alive at once")
      ->needs(begin)
      ->needs(packets)
      ->excludes(capture);
  app_->add_option("--follow", followed_max_, "connections of the capture to follow at a time")
      ->needs(capture)
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 31))
      ->capture_default_str();
  app_->add_option("--cores", workload_.cores, "each for one worker")->capture_default_str();
  app_->add_option("--family", family_, "addresses: ipv4, ipv6, or both")
      ->excludes(capture)
      ->capture_default_str()
      ->check(CLI::IsMember(as_strings(kFamilyWords)));
  app_->add_option("--mode", mode_, "of the services, as in `roost lb`")
      ->capture_default_str()
      ->check(CLI::IsMember(as_strings(lb::kModeNames)));
  app_->add_option("--udp", workload_.udp_share, "share of the connections that are UDP")
      ->excludes(capture)
      ->capture_default_str();
  app_->add_option("--silent", workload_.silent_share,
                   "share of TCP's connections that end without FIN or RST")
      ->excludes(capture)
      ->capture_default_str();
  app_->add_option("--timeout", timeouts_, "NAME=SECONDS: another than the default")
      ->check([](const std::string& text) { return check_timeout(text); });
  app_->add_option("--memory", memory_bytes_,
                   "bytes that tables may take, as 8G; else what this machine has")
      ->transform(CLI::AsSizeValue(false));
  app_->add_flag("--measure", measure_, "time such a load on this machine, too");
  app_->add_flag("--json", json_, "the advice as JSON");
  app_->add_option("--toml", toml_path_, "write the configuration to this file, too");
}

void AdviseCommand::require_load() const {
  if (capture_path_.empty() && app_->count("--connections") == 0)
    throw CLI::RequiredError("--connections, --new and --packets, or a capture,");
}

void AdviseCommand::apply_timeouts(advise::TimeoutSeconds& timeouts) const {
  for (const std::string& text : timeouts_) static_cast<void>(apply_timeout(text, timeouts));
}

Result<advise::Workload> AdviseCommand::find_workload(advise::TimeoutSeconds& timeouts,
                                                      std::optional<advise::Survey>& survey) const {
  const auto mode = static_cast<lb::Mode>(index_in(lb::kModeNames, mode_));
  advise::Workload workload = workload_;
  workload.families = static_cast<advise::Families>(index_in(kFamilyWords, family_));
  if (!capture_path_.empty()) {
    auto made = advise::survey_capture(
        capture_path_, {.is_reply_unseen = is_dsr(mode), .connections_max = followed_max_});
    if (!made) return made.error();
    survey.emplace(std::move(made).value());
    timeouts = advised_timeouts(*survey);
    apply_timeouts(timeouts);
    const double tick_seconds = advise::choose_tick(timeouts).value();
    workload = workload_of(*survey, timeouts, tick_seconds);
    workload.cores = workload_.cores;
  }
  workload.mode = mode;
  return workload;
}

int AdviseCommand::run() const {
  advise::TimeoutSeconds timeouts = advise::default_timeout_seconds();
  apply_timeouts(timeouts);
  if (const auto tick = advise::choose_tick(timeouts); !tick) {
    complain("--timeout: " + tick.error().message);
    return kExitUsage;
  }
  std::optional<advise::Survey> survey;
  const auto workload = find_workload(timeouts, survey);
  if (!workload) {
    complain(workload.error().message);
    return kExitCannotStart;
  }
  const auto advice = advise::advise(workload.value(), timeouts,
                                     memory_bytes_ ? memory_bytes_ : read_memory_there());
  if (!advice) {
    complain(advice.error().message);
    return kExitUsage;
  }
  advise::Findings findings{.survey = survey ? &*survey : nullptr};
  std::optional<advise::Measurement> measurement;
  if (measure_ && advice.value().fits()) {
    auto measured =
        advise::measure(advice.value(), {.largest_share = survey ? survey->largest_share() : 0});
    if (!measured) {
      complain(measured.error().message);
      return kExitCannotStart;
    }
    measurement = measured.value();
    findings.measurement = &*measurement;
  }
  return finish(advice.value(), findings);
}

int AdviseCommand::finish(const advise::Advice& advice, const advise::Findings& findings) const {
  if (json_) {
    fmt::print("{}\n", format_json(advice, findings));
  } else {
    fmt::print("{}", format_text(advice, findings));
    if (toml_path_.empty()) fmt::print("\n{}", format_toml(advice));
  }
  if (!toml_path_.empty()) {
    if (const int status = write_toml(format_toml(advice)); status != kExitOk) return status;
  }
  if (advice.fits()) return kExitOk;
  complain(fmt::format("the tables do not fit in memory: {} bytes are needed, {} are there",
                       advice.sizing.bytes, advice.memory_there.value_or(0)));
  return kExitCannotStart;
}

int AdviseCommand::write_toml(const std::string& toml) const {
  std::ofstream file(toml_path_);
  file << toml << std::flush;
  if (file) return kExitOk;
  complain(fmt::format("{}: cannot be written; give a file in a folder that is there", toml_path_));
  return kExitCannotStart;
}

}  // namespace roost::program
