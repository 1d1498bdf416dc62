// `roost map`: value-only tables as files, from text to image and back to answers.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/map/build.h"
#include "apps/map/entry_file.h"
#include "apps/map/export.h"
#include "apps/map/image.h"
#include "apps/program/map_attach.h"

namespace roost::program {

class MapCommand {
 public:
  // Adds the subcommand to `app`, which must not outlive this object.
  explicit MapCommand(CLI::App& app);
  MapCommand(const MapCommand&) = delete;
  MapCommand& operator=(const MapCommand&) = delete;

  [[nodiscard]] bool is_parsed() const { return app_->parsed(); }
  // Throws CLI::RequiredError.
  void require_arguments() const;
  // Returns an exit status of exit_status.h.
  [[nodiscard]] int run() const;

 private:
  void add_build();
  void add_ask();
  void add_export();
  [[nodiscard]] int build() const;
  [[nodiscard]] int ask(const map::Image& image) const;
  [[nodiscard]] int export_image(const map::Image& image) const;
  void add_image(CLI::App& command);
  // The image of a file, or what is attached to an interface; calls take(image), which returns an
  // exit status.
  template <class Take>
  [[nodiscard]] int with_image(Take&& take) const;
  // With the models that were tried, if this is a build.
  [[nodiscard]] int print_report(
      const map::Image& image, const std::vector<compact::ParrotBuilder::Trial>& trials = {}) const;
  // Those of the command line, then those of the file.
  [[nodiscard]] Result<std::vector<map::Question>> questions() const;
  [[nodiscard]] int print_answers(const std::vector<map::Question>& questions,
                                  const std::vector<map::Answer>& answers) const;

  CLI::App* app_;
  CLI::App* build_;
  CLI::App* show_;
  CLI::App* ask_;
  CLI::App* export_;
  MapAttach attach_;
  std::string entries_path_;
  std::string image_path_;
  std::string folder_;
  std::string format_ = "parts";
  std::string answer_ = "port";
  targets::ExportOptions export_options_{};
  std::string kind_ = "line-map";
  std::string model_;
  map::BuildOptions options_{};
  std::vector<std::string> keys_;
  std::string keys_path_;
  bool is_attached_ = false;
  bool compare_ = false;
  bool json_ = false;
};

}  // namespace roost::program
