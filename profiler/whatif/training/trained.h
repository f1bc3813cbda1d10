// SPDX-License-Identifier: Apache-2.0
// The parameters that an optimizer steps: those that got a gradient, one by one.
//
// Why not their blocks: cuDNN needs the weights of a recurrent network in one block. The optimizer keeps
// state for each of these weights and steps them one after the other. Each one is an autograd leaf:
//
//   block   │ weight_ih │ weight_hh │ weight_ih │ weight_hh │ bias │ bias │ bias │ bias │
//
// A step may have several optimizers, and one may step several times, as in a GAN:
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

// The parameters in the order in which their blocks were allocated; within a block, in the order of the
// step's operands. O(operands).
[[nodiscard]] std::vector<TrainedParameter> TrainedParameters(const Step& step);

// A call of an optimizer's step().
struct OptimizerCall {
  Window time;
  std::vector<TrainedParameter> stepped;  // in the order of the optimizer's work, if it was recorded
  std::vector<TrainedParameter> fresh;    // those that no earlier call stepped: their state is created here

  // The call's time is divided into equal parts of 100 hundredths, one per parameter, and two more parts. The
  // first parameter starts at 50.
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

// Returns one call for each of `times`, the current windows of the step's optimizers. If there are several
// optimizers, each one steps the parameters that its operators used; a single one steps all. Fails with a
// sentence if a call has no recorded operators. O(operands) on first use.
[[nodiscard]] Result<std::vector<OptimizerCall>> OptimizerCalls(const Step& step,
                                                                const std::vector<Window>& times);
// Number of optimizers that made these calls: the number of calls that have `fresh` parameters.
[[nodiscard]] size_t CountOptimizers(const std::vector<OptimizerCall>& calls);

}  // namespace vramscope::whatif
