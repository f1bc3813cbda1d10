// SPDX-License-Identifier: Apache-2.0
// The two parts of a what-if question: changes for a re-run in PyTorch, and changes computed on that re-run's
// step.
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

// True if only a re-run in PyTorch can answer this change: it affects types, kernels, sizes, or what autograd
// saves. Other changes remove blocks, change their lifetimes, or change the allocator.
[[nodiscard]] bool AnsweredByRerun(const whatif::Asked& asked);

struct Question {
  std::vector<whatif::Asked> rerun;
  std::vector<whatif::Asked> transformed;
};
// Checkpoints are re-run together with --lora and --freeze (LeverInfo::with).
[[nodiscard]] Question SplitQuestion(const std::vector<whatif::Asked>& asked);

// The environment in which a program is run again.
struct Place {
  std::string gpu;         // a model of the simulated device: "rtx-4090"
  std::string alloc_conf;  // PYTORCH_CUDA_ALLOC_CONF; "" = PyTorch's defaults
  unsigned world = 1;      // ranks of the job
  friend bool operator==(const Place&, const Place&) = default;
};
// The environment of a recording; without a GPU if it was a real one.
[[nodiscard]] Place RecordedPlace(const trace::Metadata& metadata);

// The key of a variant: "amp=bf16 batch=2x @ gpu=rtx-4090 world=1". It does not depend on the order of the
// changes.
[[nodiscard]] std::string VariantKey(std::vector<whatif::Asked> rerun, const Place& place);

// The inverse of VariantKey. Returns nothing for a key that VariantKey cannot produce: the text is untrusted.
struct KeyParts {
  std::vector<whatif::Asked> changes;
  Place place;
};
[[nodiscard]] std::optional<KeyParts> ReadVariantKey(std::string_view key);

// The most common questions: `vramscope dryrun --variants usual` runs these.
[[nodiscard]] const std::vector<std::vector<whatif::Asked>>& UsualVariants();

// Changes in the form of a command line: "--amp bf16 --batch 2x". Not quoted for a shell.
[[nodiscard]] std::string OptionsText(const std::vector<whatif::Asked>& asked);

}  // namespace vramscope::experiment
