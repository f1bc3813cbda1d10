// SPDX-License-Identifier: Apache-2.0
// What an optimizer steps: the parameters that got a gradient, one by one.
//
// Why not their blocks: the weights of a recurrent network lie in one block for cuDNN, and the optimizer
// keeps state for each of them, and computes one after the other. Each is a leaf of autograd of its own:
//
//   block   │ weight_ih │ weight_hh │ weight_ih │ weight_hh │ bias │ bias │ bias │ bias │
//
// A step may have several optimizers, and one may step several times, as a GAN's do:
//
//   judge.step()  judge.step()  maker.step()       the second one of the judge makes no state
#pragma once

#include <optional>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// A parameter as [others, rows, columns]; a vector has one row.
struct Extent {
  int64_t others = 1, rows = 1, columns = 1;
  bool matrix = false;
  bool batched = false;  // more than two dimensions: a product is aten::bmm, of a matrix aten::mm
  uint32_t element = 4;

  [[nodiscard]] int64_t Values() const { return others * rows * columns; }
  [[nodiscard]] uint64_t Bytes() const { return static_cast<uint64_t>(Values()) * element; }
  [[nodiscard]] uint64_t OfRows() const { return static_cast<uint64_t>(others * rows) * element; }
  [[nodiscard]] uint64_t OfColumns() const { return static_cast<uint64_t>(others * columns) * element; }
  [[nodiscard]] uint64_t OfOthers() const { return static_cast<uint64_t>(others) * element; }
};

struct TrainedParameter {
  uint32_t block = model::kNone;  // into Step::blocks
  uint64_t bytes = 0;
  std::optional<Extent> extent;  // none: no operator of the step had the whole of it
};

// In the order in which their blocks were allocated, and within a block in that of the step's operands.
// O(operands).
[[nodiscard]] std::vector<TrainedParameter> TrainedParameters(const Step& step);

// A call of an optimizer's step().
struct OptimizerCall {
  Window time;
  std::vector<TrainedParameter> stepped;  // in their turn, where it was seen
  std::vector<TrainedParameter> fresh;    // those that no call before it stepped: their state is made here

  // Each parameter gets as much of the time, from 50 on in hundredths of it; two parameters more would have
  // some.
  [[nodiscard]] int64_t Hundredths() const { return 100 * (static_cast<int64_t>(stepped.size()) + 2); }
  [[nodiscard]] Position At(int64_t hundredths) const {
    return PartOf(time.begin, time.end, hundredths, Hundredths());
  }
  // When so much of the i-th one's time is over, in per cent.
  [[nodiscard]] Position Turn(size_t i, int64_t percent) const {
    return At(100 * static_cast<int64_t>(i) + 50 + percent);
  }
};

// One for each of `times`, where the step's optimizers are now. Of several, each steps what its operators
// were seen to work on; the only one steps all. An error is a sentence: one works where no operator is seen.
// O(operands) the first time.
[[nodiscard]] Result<std::vector<OptimizerCall>> OptimizerCalls(const Step& step,
                                                                const std::vector<Window>& times);
// How many optimizers these are calls of: those that step what none before them did.
[[nodiscard]] size_t CountOptimizers(const std::vector<OptimizerCall>& calls);

}  // namespace vramscope::whatif
