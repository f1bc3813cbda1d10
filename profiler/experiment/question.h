// SPDX-License-Identifier: Apache-2.0
// Splits a what-if question into two kinds of changes. Some changes need a re-run in PyTorch. The other
// changes (transformations) are computed from the step of that re-run. The re-run is stored with the trace as
// a variant.
//
//   --amp bf16 --checkpoint all --batch 2x
//      re-run:      amp=bf16 batch=2x    PyTorch runs the recorded program with these changes
//      transformed: checkpoint=all       this change is applied to the recorded step of that run
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

// The requested changes in two parts.
struct Question {
  std::vector<whatif::Asked> rerun;
  std::vector<whatif::Asked> transformed;
};
// Splits the changes. `checkpoint` is part of the re-run if `lora` or `freeze` is also requested
// (LeverInfo::with).
[[nodiscard]] Question SplitQuestion(const std::vector<whatif::Asked>& asked);

// The environment of a step, which affects its memory.
struct Place {
  std::string gpu;         // simulated model: "rtx-4090"; "" = a real GPU
  std::string alloc_conf;  // PYTORCH_CUDA_ALLOC_CONF; "" = PyTorch's defaults
  unsigned world = 1;      // ranks of the job
  friend bool operator==(const Place&, const Place&) = default;
};
// Returns the environment of the recorded step.
[[nodiscard]] Place RecordedPlace(const trace::Metadata& metadata);

// Returns the key under which a variant is stored: "amp=bf16 batch=2x @ gpu=rtx-4090 world=1". The order of
// the changes does not matter.
[[nodiscard]] std::string VariantKey(std::vector<whatif::Asked> rerun, const Place& place);

// The changes and the environment that a key contains. ReadVariantKey returns nullopt for an invalid key. The
// key may be untrusted.
struct KeyParts {
  std::vector<whatif::Asked> changes;
  Place place;
};
[[nodiscard]] std::optional<KeyParts> ReadVariantKey(std::string_view key);

// The changes of `vramscope dryrun --variants usual`.
[[nodiscard]] const std::vector<std::vector<whatif::Asked>>& UsualVariants();

// Returns the changes as options: "--amp bf16 --batch 2x". The text is not quoted for a shell.
[[nodiscard]] std::string OptionsText(const std::vector<whatif::Asked>& asked);

}  // namespace vramscope::experiment
