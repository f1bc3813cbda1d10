// SPDX-License-Identifier: Apache-2.0
// The tables of a run that Python reads. docs/python.md describes their columns.
//
// Rows come from the same analysis as the report's figures (export/content.h).
#pragma once

#include <memory>

#include "profiler/export/content.h"
#include "profiler/model/run.h"
#include "profiler/python/capi/table.h"

namespace vramscope::python {

using SharedTable = std::shared_ptr<const Table>;

// The recorded events in order. O(events); needs no loaded run.
[[nodiscard]] SharedTable EventsTable(const model::Source& source);
// One row for each allocation. `content` chooses the device of peak_category.
[[nodiscard]] SharedTable BlocksTable(const exporting::Content& content);
// The memory of these devices after each change, in steps first_step to last_step; first_step 0: no limit.
[[nodiscard]] SharedTable SeriesTable(const exporting::Content& content,
                                      const std::vector<model::DeviceIndex>& devices, uint32_t first_step,
                                      uint32_t last_step);
// The frames of all stacks that events name, outermost first.
[[nodiscard]] SharedTable StacksTable(const model::Source& source);
// The calls of operators in deep steps, in order of their begin.
[[nodiscard]] SharedTable OperatorsTable(const model::Source& source);
// Memory that PyTorch's caching allocator took from the driver.
[[nodiscard]] SharedTable SegmentsTable(const model::Run& run);

}  // namespace vramscope::python
