// SPDX-License-Identifier: Apache-2.0
// A generated training run of three layers. It is small enough to compare a view with a pass over all blocks.
#pragma once

#include <cstdint>
#include <memory>

#include "profiler/model/testing/training_loop.h"
#include "viewer/model/document.h"

namespace vramscope::viewer {

// `events`: at least; the last step is finished.
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
