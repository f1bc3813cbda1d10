// SPDX-License-Identifier: Apache-2.0
// A generated long training run for benchmarks, with the event mix of a transformer's training loop (counts
// per step as in a recorded one). It has steps and their phases, three deep steps, names and roles, stacks,
// saved activations, frees, and the segments that the allocator takes from the driver. Each event is
// generated when it is read, so ten million of them take no memory.
#pragma once

#include <memory>
#include <string>

#include "profiler/model/source.h"
#include "trace_format/writer.h"

namespace vramscope::model::testing {

struct TrainingShape {
  uint64_t events = 10'000'000;  // at least; the last step is finished
  uint32_t layers = 24;
  uint64_t hidden_bytes = 1 << 20;
};

// The run as a source that generates its events while they are read.
std::shared_ptr<const Source> MakeTrainingTrace(const TrainingShape& shape);
// The same run written through a TraceWriter.
Status WriteTrainingTrace(const TrainingShape& shape, trace::TraceWriter& writer);
// ... and as a file.
Status WriteTrainingFile(const TrainingShape& shape, const std::string& path);

}  // namespace vramscope::model::testing
