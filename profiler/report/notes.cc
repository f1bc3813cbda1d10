// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/notes.h"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace vramscope::report {
namespace {

using timeline::StepEnds;

std::string Count(uint64_t count, const char* singular, const char* plural) {
  return std::to_string(count) + " " + (count == 1 ? singular : plural);
}

void AddStepNotes(const timeline::Training& training, Answer& answer) {
  if (training.steps().empty()) {
    answer.notes.emplace_back(
        "No training step was seen in this process: no backward pass and no optimizer step.");
  } else if (training.step_source() == StepEnds::Source::kBackwardWindows) {
    answer.notes.emplace_back("No optimizer step was seen: each backward pass counts as a step.");
  } else if (!training.steps().back().complete) {
    answer.notes.push_back("The trace ends inside step " + std::to_string(training.steps().back().number) +
                           ".");
  }
}

void AddOriginNotes(const classify::Analysis& analysis, uint64_t inferred_blocks, Answer& answer) {
  const bool knows_ops = analysis.run().contexts.size() > 1;
  if (!knows_ops) {
    answer.notes.emplace_back("No deep step was recorded, so modules and ops of activations are not known.");
  } else if (inferred_blocks > 0) {
    answer.notes.push_back("Modules and ops of " + Count(inferred_blocks, "block", "blocks") +
                           " at the peak are taken from a deep step that allocates the same.");
  }
}

// A trace that begins in the middle of its run: step 1 here is a later one there.
void AddBlackBoxNote(const model::Run& run, Answer& answer) {
  const auto& metadata = run.source->metadata();
  const auto before = metadata.find("black_box.steps_before");
  if (before == metadata.end() || before->second == "0") return;
  answer.notes.push_back("These are the last steps of a run: " + before->second +
                         " were before them, and step 1 here is the next.");
}

void AddTrustNotes(Answer& answer) {
  const model::Anomalies& anomalies = answer.anomalies;
  if (answer.dropped_events > 0) {
    answer.notes.push_back(Count(answer.dropped_events, "event was", "events were") +
                           " lost while recording: totals may be off by what they allocated or freed.");
  }
  if (anomalies.double_allocs > 0) {
    answer.notes.push_back(Count(anomalies.double_allocs, "free was", "frees were") +
                           " not recorded and assumed where their address was handed out again.");
  }
  if (anomalies.total_mismatches > 0) {
    answer.notes.push_back("The allocator's own total differed from the recorded blocks at " +
                           Count(anomalies.total_mismatches, "event", "events") + ".");
  }
  if (anomalies.not_loaded > 0) {
    answer.notes.push_back(Count(anomalies.not_loaded, "event is", "events are") +
                           " beyond what one analysis holds and not counted here.");
  }
}

void AddUnseenNote(const model::Device& device, Answer& answer) {
  if (device.unseen.empty()) return;
  answer.notes.push_back(std::to_string(device.unseen.back().value) +
                         " bytes were allocated without being recorded (before recording began, or lost); "
                         "they are unattributed.");
}

// Where the driver's own figure and the recorded calls part.
void AddDriverNotes(const model::Run& run, const model::Device& about, Answer& answer) {
  const model::DriverDevice* device = run.driver.Find(about.process, about.code);
  if (device == nullptr) return;
  if (device->mismatches() > 0) {
    int64_t largest = 0;
    for (size_t i = 1; i < device->samples.size(); ++i) {
      const int64_t step = device->samples[i].unattributed - device->samples[i - 1].unattributed;
      largest = std::max(largest, std::abs(step));
    }
    answer.notes.push_back("The driver's used memory differed from the recorded calls at " +
                           std::to_string(device->mismatches()) + " of " +
                           Count(device->samples.size(), "sample", "samples") + ", by " +
                           std::to_string(largest) + " bytes at most; the row unattributed takes it up.");
  }
  if (device->below_rows() > 0) {
    answer.notes.push_back("The driver counted less than what was seen to be taken at " +
                           Count(device->below_rows(), "sample", "samples") +
                           ": unattributed is negative there. Managed memory need not be on the device.");
  }
}

void AddSegmentNotes(Answer& answer) {
  const model::Anomalies& anomalies = answer.anomalies;
  if (anomalies.blocks_outside_segments > 0) {
    answer.notes.push_back(
        Count(anomalies.blocks_outside_segments, "block lies", "blocks lie") +
        " in segments that were not seen to come, so the row pytorch_cached is too small.");
  }
  if (anomalies.segment_mismatches > 0) {
    answer.notes.push_back("The caching allocator's reserved total differed from its segments at " +
                           Count(anomalies.segment_mismatches, "event", "events") + ".");
  }
}

}  // namespace

void AddNotes(const classify::Analysis& analysis, model::DeviceIndex device, uint64_t inferred_blocks,
              Answer& answer) {
  if (device != model::kNone) {
    const model::Device& about = analysis.run().devices[device];
    AddStepNotes(analysis.training()[about.process], answer);
    AddOriginNotes(analysis, inferred_blocks, answer);
    AddUnseenNote(about, answer);
    AddDriverNotes(analysis.run(), about, answer);
  }
  if (!answer.failed.empty()) answer.notes.push_back(answer.failed);
  AddBlackBoxNote(analysis.run(), answer);
  AddSegmentNotes(answer);
  AddTrustNotes(answer);
}

}  // namespace vramscope::report
