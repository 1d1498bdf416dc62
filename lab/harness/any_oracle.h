// A contestant that only answers, with its type forgotten: an oracle in a table's own memory. It is
// made for one table as it stands and for one stream, and is asked nothing else.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "lab/harness/call.h"
#include "lab/harness/contestant.h"
#include "lab/harness/drive.h"
#include "lab/harness/workload.h"

namespace roost::lab {

class AnyOracle {
 public:
  AnyOracle() = default;
  AnyOracle(const AnyOracle&) = delete;
  AnyOracle& operator=(const AnyOracle&) = delete;
  virtual ~AnyOracle() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::optional<std::string> form(Call call) const = 0;
  [[nodiscard]] virtual std::optional<std::string> first_wrong(const Stream& stream, Call call) = 0;
  [[nodiscard]] virtual PassOutcome pass(const Stream& stream, Call call) = 0;
};

template <Checkable Oracle>
class TypedOracle final : public AnyOracle {
 public:
  explicit TypedOracle(Oracle oracle) : oracle_(std::move(oracle)) {}

  [[nodiscard]] std::string_view name() const override { return Oracle::kName; }
  [[nodiscard]] std::optional<std::string> form(Call call) const override {
    return form_of<Oracle>(call);
  }
  [[nodiscard]] std::optional<std::string> first_wrong(const Stream& stream, Call call) override {
    return with_view(oracle_, call, [&](auto& view) {
      return first_wrong_answer(view, stream.as<KeyOf<Oracle>>(), call.lanes);
    });
  }
  [[nodiscard]] PassOutcome pass(const Stream& stream, Call call) override {
    return with_view(oracle_, call, [&](auto& view) {
      return drive(view, stream.as<KeyOf<Oracle>>(), call.lanes);
    });
  }

 private:
  Oracle oracle_;
};

}  // namespace roost::lab
