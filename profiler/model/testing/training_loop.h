// SPDX-License-Identifier: Apache-2.0
// A long training run made by rule: the mix of events that a transformer's training loop gives (counts per
// step as in a recorded one), for benchmarks: steps and their phases, three deep steps, names and roles,
// stacks, saved activations, frees, and the segments that the allocator takes from the driver. Every event is
// made when it is read, so ten million of them take no memory of their own.
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

// The run as a source that makes its events on the way.
std::shared_ptr<const Source> MakeTrainingTrace(const TrainingShape& shape);
// The same run written through a TraceWriter.
Status WriteTrainingTrace(const TrainingShape& shape, trace::TraceWriter& writer);
// ... and as a file.
Status WriteTrainingFile(const TrainingShape& shape, const std::string& path);

}  // namespace vramscope::model::testing
