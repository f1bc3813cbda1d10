// SPDX-License-Identifier: Apache-2.0
// A what-if question in its two parts: what PyTorch is asked, and what is computed from what PyTorch
// answered.
//
//   --amp bf16 --checkpoint all --batch 2x
//      re-run:      amp=bf16 batch=2x    the noted program runs under these: the variant
//      transformed: checkpoint=all       applied to the variant's recorded step
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/whatif/answer/predict.h"
#include "trace_format/definitions.h"

namespace vramscope::experiment {

// Whether only PyTorch can say what this change does: it changes types, kernels, sizes, or what autograd
// keeps. The others move or remove lives of blocks, or change the allocator.
[[nodiscard]] bool AnsweredByRerun(const whatif::Asked& asked);

struct Question {
  std::vector<whatif::Asked> rerun;
  std::vector<whatif::Asked> transformed;
};
[[nodiscard]] Question SplitQuestion(const std::vector<whatif::Asked>& asked);

// Where a program is run again.
struct Place {
  std::string gpu;         // a model of the simulated device: "rtx-4090"
  std::string alloc_conf;  // PYTORCH_CUDA_ALLOC_CONF; "" = PyTorch's own choices
  unsigned world = 1;      // ranks of the job
  friend bool operator==(const Place&, const Place&) = default;
};
// That a recording was made on: without a GPU where that was a real one.
[[nodiscard]] Place RecordedPlace(const trace::Metadata& metadata);

// The key of a variant: the same for the same changes in any order. "amp=bf16 batch=2x @ gpu=rtx-4090
// world=1".
[[nodiscard]] std::string VariantKey(std::vector<whatif::Asked> rerun, const Place& place);

// The other way round. Nothing where VariantKey makes no such key: foreign text.
struct KeyParts {
  std::vector<whatif::Asked> changes;
  Place place;
};
[[nodiscard]] std::optional<KeyParts> ReadVariantKey(std::string_view key);

// Those that people ask for most: what `vramscope dryrun --variants usual` makes.
[[nodiscard]] const std::vector<std::vector<whatif::Asked>>& UsualVariants();

// Changes as a command line has them: "--amp bf16 --batch 2x". Not quoted for a shell.
[[nodiscard]] std::string OptionsText(const std::vector<whatif::Asked>& asked);

}  // namespace vramscope::experiment
