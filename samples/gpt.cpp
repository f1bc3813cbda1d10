// SPDX-License-Identifier: Apache-2.0
// Trains a small GPT with LibTorch: a training program without any Python.
//
//   sample_gpt --steps 20
//   sample_gpt --device cuda --batch 32 --accumulate 4 --optimizer momentum --lr 0.01
#include "gpt.h"

#include <exception>

namespace {

int Run(int argc, char** argv) {
  sample::Options options;
  if (!sample::Parse({argv + 1, argv + argc}, options)) {
    std::fputs(sample::kUsage, stderr);
    return 2;
  }
  torch::manual_seed(static_cast<uint64_t>(options.seed));
  sample::Gpt model(options.layers, options.dim);
  model->to(options.device);
  const auto optimizer = sample::MakeOptimizer(model, options);
  if (!optimizer) {
    std::fputs(sample::kUsage, stderr);
    return 2;
  }
  sample::Train(model, *optimizer, options);
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
