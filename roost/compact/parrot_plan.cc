#include "roost/compact/parrot_plan.h"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "roost/compact/lookup_groups.h"

namespace roost::compact {
namespace {

constexpr std::array kModelsTried = {
    ModelChoice{ModelKind::kRmi, 128},    ModelChoice{ModelKind::kRmi, 4'096},
    ModelChoice{ModelKind::kRmi, 65'536}, ModelChoice{ModelKind::kSpline, 32},
    ModelChoice{ModelKind::kSpline, 8},   ModelChoice{ModelKind::kSpline, 1}};
constexpr uint64_t kKeysMax = UINT32_MAX;

std::optional<Error> wrong_config(const ParrotConfig& config) {
  if (config.key_bits < 1 || config.key_bits > 64) return Error{"key_bits: give 1 to 64"};
  if (auto wrong = wrong_widths(config.value_bits, config.fingerprint_bits)) return wrong;
  if (!(config.load > 0 && config.load <= 1)) return Error{"load: give more than 0 and at most 1"};
  if (!(config.growth >= 1)) return Error{"growth: give at least 1"};
  if (config.model && config.model->size == 0) return Error{"a model has at least 1 line"};
  return {};
}

ParrotShape shape_of(const ParrotConfig& config) {
  return {.key_bits = config.key_bits,
          .value_bits = config.value_bits,
          .fingerprint_bits = config.fingerprint_bits,
          .has_keys = config.keeps_keys ? 1U : 0U};
}

// The entries are sorted.
std::optional<Error> wrong_entries(const ParrotShape& shape, std::span<const ParrotEntry> entries) {
  if (entries.empty()) return Error{"there is no entry to build a table of"};
  if (entries.size() > kKeysMax) return Error{"a table has fewer than 2^32 keys"};
  for (size_t i = 0; i < entries.size(); ++i) {
    const uint64_t key = entries[i].key;
    const uint32_t value = entries[i].value;
    const auto wrong = [key](const std::string& why) {
      return Error{"key " + std::to_string(key) + why};
    };
    if (key > shape.key_mask())
      return wrong(" has more than " + std::to_string(shape.key_bits) + " bits");
    if (value >= shape.absent()) {
      return wrong(" has the value " + std::to_string(value) + "; values of " +
                   std::to_string(shape.value_bits) + " bits are below " +
                   std::to_string(shape.absent()));
    }
    if (i > 0 && key == entries[i - 1].key) return wrong(" is there twice");
  }
  return {};
}

// Where the parts of an image begin.
ParrotHead head_of(const ParrotShape& shape, const ModelHead& model, uint64_t bucket_count,
                   uint64_t hash_seed) {
  ParrotHead head{
      .image = {.magic = kImageMagic, .version = kImageVersion, .kind = ImageKind::kParrot},
      .shape = shape,
      .model = model,
      .hash_seed = hash_seed,
      .bucket_count = bucket_count,
      .lines_offset = sizeof(ParrotHead)};
  head.buckets_offset = aligned_to_words(head.lines_offset + MonotoneModel::bytes_of(model));
  head.keys_offset = aligned_to_words(head.buckets_offset + bucket_count * shape.bucket_bytes());
  head.stash_offset =
      head.keys_offset +
      (shape.has_keys != 0 ? bucket_count * kBucketSlots * sizeof(uint64_t) : uint64_t{0});
  return head;
}

// What the keys would come to under a model.
ParrotTrial try_model(const ModelChoice& choice, const BuiltModel& model,
                      std::span<const uint64_t> keys, const ParrotHead& head) {
  ParrotTrial trial{.choice = choice, .model_bytes = MonotoneModel::bytes_of(model.head)};
  for_each_bucket(model.view(), keys, [&](uint64_t, size_t, size_t count) {
    trial.longest = std::max<uint64_t>(trial.longest, count);
    trial.stashed += count > kBucketSlots ? count - kBucketSlots : 0;
  });
  if (trial.longest <= kBucketSlots + kStashWalkMax) {
    trial.image_bytes =
        head.stash_offset + trial.stashed * head.shape.entry_bytes() + kImagePadding;
  }
  return trial;
}

struct Chosen {
  BuiltModel model;
  std::vector<ParrotTrial> trials;  // its own last
};

Result<Chosen> choose_model(const ParrotConfig& config, std::span<const uint64_t> keys,
                            uint64_t bucket_count) {
  Chosen chosen;
  std::optional<ParrotTrial> best;
  uint64_t longest = UINT64_MAX;
  const std::span<const ModelChoice> choices =
      config.model ? std::span(&*config.model, 1) : std::span<const ModelChoice>(kModelsTried);
  for (const ModelChoice& choice : choices) {
    // More lines than buckets would only cost bytes.
    const bool is_useless = choice.kind == ModelKind::kRmi && choice.size > bucket_count;
    if (is_useless && !config.model && best) continue;
    BuiltModel model = build_model(choice, keys, bucket_count);
    if (config.has_steps) model = steps_of(model.view(), keys);
    const ParrotHead head = head_of(shape_of(config), model.head, model.bucket_count(), 0);
    const ParrotTrial trial = try_model(choice, model, keys, head);
    chosen.trials.push_back(trial);
    longest = std::min(longest, trial.longest);
    if (trial.image_bytes == 0 || (best && best->image_bytes <= trial.image_bytes)) continue;
    best = trial;
    chosen.model = std::move(model);
  }
  if (!best) {
    return Error{"no model fits the keys: their fullest bucket would have " +
                 std::to_string(longest) + " keys, and a lookup looks at " +
                 std::to_string(kBucketSlots + kStashWalkMax) +
                 " at most; take a table that hashes its keys, as FlowTable does"};
  }
  chosen.trials.push_back(*best);
  return chosen;
}

}  // namespace

Result<ParrotPlan> plan_parrot(const ParrotConfig& config, std::span<const ParrotEntry> entries) {
  if (const auto wrong = wrong_config(config)) return *wrong;
  const ParrotShape shape = shape_of(config);
  if (const auto wrong = wrong_entries(shape, entries)) return *wrong;
  std::vector<uint64_t> keys(entries.size());
  std::ranges::transform(entries, keys.begin(), &ParrotEntry::key);
  const double slots = static_cast<double>(keys.size()) / config.load;
  if (slots >= static_cast<double>(kKeysMax))
    return Error{"a table has fewer than 2^32 slots; give fewer keys or a higher load"};
  auto chosen = choose_model(config, keys, static_cast<uint64_t>(slots) / kBucketSlots + 1);
  if (!chosen) return chosen.error();
  const uint64_t bucket_count = chosen.value().model.bucket_count();

  ParrotPlan plan{.model = std::move(chosen.value().model),
                  .trials = std::move(chosen.value().trials),
                  .seeds = std::vector<uint8_t>(bucket_count),
                  .has_failed = std::vector<bool>(bucket_count)};
  bool is_too_full = false;
  for_each_bucket(plan.model.view(), keys, [&](uint64_t bucket, size_t first, size_t count) {
    const size_t in_slots = std::min(count, kBucketSlots);
    const auto seed = find_seed(std::span(keys).subspan(first, in_slots));
    plan.seeds[bucket] = seed.value_or(0);
    plan.has_failed[bucket] = !seed;
    if (!seed) ++plan.failed;
    const size_t stashed = seed ? count - in_slots : count;
    plan.stashed += stashed;
    is_too_full |= stashed > kStashWalkMax;
  });
  if (is_too_full)
    return Error{
        "a bucket that no seed tells apart has too many keys; build anew "
        "with another load"};
  plan.head = head_of(shape, plan.model.head, bucket_count, config.hash_seed);
  return plan;
}

}  // namespace roost::compact
