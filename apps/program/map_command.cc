#include "apps/program/map_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "apps/map/export.h"
#include "apps/map/image_report.h"
#include "apps/program/exit_status.h"
#include "apps/program/function_command.h"
#include "roost/memory/whole_file.h"

namespace roost::program {
namespace {

constexpr const char* kMapAbout =
    "Value-only tables: built from a text file, shown, asked, handed to other data planes.";

constexpr const char* kMapFooter =
    "\n"
    "  roost map build ports.txt -o ports.image\n"
    "  roost map show ports.image\n"
    "  roost map ask ports.image 02:00:00:00:00:01\n"
    "  roost map attach ports.image eth0 --action 1=eth1 --action 2=eth2\n"
    "\n"
    "Exit status:\n"
    "  0  done\n"
    "  1  ask: a key has no value, or with --compare another one\n"
    "  2  the command line is wrong\n"
    "  3  the entries were refused; each fault is printed with its line\n"
    "  4  a file cannot be read or written, or is no image as `build` makes them; or the kernel\n"
    "     refuses, or has not, a program at the interface";

constexpr const char* kParrot = "parrot";
// By ExportFormat.
constexpr std::array<std::string_view, 4> kFormats = {"parts", "swx", "p4", "report"};

std::string word_of(const map::Answer& answer) {
  return answer.is_certain ? "certain" : "unverified";
}

std::string text_of(const std::optional<uint32_t>& value) {
  return value ? fmt::format("{}", *value) : "-";
}

// What an image of such keys cannot have been asked; nothing: it can.
std::optional<std::string> wrong_question(const map::Image& image, const map::Question& question) {
  const bool is_ipv6 = image.key_bits() == map::bits_of_form(map::KeyForm::kIpv6);
  if (is_ipv6 == (question.key.form == map::KeyForm::kIpv6)) return {};
  return fmt::format("{}: the keys of this image are {}IPv6 addresses", question.text,
                     is_ipv6 ? "" : "not ");
}

}  // namespace

MapCommand::MapCommand(CLI::App& app)
    : app_(app.add_subcommand("map", kMapAbout)),
      build_(app_->add_subcommand("build", "make an image of a text file of keys and values")),
      show_(app_->add_subcommand("show", "what is in an image: bytes by part, load, longest walk")),
      ask_(app_->add_subcommand("ask", "what an image says of keys")),
      export_(app_->add_subcommand("export",
                                   "an image as files of a new folder, for other data planes")),
      attach_(*app_) {
  app_->footer(kMapFooter);
  add_build();
  add_image(*show_);
  show_->add_flag("--json", json_, "the same as JSON");
  add_ask();
  add_export();
}

void MapCommand::add_image(CLI::App& command) {
  command.add_option("image", image_path_, "an image that `build` made")->required();
  command.add_flag("--attached", is_attached_,
                   "the image is the name of an interface: what was attached to it");
}

void MapCommand::add_build() {
  build_->add_option("entries", entries_path_, "a key and a value a line; # begins a comment")
      ->required();
  build_->add_option("-o,--output", image_path_, "write the image to this file")->required();
  build_->add_option("--kind", kind_, "line-map: any keys; parrot: keys that can be learned")
      ->capture_default_str()
      ->check(CLI::IsMember({"line-map", kParrot}));
  build_->add_option("--value-bits", options_.value_bits, "of values; all ones are reserved")
      ->capture_default_str()
      ->check(CLI::Range(4U, 32U));
  build_
      ->add_option("--fingerprint-bits", options_.fingerprint_bits,
                   "beside each value, so that fewer keys that are not there get one")
      ->capture_default_str()
      ->check(CLI::IsMember({0, 8, 12, 16}));
  build_->add_option("--load", options_.load, "keys over slots, at most 0.97, Parrot's 1")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 1.0));
  build_->add_option("--seed", options_.hash_seed,
                     "of hashes, for images that repeat; else random");
  build_->add_option("--key-bits", options_.key_bits, "Parrot: of keys, if not as their form has")
      ->check(CLI::Range(1U, 64U));
  build_->add_flag("--keep-keys", options_.keeps_keys,
                   "Parrot: keys beside slots, so that answers are certain");
  build_
      ->add_option(
          "--model", model_,
          "Parrot: rmi:LINES, spline:BUCKETS or steps:KEYS, instead of the best of several")
      ->check([](const std::string& text) {
        return map::parse_model(text) ? std::string()
                                      : text + " is no model; give rmi:4096 or spline:8";
      });
  build_->add_flag("--steps", options_.has_steps,
                   "Parrot: buckets that few prefixes match, for switches");
  build_->add_flag("--json", json_, "say as JSON what the image has");
}

