// SPDX-License-Identifier: Apache-2.0
// A generated long training run for benchmarks, with the event mix of a transformer's training loop. The run
// has steps, phases, three deep steps, names, roles, stacks, saved activations, frees and segments. Events
// are generated when read and take no memory.
#pragma once

#include <memory>
#include <string>

#include "profiler/model/source.h"
#include "trace_format/writer.h"

namespace vramscope::model::testing {

struct TrainingShape {
  uint64_t events = 10'000'000;  // minimum; the last step is always complete
  uint32_t layers = 24;
  uint64_t hidden_bytes = 1 << 20;
};

// A source that generates its events.
std::shared_ptr<const Source> MakeTrainingTrace(const TrainingShape& shape);
// Writes the same run through a TraceWriter.
Status WriteTrainingTrace(const TrainingShape& shape, trace::TraceWriter& writer);
// Writes the same run into a file.
Status WriteTrainingFile(const TrainingShape& shape, const std::string& path);

}  // namespace vramscope::model::testing
