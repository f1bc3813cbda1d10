// SPDX-License-Identifier: Apache-2.0
// A snapshot as the history of one device's allocator, for replay and what stands on it.
#pragma once

#include "profiler/allocator/history.h"
#include "profiler/snapshot/snapshot.h"

namespace vramscope::snapshot {

// Events and segments of `device` as the file has them: requested bytes, addresses, order. Events without a
// time have time 0; the pool of an event is unknown in files that do not say it. Left out are events of a
// kind that this program does not know (IsKnown).
[[nodiscard]] inline bool IsKnown(const Event& event) { return event.action != Action::kOther; }
[[nodiscard]] allocator::History HistoryOf(const Snapshot& snapshot, uint32_t device);

}  // namespace vramscope::snapshot
