// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/notes.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "profiler/classify/origin.h"
#include "profiler/classify/weight_copies.h"
#include "profiler/growth/words.h"
#include "profiler/report/owners.h"
#include "profiler/text/format.h"

namespace vramscope::report {
namespace {

using timeline::StepEnds;

std::string Count(uint64_t count, const char* singular, const char* plural) {
  return std::to_string(count) + " " + (count == 1 ? singular : plural);
}

void AddStepNotes(const timeline::Training& training, Answer& answer) {
  if (training.steps().empty()) {
    answer.notes.emplace_back(
        "This process has no training step: no backward pass and no optimizer step was recorded.");
  } else if (training.step_source() == StepEnds::Source::kBackwardWindows) {
    answer.notes.emplace_back("No optimizer step was recorded: each backward pass counts as a step.");
  } else if (!training.steps().back().complete) {
    answer.notes.push_back("The trace ends inside step " + std::to_string(training.steps().back().number) +
                           ".");
  }
}

// Growth below this percentage of the peak is not mentioned in a report.
constexpr uint64_t kLeastGrownPercent = 1;

void AddGrowthNote(Answer& answer) {
  uint64_t grown = 0;
  for (const growth::Growth& place : answer.growth) grown += place.pinned_host ? 0 : place.bytes;
  if (grown * 100 < answer.peak.allocated_bytes * kLeastGrownPercent) return;
  const growth::Growth& most = answer.growth.front();
  answer.growth_headline = growth::Headline(answer.growth) + " Most of it is allocated at " +
                           growth::PlaceText(most) + ". vramscope leaks shows all places.";
}

// Notes copies of the model's weights that exist at the peak, and the line that allocated most of them.
void AddWeightCopyNote(const classify::Analysis& analysis, model::DeviceIndex device, Answer& answer) {
  const model::Run& run = analysis.run();
  const model::Device& about = run.devices[device];
  const model::EventIndex peak = run.times.LastEventAt(answer.peak.time_ns);
  if (peak == model::kNever) return;
  classify::Origins origins(run, analysis.training());
  std::map<std::string_view, uint64_t> by_line;
  uint64_t bytes = 0;
  for (const model::BlockId id : classify::FindWeightCopies(run, analysis.training())) {
    const model::Block& block = run.blocks[id];
    if (!block.AliveAfter(peak) || block.device_code != about.code || run.ProcessOf(block) != about.process)
      continue;
    bytes += block.size;
    by_line[FrameToShow(run, origins.Of(id).stack)] += block.size;
  }
  if (bytes == 0) return;
  const auto most = std::max_element(by_line.begin(), by_line.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  answer.notes.push_back(text::FormatBytes(bytes) + " at the peak are a copy of the model's weights" +
                         (most->first.empty()
                              ? ", created between two steps; record with --stacks python to see the line."
                              : ", created at " + std::string(most->first) + "."));
}

// A trace that ends in the first step does not show what a whole step takes.
void AddFirstStepNote(Answer& answer) {
  const bool ends_there =
      !answer.out_of_memory.empty() && answer.steps.size() == 1 && !answer.steps.front().complete;
  if (!ends_there) return;
  answer.notes.emplace_back(
      "The run ran out of memory in its first step, so a whole step may need more. A dry run on a larger "
      "device shows how much: vramscope dryrun --gpu GPU --capacity 192GiB -- COMMAND.");
}

// What the recorder could not do, in its own words.
void AddRecorderNotes(const model::Run& run, Answer& answer) {
  const auto& metadata = run.source->metadata();
  const auto fact = [&metadata](const char* key) {
    const auto found = metadata.find(key);
    return found == metadata.end() ? std::string() : found->second;
  };
  const auto operators = run.event_counts[static_cast<size_t>(trace::EventType::kOpBegin)];
  const bool wants_bridge = answer.framework->has_deep_steps && operators == 0;
  if (const std::string why = fact("bridge.missing"); !why.empty() && wants_bridge)
    answer.notes.push_back("Operators were not recorded. " + why);
  if (const std::string processes = fact("recording.unrecorded_processes"); !processes.empty()) {
    answer.notes.push_back(
        "Processes that could not be recorded for lack of shared memory, descriptors or address space: " +
        processes + ".");
  }
  const bool has_blocks =
      std::any_of(run.devices.begin(), run.devices.end(),
                  [](const model::Device& device) { return trace::DeviceTypeOf(device.code) != 0; });
  const std::string why = run.devices.empty() ? WhyNoBlocks(metadata) : CachingOff(metadata);
  if (!why.empty() && !has_blocks) answer.notes.push_back(why);
}

void AddOriginNotes(const classify::Analysis& analysis, uint64_t inferred_blocks, Answer& answer) {
  const bool knows_ops = analysis.run().contexts.size() > 1;
  if (!knows_ops && !answer.framework->has_deep_steps) return;  // the stacks have the operators
  if (!knows_ops) {
    answer.notes.emplace_back(
        "No deep step was recorded, so modules and operators of activations are not known.");
  } else if (inferred_blocks > 0) {
    answer.notes.push_back("Modules and operators of " + Count(inferred_blocks, "block", "blocks") +
                           " at the peak are taken from a deep step with the same allocations.");
  }
}

// For a trace that begins in the middle of its run: step 1 here is a later step of the run.
void AddBlackBoxNote(const model::Run& run, Answer& answer) {
  const auto& metadata = run.source->metadata();
  const auto before = metadata.find("black_box.steps_before");
  if (before == metadata.end() || before->second == "0") return;
  answer.notes.push_back("These are the last steps of a run: " + before->second +
                         (before->second == "1" ? " step was" : " steps were") +
                         " before them. Step 1 here is the step after those.");
}

void AddTrustNotes(Answer& answer) {
  const model::Anomalies& anomalies = answer.anomalies;
  if (answer.dropped_events > 0) {
    answer.notes.push_back(
        Count(answer.dropped_events, "event was", "events were") +
        " lost during recording: totals may be off by the bytes that they allocated or freed.");
  }
  if (anomalies.double_allocs > 0) {
    answer.notes.push_back(
        Count(anomalies.double_allocs, "free was", "frees were") +
        " not recorded; each is assumed to come just before the next allocation at its address.");
  }
  if (anomalies.total_mismatches > 0) {
    answer.notes.push_back("The allocator's own total differed from the recorded blocks at " +
                           Count(anomalies.total_mismatches, "event", "events") + ".");
  }
  if (anomalies.not_loaded > 0) {
    answer.notes.push_back(Count(anomalies.not_loaded, "event is", "events are") +
                           " beyond the limit of one analysis and not included here.");
  }
}

void AddUnseenNote(const model::Device& device, Answer& answer) {
  if (device.unseen.empty()) return;
  answer.notes.push_back(
      std::to_string(device.unseen.back().value) +
      " bytes were allocated but not recorded (before recording began, or lost); they are unattributed.");
}

// Where the driver's own figure differs from the recorded calls.
void AddDriverNotes(const model::Run& run, const model::Device& about, Answer& answer) {
  const model::DriverDevice* device = run.driver.Find(about.process, about.code);
  if (device == nullptr) return;
  if (device->mismatches() > 0) {
    int64_t largest = 0;
    for (size_t i = 1; i < device->samples.size(); ++i) {
      const int64_t step = device->samples[i].unattributed - device->samples[i - 1].unattributed;
      largest = std::max(largest, std::abs(step));
    }
    answer.notes.push_back(
        "The driver's used memory differed from the recorded calls at " +
        std::to_string(device->mismatches()) + " of " + Count(device->samples.size(), "sample", "samples") +
        ", by " + std::to_string(largest) + " bytes at most; the row unattributed includes the difference.");
  }
  if (device->below_rows() > 0) {
    answer.notes.push_back("The driver reported less use than the recorded calls took at " +
                           Count(device->below_rows(), "sample", "samples") +
                           ": unattributed is negative there. Managed memory may not be on the device.");
  }
}

void AddSegmentNotes(Answer& answer) {
  const model::Anomalies& anomalies = answer.anomalies;
  if (anomalies.blocks_outside_segments > 0) {
    answer.notes.push_back(Count(anomalies.blocks_outside_segments, "block lies", "blocks lie") +
                           " in segments whose allocation was not recorded, so the row \"" +
                           answer.framework->cached.name + "\" is too small.");
  }
  if (anomalies.segment_mismatches > 0) {
    answer.notes.push_back("The caching allocator's reserved total differed from its segments at " +
                           Count(anomalies.segment_mismatches, "event", "events") + ".");
  }
}

}  // namespace

std::string CachingOff(const trace::Metadata& metadata) {
  for (const char* key : {"program.pytorch_no_cuda_memory_caching", "env.PYTORCH_NO_CUDA_MEMORY_CACHING"}) {
    if (metadata.contains(key))
      return "PYTORCH_NO_CUDA_MEMORY_CACHING is set: PyTorch then allocates every tensor from the driver and "
             "reports no allocations, so no block on a GPU is recorded. Unset this variable to record GPU "
             "memory.";
  }
  return "";
}

std::string WhyNoBlocks(const trace::Metadata& metadata) {
  if (std::string why = CachingOff(metadata); !why.empty()) return why;
  if (const auto platform = metadata.find("jax.platform");
      platform != metadata.end() && platform->second == "cpu") {
    return "JAX ran on the CPU. JAX's CPU device has no table of functions, so its arrays cannot be "
           "recorded. "
           "Run on a GPU, or on a simulated one: vramscope dryrun --gpu h100-80gb -- python train.py";
  }
  const bool recorded = metadata.contains("vramscope.version");
  const auto imported = [&](const char* key) { return metadata.contains(key); };
  if (recorded && !imported("torch.version") && !imported("tensorflow.version") && !imported("jax.version"))
    return "No process of the command imported PyTorch, TensorFlow or JAX.";
  return "";
}

void AddNotes(const classify::Analysis& analysis, model::DeviceIndex device, uint64_t inferred_blocks,
              Answer& answer) {
  if (device != model::kNone) {
    const model::Device& about = analysis.run().devices[device];
    AddStepNotes(analysis.training()[about.process], answer);
    if (!answer.growth.empty()) AddGrowthNote(answer);
    AddWeightCopyNote(analysis, device, answer);
    AddFirstStepNote(answer);
    AddOriginNotes(analysis, inferred_blocks, answer);
    AddUnseenNote(about, answer);
    AddDriverNotes(analysis.run(), about, answer);
  }
  if (!answer.failed.empty()) answer.notes.push_back(answer.failed);
  AddBlackBoxNote(analysis.run(), answer);
  AddRecorderNotes(analysis.run(), answer);
  AddSegmentNotes(answer);
  AddTrustNotes(answer);
}

}  // namespace vramscope::report
