// SPDX-License-Identifier: Apache-2.0
// Another batch size: blocks that the batch reaches grow or shrink with it, all others stay.
#include <charconv>
#include <cmath>

#include "profiler/whatif/batch_axis.h"
#include "profiler/whatif/lever.h"

namespace vramscope::whatif {
namespace {

// "16", or "0.5x" of `batch`.
Result<int64_t> ParseBatch(std::string_view value, int64_t batch) {
  const bool factor = !value.empty() && value.back() == 'x';
  const std::string_view number = factor ? value.substr(0, value.size() - 1) : value;
  double amount = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), amount);
  if (error != std::errc() || end != number.data() + number.size() || !(amount > 0) || amount > 1e9)
    return Error{"--batch needs a number of samples, or a factor such as 0.5x, not \"" + std::string(value) +
                 "\"."};
  const double wanted = factor ? amount * static_cast<double>(batch) : amount;
  if (wanted < 1 || wanted != std::floor(wanted)) {
    return Error{"--batch " + std::string(value) + " is no whole number of samples: the recorded batch has " +
                 std::to_string(batch) + "."};
  }
  return static_cast<int64_t>(wanted);
}

class Batch final : public Lever {
 public:
  const LeverInfo& info() const override {
    static constexpr LeverInfo kInfo = {
        "batch", "N | FACTORx", "another number of samples in a batch",
        "operators with shapes and strides (a deep step), and a batch of 2 or more"};
    return kInfo;
  }

  bool ChangesForward() const override { return true; }

  // Smaller ones: three quarters, and halves.
  std::vector<std::string> Settings(const Step& step) const override {
    const Result<BatchAxis>& axis = FollowBatch(step);
    if (!axis.ok()) return {};
    std::vector<std::string> sizes;
    constexpr int64_t kQuarters = 4;
    if (axis->batch % kQuarters == 0) sizes.push_back(std::to_string(axis->batch / kQuarters * 3));
    for (int64_t size = axis->batch / 2; size >= 1; size /= 2) sizes.push_back(std::to_string(size));
    return sizes;
  }

  Result<Outcome> Apply(const Step& step, std::string_view value, Scene& scene) const override {
    const Result<BatchAxis>& axis = FollowBatch(step);
    if (!axis.ok()) return axis.error();
    const Result<int64_t> wanted = ParseBatch(value, axis->batch);
    if (!wanted.ok()) return wanted.error();
    ScaleBatch(step, *axis, *wanted, scene);
    Outcome outcome;
    if (*wanted < axis->batch) {
      const double more = static_cast<double>(axis->batch) / static_cast<double>(*wanted) - 1;
      outcome.extra_ns = more * step.HostNs(0, step.length);
      outcome.time_basis =
          "host time of the further steps that the same samples take, each like the recorded one; kernels "
          "are "
          "not timed";
    }
    outcome.code = "DataLoader(..., batch_size=" + std::to_string(*wanted) + ")";
    outcome.notes = axis->notes;
    return outcome;
  }
};

}  // namespace

const Lever& BatchLever() {
  static const Batch lever;
  return lever;
}

}  // namespace vramscope::whatif
