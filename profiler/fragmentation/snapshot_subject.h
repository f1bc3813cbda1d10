// SPDX-License-Identifier: Apache-2.0
// A snapshot of PyTorch as a subject: its history, its stacks as names, its failures.
#pragma once

#include <memory>
#include <optional>

#include "profiler/fragmentation/subject.h"
#include "profiler/model/source.h"
#include "profiler/snapshot/snapshot.h"
#include "trace_format/result.h"

namespace vramscope::fragmentation {

// Of CUDA device `device`; without one of the first that the snapshot has anything of. `source`: what the run
// was loaded from, so that moments of the run can be asked for (Subject::MomentAfter); nullptr: it was not.
[[nodiscard]] Result<Subject> SubjectOf(std::shared_ptr<const snapshot::Snapshot> snapshot,
                                        std::optional<uint32_t> device,
                                        const model::Source* source = nullptr);

}  // namespace vramscope::fragmentation
