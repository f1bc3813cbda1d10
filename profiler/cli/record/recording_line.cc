// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/record/recording_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>

#include "profiler/cli/frame/terminal.h"
#include "profiler/report/notes.h"

namespace vramscope::cli {
namespace {

std::string LossSentence(const collector::RecordOutcome& outcome) {
  if (!outcome.stop_sentence.empty()) {
    return fmt::format("recording stopped early, {} not recorded", FormatCount(outcome.lost_events, "event"));
  }
  std::string lost;
  if (outcome.lost_events != 0) lost = FormatCount(outcome.lost_events, "event") + " lost";
  if (outcome.unrecorded_processes != 0) {
    lost += fmt::format("{}{} not recorded for lack of shared memory, descriptors or address space",
                        lost.empty() ? "" : ", ",
                        FormatCount(outcome.unrecorded_processes, "process", "processes"));
  }
  return lost.empty() ? "nothing lost" : lost;
}

std::string BlackBoxLine(const collector::RecordOutcome& outcome) {
  if (!outcome.stop_sentence.empty())
    return fmt::format("The last steps could not be written: {}", outcome.stop_sentence);
  if (outcome.black_boxes.empty()) return "Nothing was written: nothing failed, and memory did not run out.";
  return fmt::format("{}: the last steps, {}, {}. See: vramscope report {}",
                     fmt::join(outcome.black_boxes, ", "), FormatCount(outcome.events, "event"),
                     FormatBytes(outcome.file_bytes), outcome.path);
}

// Warns if the caching allocator was off. The command inherited this program's environment.
std::string CachingSentence() {
  if (std::getenv("PYTORCH_NO_CUDA_MEMORY_CACHING") == nullptr) return "";
  return " " + report::CachingOff({{"env.PYTORCH_NO_CUDA_MEMORY_CACHING", ""}});
}

std::string LineOf(const collector::RecordOutcome& outcome) {
  if (outcome.is_black_box) return BlackBoxLine(outcome);
  if (outcome.events == 0 && outcome.lost_events == 0 && outcome.unrecorded_processes == 0) {
    if (!outcome.stop_sentence.empty())
      return fmt::format("{}: no events. Recording stopped early: {}", outcome.path, outcome.stop_sentence);
    if (!outcome.unrecorded.empty())
      return fmt::format("{}: no events. {}", outcome.path, outcome.unrecorded);
    return fmt::format(
        "{}: no events. The command did not use PyTorch, TensorFlow, or JAX on a GPU in a way that vramscope "
        "can record. See: vramscope info {}",
        outcome.path, outcome.path);
  }
  return fmt::format("{}: {} of {}, peak {}, {}, {}. See: vramscope report {}", outcome.path,
                     FormatCount(outcome.events, "event"),
                     FormatCount(outcome.processes, "process", "processes"), FormatBytes(outcome.peak_bytes),
                     FormatBytes(outcome.file_bytes), LossSentence(outcome), outcome.path);
}

}  // namespace

std::string RecordingLine(const collector::RecordOutcome& outcome) {
  return LineOf(outcome) + CachingSentence();
}

}  // namespace vramscope::cli
