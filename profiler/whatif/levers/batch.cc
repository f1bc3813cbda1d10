// SPDX-License-Identifier: Apache-2.0
// Another batch size: blocks that the batch reaches grow or shrink with it, all others stay.
#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/sizes/batch_axis.h"
#include "profiler/whatif/sizes/copied_views.h"
#include "profiler/whatif/sizes/sample_turns.h"
#include "profiler/whatif/step/amount.h"

namespace vramscope::whatif {
namespace {

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
    const Result<const BatchAxis*> followed = BatchToScale(step);
    if (!followed.ok()) return {};
    const BatchAxis* const axis = *followed;
    std::vector<std::string> sizes;
    constexpr int64_t kQuarters = 4;
    if (axis->batch % kQuarters == 0) sizes.push_back(std::to_string(axis->batch / kQuarters * 3));
    for (int64_t size = axis->batch / 2; size >= 1; size /= 2) sizes.push_back(std::to_string(size));
    return sizes;
  }

  Result<Outcome> Apply(const Step& step, std::string_view value, Scene& scene) const override {
    const Result<const BatchAxis*> followed = BatchToScale(step);
    if (!followed.ok()) return followed.error();
    const BatchAxis* const axis = *followed;
    const Result<int64_t> wanted = ParseAmount("batch", "samples", value, axis->batch);
    if (!wanted.ok()) return wanted.error();
    if (*wanted == 1)
      if (const std::string why = WhyOneLiesOtherwise(step, *axis); !why.empty()) return Error{why};
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
