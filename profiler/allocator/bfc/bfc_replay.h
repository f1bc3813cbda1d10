// SPDX-License-Identifier: Apache-2.0
// Replay and re-run of a TensorFlow history. allocator::Replay and allocator::Rerun call these functions.
//
//   replay    requests, frees and regions  ──►  each address compared; the driver answers as recorded
//   re-run    requests and frees           ──►  a device of a given capacity, and other options
#pragma once

#include <string_view>

#include "profiler/allocator/bfc/bfc_allocator.h"
#include "profiler/allocator/history.h"
#include "profiler/allocator/replay.h"
#include "profiler/allocator/rerun.h"
#include "trace_format/result.h"

namespace vramscope::allocator::bfc {

// The options, as far as the recorded regions show them: without growth, the first region is the whole limit.
[[nodiscard]] Options OptionsOf(const History& history);
// `base` changed by "allow_growth:True,garbage_collection:False,fragmentation_fraction:0.1".
[[nodiscard]] Result<Options> WithSettings(const Options& base, std::string_view settings);

[[nodiscard]] ReplayResult Replay(const History& history, BlockSizes* sizes);
[[nodiscard]] Result<RerunResult> Rerun(const History& history, const RerunRequest& request);

}  // namespace vramscope::allocator::bfc
