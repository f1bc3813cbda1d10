// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/plan_verify.h"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "profiler/cli/try_screen.h"

namespace vramscope::cli {
namespace {

template <class Number>
bool Read(const std::string& text, Number& number) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failed == std::errc() && end == text.data() + text.size();
}

Status Add(const whatif::Asked& asked, Change& change) {
  const std::string& value = asked.value;
  if (asked.lever == "amp") {
    change.amp = value;
  } else if (asked.lever == "checkpoint") {
    std::istringstream parts(value);
    for (std::string part; std::getline(parts, part, ',');) change.checkpoint.push_back(part);
  } else if (asked.lever == "batch") {
    uint64_t size = 0;
    if (!Read(value, size)) return Error{fmt::format("--batch {} is no number of samples.", value)};
    change.batch_size = size;
  } else if (asked.lever == "accumulate") {
    if (!Read(value, change.accumulate)) return Error{fmt::format("--accumulate {} is no number.", value)};
  } else if (asked.lever == "optimizer") {
    const size_t colon = std::min(value.find(':'), value.size());
    change.optimizer = value.substr(0, colon);
    change.implementation = colon < value.size() ? value.substr(colon + 1) : "";
    if (change.implementation == "for-loop") change.implementation = "loop";
  } else if (asked.lever == "alloc-conf") {
    change.alloc_conf = value;
  } else if (asked.lever == "zero-grad") {
    change.zero_grad_to_none = false;
  } else {
    return Error{fmt::format("--{} cannot be applied from outside the program", asked.lever)};
  }
  return {};
}

}  // namespace

Result<Change> ChangeOf(const plan::Changes& changes) {
  Change change;
  for (const whatif::Asked& asked : changes) {
    if (const Status added = Add(asked, change); !added.ok()) return added.error();
  }
  return change;
}

Verified Verify(const plan::Changes& changes, const std::vector<std::string>& command,
                const collector::GpuModel& gpu) {
  Verified verified;
  const Result<Change> change = ChangeOf(changes);
  const Result<std::string> folder = collector::FindSimulatedCuda();
  if (!change.ok() || !folder.ok()) {
    verified.why_not = change.ok() ? folder.error().sentence : change.error().sentence;
    return verified;
  }
  TryPlan plan;
  plan.change = *change;
  plan.dry = true;
  plan.simulated_folder = *folder;
  plan.run.command = command;
  plan.run.device.gpu = gpu;
  plan.run.depth = "light";
  TryRunner runner(plan);
  std::vector<Outcome> outcomes;
  const Result<Measured> measured = runner.After(CommandOutput::kToFile, &outcomes);
  if (!measured.ok()) {
    verified.why_not = measured.error().sentence;
  } else if (measured->FailedOtherwise()) {
    verified.why_not = "the command fails with the change, otherwise than by lack of memory";
  } else if (!measured->fits || !measured->reserved_bytes) {
    verified.why_not = measured->fits ? "the command allocated nothing on the GPU"
                                      : fmt::format("it runs out of memory on the simulated {}", gpu.name);
  } else {
    for (const Outcome& outcome : outcomes) {
      if (outcome.applied.empty() && !outcome.refused.empty()) verified.why_not = outcome.refused.front();
    }
    verified.allocated_bytes = measured->answer.peak.allocated_bytes;
    verified.reserved_bytes = *measured->reserved_bytes;
    verified.device_used_bytes = measured->device_used_bytes.value_or(0);
  }
  return verified;
}

Result<std::vector<std::string>> WordsOf(const std::string& command_line) {
  const Error unclear{
      "the command of the trace cannot be run again from its text; give it: plan RUN --fit 24GiB --verify -- "
      "python train.py"};
  if (command_line.empty() || command_line.find_first_of("'\"\\`$") != std::string::npos) return unclear;
  std::vector<std::string> words;
  std::istringstream parts(command_line);
  for (std::string word; parts >> word;) words.push_back(word);
  if (words.empty()) return unclear;
  return words;
}

}  // namespace vramscope::cli
