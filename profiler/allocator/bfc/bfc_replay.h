// SPDX-License-Identifier: Apache-2.0
// Replays the history of TensorFlow's BFC allocator in the allocator model. allocator::Replay and
// allocator::Rerun call these functions for such histories. In this file, a region is device memory that the
// allocator took from the driver, like a PyTorch segment.
//
//   Replay   the model gets the recorded requests, frees and regions; each address is compared
//   Rerun    the model gets the recorded requests and frees, other options, and a device with a capacity
#pragma once

#include <string_view>

#include "profiler/allocator/bfc/bfc_allocator.h"
#include "profiler/allocator/history.h"
#include "profiler/allocator/replay.h"
#include "profiler/allocator/rerun.h"
#include "trace_format/result.h"

namespace vramscope::allocator::bfc {

// Returns the allocator's options, derived from the recorded regions. For example, if the allocator cannot
// grow (allow_growth is off), its first region has the size of its memory limit.
[[nodiscard]] Options OptionsOf(const History& history);
// Returns `base` with changed options. Format of `settings`:
// "allow_growth:True,garbage_collection:False,fragmentation_fraction:0.1".
[[nodiscard]] Result<Options> WithSettings(const Options& base, std::string_view settings);

[[nodiscard]] ReplayResult Replay(const History& history, BlockSizes* sizes);
[[nodiscard]] Result<RerunResult> Rerun(const History& history, const RerunRequest& request);

}  // namespace vramscope::allocator::bfc
