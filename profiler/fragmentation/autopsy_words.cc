// SPDX-License-Identifier: Apache-2.0
#include "profiler/fragmentation/autopsy_words.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "profiler/fragmentation/model_words.h"
#include "profiler/growth/words.h"
#include "profiler/text/format.h"
#include "profiler/text/frame.h"

namespace vramscope::fragmentation {
namespace {

constexpr const char* kNotKnown = "not known";

std::string StepsText(uint64_t steps) { return std::to_string(steps) + (steps == 1 ? " step" : " steps"); }

// "Memory grows: 128.0 MiB of every step are kept since step 1, 1.4 GiB by now, allocated at train.py:9."
std::string GrowthSentence(const Autopsy& autopsy) {
  const Circumstances& program = autopsy.program;
  const growth::Growth& most = program.growth.front();
  std::string text = "Memory grows: " + growth::RateText(most) +
                     (most.every == 1 ? " are kept " : ", kept ") + growth::SinceText(most) + ", " +
                     text::FormatBytes(most.bytes) + " by now, allocated at " + growth::PlaceText(most);
  if (program.growth.size() > 1)
    text += ", and " + text::FormatBytes(program.grown - most.bytes) + " from " +
            std::to_string(program.growth.size() - 1) + " more";
  if (!autopsy.state.has_value()) return text + ".";
  const uint32_t step = autopsy.state->place.step;
  if (autopsy.steps_more == 0) {
    return text + "; so the run ends " + (step == 0 ? "here" : "at step " + std::to_string(step)) +
           " whatever the setting.";
  }
  return text + "; no setting can delay the end of the run by more than " + StepsText(autopsy.steps_more) +
         ".";
}

std::string FailedStepsSentence(const Autopsy& autopsy) {
  const Circumstances& program = autopsy.program;
  return text::FormatBytes(program.left_by_failures) + " of " +
         (program.failures == 1 ? std::string("a failed step")
                                : std::to_string(program.failures) + " failed steps") +
         " are still held, probably by caught exceptions; without them the request would fit.";
}

std::string SentenceOf(Verdict verdict, const Autopsy& autopsy) {
  const FreeBytes& free = autopsy.free;
  const std::string request = text::FormatBytes(autopsy.rounded);
  switch (verdict) {
    case Verdict::kGrowth:
      return GrowthSentence(autopsy);
    case Verdict::kFailedSteps:
      return FailedStepsSentence(autopsy);
    case Verdict::kFitsFreeBlock:
      return "The request should have fit: a free block of " + text::FormatBytes(free.largest_block) +
             " existed for a request of " + request + ".";
    case Verdict::kEmptyCache:
      return "torch.cuda.empty_cache() would be enough: with the cache released, the driver has enough for " +
             text::FormatBytes(autopsy.segment_bytes) + ".";
    case Verdict::kSetting:
      return "Fragmentation: the request fits with another allocator setting.";
    case Verdict::kStitchable:
      return "Fragmentation: enough was free for " + request + ", but in separate pieces.";
    case Verdict::kTrueShortage:
      return (autopsy.program.upcoming.empty()
                  ? std::string("A true shortage: with all free memory in one piece, ")
                  : "A true shortage: with the " + autopsy.program.upcoming_of +
                        " still to come and all free memory in one piece, ") +
             text::FormatBytes(autopsy.shortfall) + " were missing.";
    case Verdict::kUnknown:
      return autopsy.failure.has_value() ? "It is not known why the request failed."
                                         : "No recorded request failed; this is the state at the end.";
  }
  return "";
}

void AddReasons(const ModelWords& words, Autopsy& autopsy) {
  const FreeBytes& free = autopsy.free;
  auto& reasons = autopsy.reasons;
  if (autopsy.verdict == Verdict::kFailedSteps && !autopsy.program.growth.empty())
    reasons.push_back(GrowthSentence(autopsy));
  if (autopsy.verdict != autopsy.of_allocator)
    reasons.push_back("For this request alone: " + SentenceOf(autopsy.of_allocator, autopsy));
  if (words.no_segment[0] != 0) {
    reasons.emplace_back(words.no_segment);
  } else if (free.driver.has_value()) {
    reasons.push_back("The driver had " + text::FormatBytes(*free.driver) + " left; a new segment takes " +
                      text::FormatBytes(autopsy.segment_bytes) + ".");
  }
  if (!autopsy.program.upcoming.empty()) {
    uint64_t bytes = 0;
    for (const uint64_t request : autopsy.program.upcoming) bytes += request;
    reasons.push_back("The optimizer still allocates " + autopsy.program.upcoming_of + ": " +
                      text::FormatBytes(bytes) + " in " + std::to_string(autopsy.program.upcoming.size()) +
                      " requests after this one.");
  }
  if (free.same_domain != 0) {
    reasons.push_back(text::FormatBytes(free.same_domain) +
                      " are free in segments of the same pool and stream, but the largest "
                      "piece is " +
                      text::FormatBytes(free.largest_block) + ": live blocks separate them.");
  }
  if (free.releasable != 0)
    reasons.push_back(text::FormatBytes(free.releasable) +
                      " are in other segments or pages that are wholly free.");
  if (free.other_size_class != 0) {
    const bool small = autopsy.rounded <= kSmallRequestBytes;
    reasons.push_back(text::FormatBytes(free.other_size_class) +
                      (small ? " are free in the large pool; requests up to 1 MiB come from the small pool."
                             : " are free in the small pool, which serves requests up to 1 MiB."));
  }
  if (free.other_stream != 0)
    reasons.push_back(text::FormatBytes(free.other_stream) + " are free, but belong to other streams.");
  if (free.other_pool != 0)
    reasons.push_back(text::FormatBytes(free.other_pool) + " are free, but in another memory pool.");
  if (free.pending != 0) {
    reasons.push_back(text::FormatBytes(free.pending) +
                      " were freed but still in use by another stream (record_stream).");
  }
}

void AddUnknowns(const Subject& subject, Autopsy& autopsy) {
  auto& unknown = autopsy.unknown;
  if (!autopsy.failure.has_value()) {
    unknown.emplace_back("Whether a request failed, and which one: the file has no out-of-memory event.");
  }
  if (!subject.has_layout)
    unknown.emplace_back("Where the segments are: the driver's calls were not recorded.");
  if (!autopsy.free.driver.has_value() &&
      !(autopsy.failure.has_value() && autopsy.failure->driver_free.has_value())) {
    unknown.emplace_back("How much memory the driver had left.");
  }
  if (subject.history.events.size() <= 1 && subject.source == "snapshot") {
    unknown.emplace_back(
        "How this state came about: the snapshot has no history, so no other setting can be tried.");
  } else if (autopsy.failure.has_value() && !autopsy.reproduced.has_value()) {
    unknown.emplace_back("Whether another setting would help: none was tried.");
  } else if (autopsy.reproduced.has_value() && !*autopsy.reproduced) {
    unknown.emplace_back(
        "Whether another setting would help: with the recorded settings, the model of the allocator does not "
        "fail at the same request, so its answers prove nothing here.");
  }
  const auto unnamed = std::find_if(autopsy.holders.begin(), autopsy.holders.end(),
                                    [](const Holder& holder) { return holder.title == kNotKnown; });
  if (unnamed != autopsy.holders.end()) {
    unknown.push_back(
        "Where the program allocated " + text::FormatBytes(unnamed->bytes) + ": " +
        (subject.source == "snapshot"
             ? "record the history with torch.cuda.memory._record_memory_history(stacks=\"python\")."
             : "record with --stacks python --depth all."));
  }
  if (!subject.streams_known)
    unknown.emplace_back("Which streams the blocks belong to: all count as one stream.");
}

void AddShortageAdvice(const Autopsy& autopsy, std::vector<std::string>& advice) {
  advice.push_back("Reduce memory at this moment by " + text::FormatBytes(autopsy.shortfall) +
                   ": no allocator setting can provide this much.");
  if (autopsy.state.has_value() && autopsy.state->place.step == 1) {
    advice.emplace_back(
        "The run ended in the first step, so the memory of a whole step is not known. A dry run on a larger "
        "device shows it: vramscope dryrun --gpu GPU --capacity 192GiB -- COMMAND.");
  }
  if (autopsy.holders.empty() || autopsy.verdict != Verdict::kTrueShortage) return;
  const Holder& largest = autopsy.holders.front();
  advice.push_back("The largest holder is " + largest.title +
                   (largest.category.empty() ? "" : " (" + largest.category + ")") + " with " +
                   text::FormatBytes(largest.bytes) + " in " + std::to_string(largest.blocks) + " blocks.");
  uint64_t activations = 0;
  for (const Holder& holder : autopsy.holders)
    activations += holder.category == "activation" ? holder.bytes : 0;
  if (activations > autopsy.shortfall) {
    advice.push_back("Activations hold " + text::FormatBytes(activations) +
                     ": a smaller batch, checkpointing or lower precision reduces them.");
  }
}

// Adds the advice about the program itself. The advice about the allocator follows it.
void AddProgramAdvice(const Autopsy& autopsy, std::vector<std::string>& advice) {
  const Circumstances& program = autopsy.program;
  if (autopsy.verdict == Verdict::kFailedSteps) {
    advice.emplace_back(
        "Do not keep the exception: its traceback holds the frames of the failed step and their tensors. "
        "Leave the except block before the next step, and keep only str(error).");
  }
  for (const growth::Growth& growth : program.growth) {
    if (growth.bytes < autopsy.rounded) continue;
    advice.push_back("Release the tensors allocated at " + growth::PlaceText(growth) + ": " +
                     growth::KeeperText(growth) + ".");
    if (const std::string missing = growth::MissingText(growth); !missing.empty()) advice.push_back(missing);
  }
}

void AddAdvice(allocator::Model model, Autopsy& autopsy) {
  auto& advice = autopsy.advice;
  AddProgramAdvice(autopsy, advice);
  switch (autopsy.of_allocator) {
    case Verdict::kFitsFreeBlock:
      advice.emplace_back(WordsOf(model).ask_again);
      return;
    case Verdict::kEmptyCache:
      advice.emplace_back(WordsOf(model).give_back);
      return;
    case Verdict::kTrueShortage:
      return AddShortageAdvice(autopsy, advice);
    case Verdict::kUnknown:
    case Verdict::kGrowth:
    case Verdict::kFailedSteps:
      return;
    case Verdict::kSetting:
    case Verdict::kStitchable:
      break;
  }
  if (autopsy.reproduced.value_or(false)) {
    std::string told;  // the key advised last: if several of its values fit, only the first is shown
    for (const Trial& trial : autopsy.trials) {
      const std::string key = trial.settings.substr(0, trial.settings.rfind(':'));
      if (trial.end != TrialEnd::kFits || key == told) continue;
      told = key;
      advice.push_back(HowToSet(model, trial.settings) +
                       ": with this setting the replayed request succeeds, with " +
                       text::FormatBytes(trial.reserved) + " reserved and " +
                       text::FormatBytes(trial.driver_free) + " left" +
                       (autopsy.program.grows_per_step == 0
                            ? "."
                            : "; because memory grows, this delays the end of the run by " +
                                  StepsText(autopsy.steps_more) + " at most."));
    }
  }
  if (!autopsy.blockers.empty() && !autopsy.blockers.front().pinned_by.empty()) {
    const SegmentAnswer& worst = autopsy.blockers.front();
    const size_t others = worst.pinned.pins.size() - 1;
    advice.push_back(
        "Allocate long-lived tensors before short-lived ones: " + GroupTitle(worst.pinned_by.front().text) +
        " (" + text::FormatBytes(worst.pinned_by.front().block.bytes) + ")" +
        (others == 0 ? "" : " and " + std::to_string(others) + " more") + " hold" +
        (others == 0 ? "s " : " ") + text::FormatBytes(worst.pinned.held_back) + " of one segment back.");
  }
}

}  // namespace

void AddWords(const Subject& subject, Autopsy& autopsy) {
  if (autopsy.failure.has_value() && autopsy.state.has_value())
    AddReasons(WordsOf(subject.history.model), autopsy);
  AddAdvice(subject.history.model, autopsy);
  AddUnknowns(subject, autopsy);
}

std::string VerdictSentence(const Autopsy& autopsy) { return SentenceOf(autopsy.verdict, autopsy); }

std::vector<std::string> WaitingSentences(const std::vector<WaitingBlock>& waiting, size_t most) {
  const auto handle = [](uint64_t stream) {
    char text[24];
    std::snprintf(text, sizeof(text), stream == 0 ? "0" : "0x%llx", static_cast<unsigned long long>(stream));
    return std::string("stream ") + text;
  };
  std::vector<std::string> sentences;
  uint64_t others = 0;
  for (const WaitingBlock& one : waiting) {
    if (sentences.size() == most) {
      others += one.block.bytes;
      continue;
    }
    std::string on = "another stream";
    if (one.waits_for.size() == 1) on = handle(one.waits_for.front());
    if (one.waits_for.size() > 1)
      on += " (one of " + std::to_string(one.waits_for.size()) + "; the file does not record which)";
    sentences.push_back(text::FormatBytes(one.block.bytes) + " of " + GroupTitle(one.text) +
                        ", allocated on " + handle(one.stream) + ", wait for " + on + ".");
  }
  if (others != 0)
    sentences.push_back(text::FormatBytes(others) + " in " + std::to_string(waiting.size() - most) +
                        " more blocks wait.");
  return sentences;
}

std::string TellingFrame(const std::vector<std::string>& frames) {
  const std::vector<std::string_view> views(frames.begin(), frames.end());
  return std::string(text::TellingFrame(views));
}

std::string GroupTitle(const BlockText& text) {
  if (!text.name.empty()) return text.name;
  if (const std::string frame = TellingFrame(text.frames); !frame.empty()) return frame;
  if (text.op.empty()) return kNotKnown;
  return text.module.empty() ? text.op : text.op + " in " + text.module;
}

}  // namespace vramscope::fragmentation
