// SPDX-License-Identifier: Apache-2.0
// Trains a small GPT with LibTorch: a training program without any Python.
//
//   sample_gpt --steps 20
//   sample_gpt --device cuda --batch 32 --accumulate 4 --optimizer momentum --lr 0.01
#include "gpt.h"

#include <cstdlib>
#include <exception>
#include <map>

namespace {

constexpr const char* kUsage =
    "usage: sample_gpt [--device cpu|cuda] [--batch N] [--layers N] [--dim N] [--steps N] [--seed N]\n"
    "                  [--accumulate N] [--optimizer sgd|momentum|adam|adamw] [--lr RATE]\n";

// False when an option is unknown, lacks its value, or has one that makes no sense.
bool Parse(int argc, char** argv, sample::Options& options) {
  const std::map<std::string, int64_t*> numbers = {
      {"--batch", &options.batch}, {"--layers", &options.layers}, {"--dim", &options.dim},
      {"--steps", &options.steps}, {"--seed", &options.seed},     {"--accumulate", &options.accumulate}};
  for (int index = 1; index < argc; index += 2) {
    const std::string name = argv[index];
    if (index + 1 == argc) return false;
    const char* const value = argv[index + 1];
    if (const auto number = numbers.find(name); number != numbers.end()) {
      *number->second = std::atoll(value);
      if (*number->second < 1) return false;
    } else if (name == "--device") {
      options.device = torch::Device(value);
    } else if (name == "--optimizer") {
      options.optimizer = value;
    } else if (name == "--lr") {
      options.learning_rate = std::atof(value);
    } else {
      return false;
    }
  }
  return true;
}

int Run(int argc, char** argv) {
  sample::Options options;
  if (!Parse(argc, argv, options)) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  torch::manual_seed(static_cast<uint64_t>(options.seed));
  sample::Gpt model(options.layers, options.dim);
  model->to(options.device);
  const auto optimizer = sample::MakeOptimizer(model, options);
  if (!optimizer) {
    std::fputs(kUsage, stderr);
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
