// SPDX-License-Identifier: Apache-2.0
// Finds the parameters that each optimizer of a step updates: the parameters that got a gradient.
//
// One block can contain several parameters. For example, cuDNN needs all weights of a recurrent network in
// one block, but each weight is an autograd leaf of its own, and the optimizer updates each weight on its
// own:
//
//   block   │ weight_ih │ weight_hh │ weight_ih │ weight_hh │ bias │ bias │ bias │ bias │
//
// A step may call several optimizers, and one optimizer several times, as in a GAN:
//
//   judge.step()  judge.step()  maker.step()       the second judge.step() creates no optimizer state
#pragma once

#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

struct TrainedParameter {
  BlockIndex block;
  uint64_t bytes = 0;
};

// Returns the parameters that got a gradient. They are ordered by the allocation of their blocks; in a block,
// in the order of the step's operands. O(operands).
[[nodiscard]] std::vector<TrainedParameter> TrainedParameters(const Step& step);

// A call of an optimizer's step().
struct OptimizerCall {
  Window time;
  std::vector<TrainedParameter> stepped;  // updated parameters, in the optimizer's order if it is recorded
  std::vector<TrainedParameter> fresh;    // parameters whose state this call creates

  // The call's time is divided into hundredths: 100 for each parameter, and 200 more. The part of the first
  // parameter starts at hundredth 50.
  //
  // Example: two parameters have 400 hundredths. If the call's time is 0 to 800, their parts are 100 to 300
  // and 300 to 500.
  [[nodiscard]] int64_t Hundredths() const { return 100 * (static_cast<int64_t>(stepped.size()) + 2); }
  // Returns the time at a hundredth.
  [[nodiscard]] Position At(int64_t hundredths) const {
    return PartOf(time.begin, time.end, hundredths, Hundredths());
  }
  // Returns the time at which `percent` percent of the part of parameter `i` (0-based) has passed.
  [[nodiscard]] Position Turn(size_t i, int64_t percent) const {
    return At(100 * static_cast<int64_t>(i) + 50 + percent);
  }
};

// Returns one call for each of `times`. `times`: the windows of the optimizer calls in the scene. A single
// call updates all parameters. If there are several calls, each updates the parameters that its operators
// use. Returns an error if one of several calls has no recorded operators. The first call of this function
// takes O(operands).
[[nodiscard]] Result<std::vector<OptimizerCall>> OptimizerCalls(const Step& step,
                                                                const std::vector<Window>& times);
// Returns the number of optimizers that made these calls. It is the number of calls with `fresh` parameters.
[[nodiscard]] size_t CountOptimizers(const std::vector<OptimizerCall>& calls);

}  // namespace vramscope::whatif
