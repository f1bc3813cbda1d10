// SPDX-License-Identifier: Apache-2.0
// Converts a PyTorch snapshot to a Subject, the input of the fragmentation analysis.
#pragma once

#include <memory>
#include <optional>

#include "profiler/fragmentation/subject.h"
#include "profiler/model/source.h"
#include "profiler/snapshot/snapshot.h"
#include "trace_format/result.h"

namespace vramscope::fragmentation {

// Converts CUDA device `device`, or the first device with data if no device is given. `source` is the source
// of the loaded run, which Subject::MomentAfter uses; it may be nullptr.
[[nodiscard]] Result<Subject> SubjectOf(std::shared_ptr<const snapshot::Snapshot> snapshot,
                                        std::optional<uint32_t> device,
                                        const model::Source* source = nullptr);

}  // namespace vramscope::fragmentation
