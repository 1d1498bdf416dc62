#include "apps/map/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <span>
#include <utility>

#include "apps/map/image.h"
#include "roost/compact/line_map_builder_impl.h"
#include "roost/hash/random_seed.h"

namespace roost::map {
namespace {

using Trial = compact::ParrotBuilder::Trial;

template <class MapKey, class Convert>
Result<Built> build_line_map(const BuildOptions& options, const EntryFile& file,
                             Convert&& convert) {
  using Builder = compact::LineMapBuilder<MapKey>;
  std::vector<typename Builder::Entry> entries;
  entries.reserve(file.entries.size());
  for (const Entry& entry : file.entries) entries.push_back({convert(entry.key), entry.value});
  auto map = Builder::build({.value_bits = options.value_bits,
                             .fingerprint_bits = options.fingerprint_bits,
                             .load = options.load,
                             .hash_seed = options.hash_seed},
                            std::move(entries));
  if (!map) return map.error();
  return Built{.image = map.value().exported()};
}

// Numbers have as many bits as the widest of them.
uint32_t key_bits_of(const BuildOptions& options, const EntryFile& file) {
  if (options.key_bits) return *options.key_bits;
  if (file.form != KeyForm::kNumber) return bits_of_form(file.form);
  return std::max(1U, static_cast<uint32_t>(std::bit_width(file.entries.back().key.low)));
}

Result<Built> build_parrot(const BuildOptions& options, const EntryFile& file) {
  if (file.form == KeyForm::kIpv6)
    return Error{"Parrot's keys have at most 64 bits; give --kind line-map for IPv6 addresses"};
  std::vector<compact::ParrotEntry> entries;
  entries.reserve(file.entries.size());
  for (const Entry& entry : file.entries) entries.push_back({entry.key.low, entry.value});
  auto table = compact::ParrotBuilder::build(
      {.key_bits = key_bits_of(options, file),
       .value_bits = options.value_bits,
       .fingerprint_bits = options.fingerprint_bits,
       .keeps_keys = options.keeps_keys,
       .load = options.load,
       .model = options.model,
       .has_steps = options.has_steps,
       .hash_seed = options.hash_seed ? *options.hash_seed : random_seed()},
      std::move(entries));
  if (!table) return Error{table.error().message + "; --kind line-map takes any keys"};
  const std::span<const Trial> trials = table.value().trials();
  return Built{.image = table.value().exported(), .trials = {trials.begin(), trials.end()}};
}

// The last trial is the one that was taken, once more.
bool is_taken(const Trial& trial, const std::vector<Trial>& trials) {
  return trial.choice.kind == trials.back().choice.kind &&
         trial.choice.size == trials.back().choice.size;
}

}  // namespace

Result<Built> build_image(const BuildOptions& options, const EntryFile& file) {
  if (options.kind == compact::ImageKind::kParrot) return build_parrot(options, file);
  if (options.keeps_keys || options.model || options.has_steps || options.key_bits)
    return Error{"--keep-keys, --model, --steps and --key-bits are Parrot's; give --kind parrot"};
  if (file.form == KeyForm::kIpv6) return build_line_map<net::Ipv6Address>(options, file, ipv6_of);
  return build_line_map<uint64_t>(options, file, [](const Key& key) { return key.low; });
}

std::optional<compact::ModelChoice> parse_model(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {};
  compact::ModelChoice choice;
  if (text.substr(0, colon) == "spline") {
    choice.kind = compact::ModelKind::kSpline;
  } else if (text.substr(0, colon) == "steps") {
    choice.kind = compact::ModelKind::kSteps;
  } else if (text.substr(0, colon) != "rmi") {
    return {};
  }
  const std::string_view size = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), choice.size);
  if (error != std::errc() || end != size.data() + size.size() || choice.size == 0) return {};
  return choice;
}

std::string format_trials(const std::vector<Trial>& trials) {
  if (trials.empty()) return {};
  std::string text = "models tried:\n";
  for (const Trial& trial : std::span(trials).first(trials.size() - 1)) {
    const std::string why = trial.image_bytes == 0
                                ? "refused: a lookup would look at too many of them"
                                : fmt::format("{} bytes{}", trial.image_bytes,
                                              is_taken(trial, trials) ? ": taken, the fewest" : "");
    text += fmt::format("  {:<24} fullest bucket of {} keys, {} in the stash, {}\n",
                        trial.choice.format(), trial.longest, trial.stashed, why);
  }
  return text;
}

control::Json trials_json(const std::vector<Trial>& trials) {
  control::Json rows = control::Json::array();
  for (size_t i = 0; i + 1 < trials.size(); ++i) {
    rows.push_back({{"model", trials[i].choice.format()},
                    {"fullest_bucket", trials[i].longest},
                    {"stashed", trials[i].stashed},
                    {"image_bytes", trials[i].image_bytes},
                    {"is_refused", trials[i].image_bytes == 0},
                    {"is_taken", is_taken(trials[i], trials)}});
  }
  return rows;
}

}  // namespace roost::map
