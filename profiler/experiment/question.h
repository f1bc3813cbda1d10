// SPDX-License-Identifier: Apache-2.0
// The two parts of a what-if question: changes for a re-run in PyTorch, and changes computed on that re-run's
// step.
//
//   --amp bf16 --checkpoint all --batch 2x
//      re-run:      amp=bf16 batch=2x    the recorded program runs with these: the variant
//      transformed: checkpoint=all       applied to the variant's recorded step
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/whatif/answer/predict.h"
#include "trace_format/definitions.h"

namespace vramscope::experiment {

// True if the change needs a re-run: it affects types, kernels, sizes, or tensors that autograd saves.
[[nodiscard]] bool AnsweredByRerun(const whatif::Asked& asked);

struct Question {
  std::vector<whatif::Asked> rerun;
  std::vector<whatif::Asked> transformed;
};
// --checkpoint moves to the re-run if --lora or --freeze is asked too (LeverInfo::with).
[[nodiscard]] Question SplitQuestion(const std::vector<whatif::Asked>& asked);

struct Place {
  std::string gpu;         // simulated model: "rtx-4090"; "" = a real GPU
  std::string alloc_conf;  // PYTORCH_CUDA_ALLOC_CONF; "" = PyTorch's defaults
  unsigned world = 1;      // ranks of the job
  friend bool operator==(const Place&, const Place&) = default;
};
// The environment of a recording.
[[nodiscard]] Place RecordedPlace(const trace::Metadata& metadata);

// The key of a variant: "amp=bf16 batch=2x @ gpu=rtx-4090 world=1". Independent of the order of changes.
[[nodiscard]] std::string VariantKey(std::vector<whatif::Asked> rerun, const Place& place);

// The inverse of VariantKey. Returns nothing for an invalid key. Accepts untrusted text.
struct KeyParts {
  std::vector<whatif::Asked> changes;
  Place place;
};
[[nodiscard]] std::optional<KeyParts> ReadVariantKey(std::string_view key);

// The changes of `vramscope dryrun --variants usual`.
[[nodiscard]] const std::vector<std::vector<whatif::Asked>>& UsualVariants();

// Changes as options: "--amp bf16 --batch 2x". Not quoted for a shell.
[[nodiscard]] std::string OptionsText(const std::vector<whatif::Asked>& asked);

}  // namespace vramscope::experiment
