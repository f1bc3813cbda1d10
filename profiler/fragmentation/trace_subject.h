// SPDX-License-Identifier: Apache-2.0
// Converts a device of a trace to a subject. The history of its caching allocator is assembled from the
// recorded calls to PyTorch's allocator (blocks) and to the driver (segments), with names, categories, steps
// and failures.
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

// SubjectOf in two parts. The positions of blocks depend only on the run, so a viewer computes them while the
// run is being analyzed.
struct PlacedSubject {
  Subject subject;  // without steps and without descriptions of blocks
  // Adds the steps and descriptions to the subject. `analysis` must outlive the subject too.
  std::function<void(const classify::Analysis& analysis, Subject& subject)> explain;
};
[[nodiscard]] Result<PlacedSubject> PlacedSubjectOf(const model::Run& run, model::DeviceIndex device);

}  // namespace vramscope::fragmentation
