// SPDX-License-Identifier: Apache-2.0
// Converts a PyTorch snapshot to a subject.
#pragma once

#include <memory>
#include <optional>

#include "profiler/fragmentation/subject.h"
#include "profiler/model/source.h"
#include "profiler/snapshot/snapshot.h"
#include "trace_format/result.h"

namespace vramscope::fragmentation {

// For CUDA device `device`, or the first device with data. `source`: source of the loaded run, for
// Subject::MomentAfter; may be nullptr.
[[nodiscard]] Result<Subject> SubjectOf(std::shared_ptr<const snapshot::Snapshot> snapshot,
                                        std::optional<uint32_t> device,
                                        const model::Source* source = nullptr);

}  // namespace vramscope::fragmentation
