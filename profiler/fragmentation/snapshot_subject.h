// SPDX-License-Identifier: Apache-2.0
// Makes a PyTorch snapshot a subject: its history, its stacks as names, its failures.
#pragma once

#include <memory>
#include <optional>

#include "profiler/fragmentation/subject.h"
#include "profiler/model/source.h"
#include "profiler/snapshot/snapshot.h"
#include "trace_format/result.h"

namespace vramscope::fragmentation {

// For CUDA device `device`; if not given, the first device with any data in the snapshot. `source` is what
// the run was loaded from, so that moments of the run can be used (Subject::MomentAfter); nullptr: no run was
// loaded.
[[nodiscard]] Result<Subject> SubjectOf(std::shared_ptr<const snapshot::Snapshot> snapshot,
                                        std::optional<uint32_t> device,
                                        const model::Source* source = nullptr);

}  // namespace vramscope::fragmentation
