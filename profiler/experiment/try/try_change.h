// SPDX-License-Identifier: Apache-2.0
// The changes to a training program that the user requests from `vramscope try`.
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
  uint32_t rank = 0;  // 0 = not requested
  // Patterns of module paths; empty = the linear layers in all blocks (docs/try.md).
  std::vector<std::string> modules;

  [[nodiscard]] std::string Text() const;  // such as "8:layers.*.mlp"
};

// The requested changes. A field with an empty value, nullopt or 0 is not requested.
struct Change {
  std::string amp;                      // "bf16", "fp16"
  std::vector<std::string> checkpoint;  // {"all"}, {"every:2"}, or patterns for module paths
  std::string offload;                  // "activations"
  Lora lora;
  std::vector<std::string> freeze;     // patterns for paths of modules and parameters
  std::string attention;               // "flash", "efficient", "math"
  std::string cross_entropy;           // "fused", "chunked:8"
  std::optional<double> batch_factor;  // 0.5 = half of the program's own batch size
  std::optional<uint64_t> batch_size;  // alternative to batch_factor: number of samples
  std::string optimizer;               // "sgd", "momentum", "adam", "adamw"
  std::string implementation;          // "foreach", "fused", "loop"; empty = default
  std::optional<bool> zero_grad_to_none;
  std::string empty_cache;                // "before-backward", "before-optimizer", "after-step"
  std::optional<std::string> alloc_conf;  // replaces PYTORCH_CUDA_ALLOC_CONF in the environment
  uint64_t accumulate = 0;                // number of micro-batches per optimizer step
  // Pairs of lever and value for changes that require editing the program.
  std::vector<std::pair<std::string, std::string>> beyond;

  // Returns the names of the requested levers, in the order of the help: "amp", "checkpoint", ... The result
  // is never empty.
  [[nodiscard]] std::vector<std::string> Levers() const;
  // Returns the reason why this lever cannot be applied from outside the program; nullptr if it can.
  [[nodiscard]] const char* WhyBeyond(std::string_view lever) const;
  // Returns the change as options: "--amp bf16 --batch 0.5x".
  [[nodiscard]] std::string Text() const;
};

// Adds one option of try or whatif to `change`.
Status Ask(std::string_view option, const std::string& value, Change& change);

// Returns an error if the value of a change is invalid for every program.
Status CheckValue(const whatif::Asked& asked);

// Returns the instructions for the Python module vramscope_try, as one JSON object. The module writes its
// reports into `notes_folder`.
std::string PlanFor(const Change& change, const std::string& notes_folder);

// Returns the lines of Python code to write for this lever of the change. For the batch size, looks for an
// option in `command` that sets the batch size.
std::vector<std::string> LinesToWrite(const Change& change, std::string_view lever,
                                      std::span<const std::string> command);

}  // namespace vramscope::experiment
