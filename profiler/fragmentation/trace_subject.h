// SPDX-License-Identifier: Apache-2.0
// Converts one device of a trace to a Subject, the input of the fragmentation analysis. The blocks come from
// recorded allocator calls, and the segments from recorded driver calls.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "profiler/classify/analysis.h"
#include "profiler/fragmentation/subject.h"
#include "trace_format/result.h"

namespace vramscope::fragmentation {

// `analysis` and its run must outlive the subject. Fails if the device has no caching allocator.
[[nodiscard]] Result<Subject> SubjectOf(const classify::Analysis& analysis, model::DeviceIndex device);

// The result of the first part of SubjectOf, which needs only the run, not its analysis.
struct PlacedSubject {
  Subject subject;  // without steps and descriptions of blocks
  // The second part of SubjectOf: adds steps and descriptions of blocks. `analysis` must outlive `subject`.
  std::function<void(const classify::Analysis& analysis, Subject& subject)> explain;
};
[[nodiscard]] Result<PlacedSubject> PlacedSubjectOf(const model::Run& run, model::DeviceIndex device);

}  // namespace vramscope::fragmentation
