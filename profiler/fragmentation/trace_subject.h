// SPDX-License-Identifier: Apache-2.0
// Converts a device of a trace to a subject. Recorded allocator calls give the blocks, driver calls the
// segments.
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

// SubjectOf in two parts. The first part needs only the run, not its analysis.
struct PlacedSubject {
  Subject subject;  // without steps and descriptions of blocks
  // Adds steps and descriptions. `analysis` must outlive the subject too.
  std::function<void(const classify::Analysis& analysis, Subject& subject)> explain;
};
[[nodiscard]] Result<PlacedSubject> PlacedSubjectOf(const model::Run& run, model::DeviceIndex device);

}  // namespace vramscope::fragmentation
