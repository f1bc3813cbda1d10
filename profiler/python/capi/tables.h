// SPDX-License-Identifier: Apache-2.0
// Makes the tables of a run that Python reads. docs/python.md describes their columns.
//
// The tables come from the same analysis as the figures of a report (export/content.h).
#pragma once

#include <memory>

#include "profiler/export/content.h"
#include "profiler/model/run.h"
#include "profiler/python/capi/table.h"

namespace vramscope::python {

using SharedTable = std::shared_ptr<const Table>;

// Returns one row for each recorded event, in order. O(events).
[[nodiscard]] SharedTable EventsTable(const model::Source& source);
// Returns one row for each allocation. The column peak_category is about the peak of content.device().
[[nodiscard]] SharedTable BlocksTable(const exporting::Content& content);
// Returns the memory of `devices` over time, in the steps from first_step to last_step. If first_step is 0,
// in all steps and outside steps.
[[nodiscard]] SharedTable SeriesTable(const exporting::Content& content,
                                      const std::vector<model::DeviceIndex>& devices, uint32_t first_step,
                                      uint32_t last_step);
// Returns the frames of all stacks that events refer to, outermost frame first.
[[nodiscard]] SharedTable StacksTable(const model::Source& source);
// Returns the operator calls of deep steps, in the order of their begin.
[[nodiscard]] SharedTable OperatorsTable(const model::Source& source);
// Returns the segments that PyTorch's caching allocator took from the driver.
[[nodiscard]] SharedTable SegmentsTable(const model::Run& run);

}  // namespace vramscope::python
