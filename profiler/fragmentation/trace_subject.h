// SPDX-License-Identifier: Apache-2.0
// A device of a trace as a subject: the history of its caching allocator, pieced together from what the hooks
// saw of PyTorch (blocks) and of the driver (segments), with names, categories, steps and failures.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "profiler/classify/analysis.h"
#include "profiler/fragmentation/subject.h"
#include "trace_format/result.h"

namespace vramscope::fragmentation {

// `analysis` and its run must outlive the subject. Fails when the device has no caching allocator.
[[nodiscard]] Result<Subject> SubjectOf(const classify::Analysis& analysis, model::DeviceIndex device);

// The same in two parts: where blocks lie follows from the run, so that a viewer places them while the run is
// analysed.
struct PlacedSubject {
  Subject subject;  // without steps, and with nothing about who has a block
  // Adds these to the subject; `analysis` must outlive it too.
  std::function<void(const classify::Analysis& analysis, Subject& subject)> explain;
};
[[nodiscard]] Result<PlacedSubject> PlacedSubjectOf(const model::Run& run, model::DeviceIndex device);

}  // namespace vramscope::fragmentation
