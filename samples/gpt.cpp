// SPDX-License-Identifier: Apache-2.0
// Trains a small GPT with LibTorch: a training program without any Python.
//
//   sample_gpt --steps 20
//   sample_gpt --device cuda --batch 32 --accumulate 4 --optimizer momentum --lr 0.01
//
// vramscope/annotate.h names what it does: `vramscope record -- sample_gpt`, then `vramscope report run.vms`
// shows the memory of each range. Without a recorder the names cost nothing.
#include "gpt.h"

#include <vramscope/annotate.h>

#include <exception>
#include <string>

namespace {

// forward and backward as ranges, and the end of each step as a mark.
void NameParts(const sample::Moment& moment) {
  const std::string point = moment.point;
  if (point == "batch") {
    vramscope_push_range("forward");
  } else if (point == "forward") {
    vramscope_pop_range();
    vramscope_push_range("backward");
  } else if (point == "backward") {
    vramscope_pop_range();
  } else if (point == "step") {
    vramscope::mark("step done", static_cast<uint64_t>(moment.step));
  }
}

int Run(int argc, char** argv) {
  sample::Options options;
  if (!sample::Parse({argv + 1, argv + argc}, options)) {
    std::fputs(sample::kUsage, stderr);
    return 2;
  }
  torch::manual_seed(static_cast<uint64_t>(options.seed));
  sample::Gpt model(options.layers, options.dim);
  {
    const vramscope::Range range("move the model");
    model->to(options.device);
  }
  const auto optimizer = sample::MakeOptimizer(model, options);
  if (!optimizer) {
    std::fputs(sample::kUsage, stderr);
    return 2;
  }
  sample::Train(model, *optimizer, options, NameParts);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sample_gpt: %s\n", error.what());
    return 1;
  }
}
