// SPDX-License-Identifier: Apache-2.0
// The parameters that an optimizer steps: those that got a gradient, one by one.
//
// cuDNN needs the weights of a recurrent network in one block. The optimizer still steps each weight by
// itself. Each is an autograd leaf:
//
//   block   │ weight_ih │ weight_hh │ weight_ih │ weight_hh │ bias │ bias │ bias │ bias │
//
// A step may have several optimizers, and several calls of one, as in a GAN:
//
//   judge.step()  judge.step()  maker.step()       the judge's second step creates no state
#pragma once

#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

struct TrainedParameter {
  BlockIndex block;
  uint64_t bytes = 0;
};

// The parameters by allocation of their blocks; within a block, in the order of the step's operands.
// O(operands).
[[nodiscard]] std::vector<TrainedParameter> TrainedParameters(const Step& step);

// A call of an optimizer's step().
struct OptimizerCall {
  Window time;
  std::vector<TrainedParameter> stepped;  // in the optimizer's order, if recorded
  std::vector<TrainedParameter> fresh;    // not stepped by an earlier call: their state is created here

  // The call's time has one part of 100 hundredths per parameter, and two more parts. The first parameter's
  // part starts at hundredth 50.
  //
  // Example: two parameters, time 0 to 800, so 400 hundredths. Their parts are 100 to 300 and 300 to 500.
  [[nodiscard]] int64_t Hundredths() const { return 100 * (static_cast<int64_t>(stepped.size()) + 2); }
  [[nodiscard]] Position At(int64_t hundredths) const {
    return PartOf(time.begin, time.end, hundredths, Hundredths());
  }
  // When `percent` of the i-th parameter's part is over.
  [[nodiscard]] Position Turn(size_t i, int64_t percent) const {
    return At(100 * static_cast<int64_t>(i) + 50 + percent);
  }
};

// One call for each of `times`, the current windows of the step's optimizers. With several optimizers, each
// steps the parameters that its operators used. A single optimizer steps all parameters. Fails if a call has
// no recorded operators. O(operands) on first use.
[[nodiscard]] Result<std::vector<OptimizerCall>> OptimizerCalls(const Step& step,
                                                                const std::vector<Window>& times);
// Number of optimizers that made these calls: calls with `fresh` parameters.
[[nodiscard]] size_t CountOptimizers(const std::vector<OptimizerCall>& calls);

}  // namespace vramscope::whatif
