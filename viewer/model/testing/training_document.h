// SPDX-License-Identifier: Apache-2.0
// For tests: a generated training run of three layers. The run is so small that a test can compare a view
// with a pass over all blocks.
#pragma once

#include <cstdint>
#include <memory>

#include "profiler/model/testing/training_loop.h"
#include "viewer/model/document.h"

namespace vramscope::viewer {

// The run has at least `events` events, because the last step is completed.
inline model::Run TrainingRun(uint64_t events = 6000) {
  model::testing::TrainingShape shape;
  shape.events = events;
  shape.layers = 3;
  return model::Load(model::testing::MakeTrainingTrace(shape)).value();
}

inline std::unique_ptr<Document> TrainingDocument() {
  return MakeDocument("loop.vms", TrainingRun(), nullptr);
}

}  // namespace vramscope::viewer
