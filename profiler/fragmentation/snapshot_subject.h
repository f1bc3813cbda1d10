// SPDX-License-Identifier: Apache-2.0
// A snapshot of PyTorch as a subject: its history, its stacks as names, its failures.
#pragma once

#include <memory>
#include <optional>

#include "profiler/fragmentation/subject.h"
#include "profiler/snapshot/snapshot.h"
#include "trace_format/result.h"

namespace vramscope::fragmentation {

// Of CUDA device `device`; without one the device with the most reserved memory, or the most events.
[[nodiscard]] Result<Subject> SubjectOf(std::shared_ptr<const snapshot::Snapshot> snapshot,
                                        std::optional<uint32_t> device);

}  // namespace vramscope::fragmentation
