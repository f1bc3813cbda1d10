// SPDX-License-Identifier: Apache-2.0
// Converts a PyTorch snapshot to a subject: its history, its stacks as names, its failures.
#pragma once

#include <memory>
#include <optional>

#include "profiler/fragmentation/subject.h"
#include "profiler/model/source.h"
#include "profiler/snapshot/snapshot.h"
#include "trace_format/result.h"

namespace vramscope::fragmentation {

// The subject for CUDA device `device`, or for the first device with data if none is given. `source` is the
// source of the loaded run, which Subject::MomentAfter needs; nullptr if no run was loaded.
[[nodiscard]] Result<Subject> SubjectOf(std::shared_ptr<const snapshot::Snapshot> snapshot,
                                        std::optional<uint32_t> device,
                                        const model::Source* source = nullptr);

}  // namespace vramscope::fragmentation