void MapCommand::add_ask() {
  add_image(*ask_);
  ask_->add_option("keys", keys_, "addresses or numbers");
  auto* file = ask_->add_option("--file", keys_path_, "a key a line, with or without a value");
  ask_->add_flag("--compare", compare_, "print only keys whose value is not the one of the file")
      ->needs(file);
  ask_->add_flag("--json", json_, "answers as JSON");
}

void MapCommand::add_export() {
  add_image(*export_);
  export_->add_option("folder", folder_, "a folder that is not there")->required();
  export_
      ->add_option("--format", format_,
                   "parts: bytes and their layout; of Parrot: swx and p4, for switches (P4-16: not "
                   "tested), and report, of what Tofino 1 would need (analytic)")
      ->capture_default_str()
      ->check(CLI::IsMember(std::vector<std::string>(kFormats.begin(), kFormats.end())));
  export_
      ->add_option("--answer", answer_,
                   "switches: port, the value is where a packet leaves; source, its source address")
      ->capture_default_str()
      ->check(CLI::IsMember({"port", "source"}));
  export_->add_option("--ports", export_options_.port_count, "switches: values below are ports")
      ->capture_default_str()
      ->check(CLI::Range(1U, targets::kPortCountMax));
  export_
      ->add_option("--stash-reads", export_options_.stash_reads,
                   "switches: entries of the stash that a packet reads")
      ->capture_default_str()
      ->check(CLI::Range(0U, targets::kStashReadsMax));
}

void MapCommand::require_arguments() const {
  if (app_->get_subcommands().empty())
    throw CLI::RequiredError("build, show, ask, export, attach or detach");
  if (ask_->parsed() && keys_.empty() && keys_path_.empty())
    throw CLI::RequiredError("A key, or --file,");
}

int MapCommand::run() const {
  if (build_->parsed()) return build();
  if (attach_.is_attach()) return attach_.attach();
  if (attach_.is_detach()) return attach_.detach();
  return with_image([&](const map::Image& image) {
    if (ask_->parsed()) return ask(image);
    return show_->parsed() ? print_report(image) : export_image(image);
  });
}

template <class Take>
int MapCommand::with_image(Take&& take) const {
  std::optional<xdp::AttachedXdp> attached;
  if (is_attached_) {
    auto found = find_attached(image_path_);
    if (!found) {
      complain(found.error().message);
      return kExitCannotStart;
    }
    attached.emplace(std::move(found).value());
  }
  const auto image =
      attached ? map::Image::borrow(attached->image()) : map::Image::read(image_path_);
  if (image) return take(image.value());
  complain(image.error().message);
  return kExitCannotStart;
}

int MapCommand::build() const {
  map::BuildOptions options = options_;
  if (kind_ == kParrot) options.kind = compact::ImageKind::kParrot;
  if (!model_.empty()) options.model = map::parse_model(model_);
  const auto entries = map::read_entries(
      entries_path_, {.value_bits = options.value_bits, .key_bits = options.key_bits});
  if (!entries) {
    complain(entries.error().message);
    return kExitBadConfig;
  }
  const auto built = map::build_image(options, entries.value());
  if (!built) {
    complain(built.error().message);
    return kExitBadConfig;
  }
  if (const auto unwritten = roost::write_whole(image_path_, built.value().image)) {
    complain(unwritten->message);
    return kExitCannotStart;
  }
  return with_image(
      [&](const map::Image& image) { return print_report(image, built.value().trials); });
}

