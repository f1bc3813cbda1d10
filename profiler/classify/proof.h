// SPDX-License-Identifier: Apache-2.0
// The recorded fact that proves a block's category, as a value and as a sentence.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::classify {

enum class Proof : uint8_t {
  // Labels.
  kAccumulateGrad,
  kModuleRegistry,
  kOptimizerLabel,
  kDataLoaderLabel,
  kRegisterBuffer,
  kWorkspaceLabel,
  kCollective,
  kDataParallel,
  // Autograd.
  kSaved,
  // The time of the allocation.
  kBornInForward,
  kBornInEvaluation,
  kBornInBackward,
  kBornInUpdate,
  kBornInOptimizer,
  kBornInDataLoader,
  // The time of the allocation and later events.
  kPreparedAndSaved,
  kPreparedAndAliveInBackward,
  kSetUpAndSaved,
  kOutlivedNextStep,
  kOutlivedOptimizer,
  kWeightCopy,
  // No proof.
  kBornOutsidePhases,
  kBornBeforeFirstStep,
  kHeldBeforeAttach,
  kAllocationNotSeen,
};
inline constexpr size_t kProofCount = 25;

// Returns the key in JSON, such as "saved_for_backward".
[[nodiscard]] const char* ProofKey(Proof proof);
// Returns the sentence for users, such as "Autograd kept it for backward."
[[nodiscard]] const char* ProofSentence(Proof proof);

}  // namespace vramscope::classify
