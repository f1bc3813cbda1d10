// SPDX-License-Identifier: Apache-2.0
// Writes the sentences about growth that all commands and the viewer use.
#pragma once

#include <string>
#include <vector>

#include "profiler/growth/growth.h"

namespace vramscope::growth {

// Returns one sentence about all places: "Memory grows by 128.0 MiB a step, pinned host memory by 4.0 MiB a
// step, from 2 places." or "Memory grows by 12.0 MiB every 20 steps, from 1 place." `places` must not be
// empty.
[[nodiscard]] std::string Headline(const std::vector<Growth>& places);

// Returns the rate of growth: "128.0 MiB of every step", "12.0 MiB every 20 steps" or "12.0 MiB at a time,
// 1.0 MiB a step on average".
[[nodiscard]] std::string RateText(const Growth& growth);

// Returns the steps with growth: "since step 1" or "from 3 of steps 21 to 61".
[[nodiscard]] std::string SinceText(const Growth& growth);

// Returns the place in words: "train.py:42, layers.3.attn, aten::softmax" or "an unrecorded place".
[[nodiscard]] std::string PlaceText(const Growth& growth);

// Returns what keeps the blocks alive, and the advice: "an object of the program keeps them: a list, a cache,
// a closure".
[[nodiscard]] std::string KeeperText(const Growth& growth);

// Returns a sentence with the options of `vramscope record` that would record the place; "" if none are
// needed.
[[nodiscard]] std::string MissingText(const Growth& growth);

}  // namespace vramscope::growth
