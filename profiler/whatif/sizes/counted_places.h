// SPDX-License-Identifier: Apache-2.0
// Tokens of all samples that are counted, and given places in room for so many of them, as experts have:
//
//   chosen = one_hot(expert, experts)              [512, 8]  the tokens of all samples
//   place = chosen.cumsum(0) - 1                   [512, 8]  the how manieth of its expert each token is
//   slots = one_hot(place, capacity)               [512, 8, 80]
//
// Why refused: the room is a number of the program's, as capacity = int(1.25 * tokens / experts) is, or one
// of its settings. Of the first another batch has another number, rounded in its own way; of the second it
// has the same. The recording has the number alone.
#pragma once

#include <string>

#include "profiler/whatif/sizes/batch_axis.h"

namespace vramscope::whatif {

enum class Counted : uint8_t {
  kTogether,  // tokens of several samples, `axis` is that of the batch
  kAtAll      // tokens, `axis` is theirs
};

// Why more or fewer of them cannot be predicted: they are counted into room that nothing else in the step
// tells of. "" where none are. O(operands).
[[nodiscard]] std::string WhyRoomUnknown(const Step& step, const BatchAxis& axis,
                                         Counted counted = Counted::kTogether);

}  // namespace vramscope::whatif
