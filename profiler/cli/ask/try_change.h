// SPDX-License-Identifier: Apache-2.0
// A change to a training program, as `vramscope try` is asked for it: what its options say, what
// injector/python/vramscope_try is told, and the lines that make the same change in code.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/cli/frame/arguments.h"
#include "trace_format/result.h"

namespace vramscope::cli {

struct Lora {
  uint32_t rank = 0;                 // 0 = not asked for
  std::vector<std::string> modules;  // patterns; empty = those inside blocks

  [[nodiscard]] std::string Text() const;  // "8:layers.*.mlp"
};

struct Change {
  std::string amp;                      // "bf16", "fp16"; empty = not asked for, as for all of them
  std::vector<std::string> checkpoint;  // {"all"}, {"every:2"}, or patterns for paths of modules
  std::string offload;                  // "activations"
  Lora lora;
  std::vector<std::string> freeze;     // patterns for paths of modules and parameters
  std::string attention;               // "flash", "efficient", "math"
  std::string cross_entropy;           // "fused", "chunked:8"
  std::optional<double> batch_factor;  // 0.5 of what the program asks for,
  std::optional<uint64_t> batch_size;  // or so many samples
  std::string optimizer;               // "sgd", "momentum", "adam", "adamw"
  std::string implementation;          // "foreach", "fused", "loop"; empty = PyTorch's own choice
  std::optional<bool> zero_grad_to_none;
  std::string empty_cache;                // "before-backward", "before-optimizer", "after-step"
  std::optional<std::string> alloc_conf;  // in the place of what the environment says
  uint64_t accumulate = 0;                // micro-batches
  // What only code can do, lever and value: it is told, and predicted.
  std::vector<std::pair<std::string, std::string>> beyond;

  // The options that were given, in the order of the help: "amp", "checkpoint", ... Never empty.
  [[nodiscard]] std::vector<std::string> Levers() const;
  // Why this lever is not applied from outside, as it was asked for; nullptr where it is.
  [[nodiscard]] const char* WhyBeyond(std::string_view lever) const;
  // As they would be written on the command line: "--amp bf16 --batch 0.5x".
  [[nodiscard]] std::string Text() const;
};

// The options of `vramscope try` that make up a change.
std::span<const Option> ChangeOptions();

// Adds what one option asks for, of try or of whatif; an error says what is wrong with it.
Status Ask(std::string_view option, const std::string& value, Change& change);

// An error says what is wrong with an option, or that there is none.
Result<Change> ChangeFrom(const Arguments& arguments);

// The plan for vramscope_try, as one JSON object. `notes_folder`: where it says what it did.
std::string PlanFor(const Change& change, const std::string& notes_folder);

// Python to write for it, line by line. `command` is looked through for an option that gives the batch size.
std::vector<std::string> LinesToWrite(const Change& change, std::string_view lever,
                                      std::span<const std::string> command);

}  // namespace vramscope::cli
