// SPDX-License-Identifier: Apache-2.0
// A change to a training program, as requested from `vramscope try`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/whatif/answer/predict.h"
#include "trace_format/result.h"

namespace vramscope::experiment {

struct Lora {
  uint32_t rank = 0;                 // 0 = not requested
  std::vector<std::string> modules;  // patterns; empty = modules inside blocks

  [[nodiscard]] std::string Text() const;  // "8:layers.*.mlp"
};

struct Change {
  std::string amp;                      // "bf16", "fp16"; empty = not requested, as for all fields
  std::vector<std::string> checkpoint;  // {"all"}, {"every:2"}, or patterns for module paths
  std::string offload;                  // "activations"
  Lora lora;
  std::vector<std::string> freeze;     // patterns for paths of modules and parameters
  std::string attention;               // "flash", "efficient", "math"
  std::string cross_entropy;           // "fused", "chunked:8"
  std::optional<double> batch_factor;  // 0.5: relative to the program's own batch size,
  std::optional<uint64_t> batch_size;  // or a number of samples
  std::string optimizer;               // "sgd", "momentum", "adam", "adamw"
  std::string implementation;          // "foreach", "fused", "loop"; empty = default
  std::optional<bool> zero_grad_to_none;
  std::string empty_cache;                // "before-backward", "before-optimizer", "after-step"
  std::optional<std::string> alloc_conf;  // replaces the setting in the environment
  uint64_t accumulate = 0;                // micro-batches
  // Changes that only code can make, as lever and value.
  std::vector<std::pair<std::string, std::string>> beyond;

  // In the order of the help: "amp", "checkpoint", ... Never empty.
  [[nodiscard]] std::vector<std::string> Levers() const;
  // Why this lever cannot be applied from outside; nullptr if it can.
  [[nodiscard]] const char* WhyBeyond(std::string_view lever) const;
  // "--amp bf16 --batch 0.5x".
  [[nodiscard]] std::string Text() const;
};

// Adds one option of try or whatif to `change`.
Status Ask(std::string_view option, const std::string& value, Change& change);

// An error if the value is invalid for any program.
Status CheckValue(const whatif::Asked& asked);

// The plan for vramscope_try, as one JSON object. `notes_folder`: for the reports of vramscope_try.
std::string PlanFor(const Change& change, const std::string& notes_folder);

// Python lines for the change. Looks in `command` for an option that sets the batch size.
std::vector<std::string> LinesToWrite(const Change& change, std::string_view lever,
                                      std::span<const std::string> command);

}  // namespace vramscope::experiment