int MapCommand::print_report(const map::Image& image,
                             const std::vector<compact::ParrotBuilder::Trial>& trials) const {
  std::optional<xdp::XdpCounts> counts;
  if (is_attached_) {
    const auto attached = find_attached(image_path_);
    const auto read = attached ? attached.value().counts() : attached.error();
    if (!read) {
      complain(read.error().message);
      return kExitCannotStart;
    }
    counts = read.value();
  }
  const map::ImageReport report = map::report_of(image);
  if (json_) {
    control::Json json = map::format_json(report);
    if (!trials.empty()) json["models_tried"] = map::trials_json(trials);
    if (counts) json["packets"] = counts_json(*counts);
    fmt::print("{}\n", json.dump(2));
  } else {
    fmt::print("{}{}", map::format_trials(trials), map::format_text(report));
    if (counts) fmt::print("{}", counts_text(*counts));
  }
  return kExitOk;
}

Result<std::vector<map::Question>> MapCommand::questions() const {
  std::vector<map::Question> questions;
  for (const std::string& text : keys_) {
    const auto key = map::parse_key(text);
    if (!key) return Error{text + " is no key; give an address, or a number, decimal or 0x..."};
    questions.push_back({.text = text, .key = *key});
  }
  if (keys_path_.empty()) return questions;
  auto read = map::read_questions(keys_path_);
  if (!read) return read.error();
  std::ranges::move(read.value(), std::back_inserter(questions));
  return questions;
}

int MapCommand::ask(const map::Image& image) const {
  const auto asked = questions();
  if (!asked) {
    complain(asked.error().message);
    return kExitBadConfig;
  }
  std::vector<map::Key> keys;
  keys.reserve(asked.value().size());
  for (const map::Question& question : asked.value()) {
    if (const auto wrong = wrong_question(image, question)) {
      complain(*wrong);
      return kExitBadConfig;
    }
    keys.push_back(question.key.key);
  }
  return print_answers(asked.value(), image.answers(keys));
}

int MapCommand::print_answers(const std::vector<map::Question>& questions,
                              const std::vector<map::Answer>& answers) const {
  uint64_t wrong = 0;
  control::Json rows = control::Json::array();
  for (size_t i = 0; i < questions.size(); ++i) {
    const map::Question& question = questions[i];
    const map::Answer& answer = answers[i];
    const bool is_right = compare_ ? answer.value == question.value : answer.value.has_value();
    wrong += is_right ? 0 : 1;
    if (compare_ && is_right) continue;
    if (json_) {
      control::Json row{{"key", question.text}, {"is_certain", answer.is_certain}};
      row["value"] = answer.value ? control::Json(*answer.value) : control::Json();
      rows.push_back(std::move(row));
    } else {
      fmt::print("{} {} {}\n", question.text, text_of(answer.value), word_of(answer));
    }
  }
  if (json_) fmt::print("{}\n", rows.dump(2));
  if (wrong == 0) return kExitOk;
  if (compare_) {
    complain(fmt::format("{} of {} keys have another value than in {}", wrong, questions.size(),
                         keys_path_));
  }
  return kExitBrokenSums;
}

int MapCommand::export_image(const map::Image& image) const {
  targets::ExportOptions options = export_options_;
  if (answer_ == "source") options.answer = targets::Answer::kSource;
  const auto format =
      static_cast<map::ExportFormat>(std::ranges::find(kFormats, format_) - kFormats.begin());
  const auto error = map::export_image(image, folder_, format, options);
  if (!error) return kExitOk;
  complain(error->message);
  return kExitCannotStart;
}

}  // namespace roost::program
