// SPDX-License-Identifier: Apache-2.0
#include "profiler/fragmentation/autopsy_words.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include "profiler/text/frame.h"

namespace vramscope::fragmentation {
namespace {

void AddReasons(Autopsy& autopsy) {
  const FreeBytes& free = autopsy.free;
  auto& reasons = autopsy.reasons;
  if (free.driver.has_value()) {
    reasons.push_back("The driver had " + BytesText(*free.driver) + " left; a new segment takes " +
                      BytesText(autopsy.segment_bytes) + ".");
  }
  if (free.same_domain != 0) {
    reasons.push_back(BytesText(free.same_domain) +
                      " are free in segments of the same pool and stream, but the largest "
                      "piece is " +
                      BytesText(free.largest_block) + ": live blocks lie between.");
  }
  if (free.releasable != 0)
    reasons.push_back(BytesText(free.releasable) + " are wholly free segments or pages elsewhere.");
  if (free.other_size_class != 0) {
    const bool small = autopsy.rounded <= kSmallRequestBytes;
    reasons.push_back(BytesText(free.other_size_class) +
                      (small ? " are free in the large pool; requests up to 1 MiB come from the small one."
                             : " are free in the small pool, which serves requests up to 1 MiB."));
  }
  if (free.other_stream != 0)
    reasons.push_back(BytesText(free.other_stream) + " are free, but belong to other streams.");
  if (free.other_pool != 0)
    reasons.push_back(BytesText(free.other_pool) + " are free, but in another memory pool.");
  if (free.pending != 0) {
    reasons.push_back(BytesText(free.pending) +
                      " were freed and still in use by another stream (record_stream).");
  }
}

void AddUnknowns(const Subject& subject, Autopsy& autopsy) {
  auto& unknown = autopsy.unknown;
  if (!autopsy.failure.has_value()) {
    unknown.emplace_back("Which request failed, and whether one did: no out-of-memory event is in the file.");
  }
  if (!subject.has_layout)
    unknown.emplace_back("Where the segments lie: the driver's calls were not recorded.");
  if (!autopsy.free.driver.has_value() &&
      !(autopsy.failure.has_value() && autopsy.failure->driver_free.has_value())) {
    unknown.emplace_back("What the driver had left.");
  }
  if (subject.history.events.size() <= 1 && subject.source == "snapshot") {
    unknown.emplace_back(
        "How it came to this: the snapshot has no history, so no other setting can be tried.");
  } else if (autopsy.failure.has_value() && !autopsy.reproduced.has_value()) {
    unknown.emplace_back("Whether another setting would have fitted it: that was not tried.");
  } else if (autopsy.reproduced.has_value() && !*autopsy.reproduced) {
    unknown.emplace_back(
        "Whether another setting would have fitted it: under the recorded settings the model does not fail "
        "at the same "
        "request, so its answers prove nothing here.");
  }
  if (!subject.streams_known) unknown.emplace_back("On which streams blocks lie: all count as one.");
}

void AddShortageAdvice(const Autopsy& autopsy, std::vector<std::string>& advice) {
  advice.push_back("Need " + BytesText(autopsy.shortfall) +
                   " less at this moment: no allocator setting gives it.");
  if (autopsy.holders.empty()) return;
  const Holder& largest = autopsy.holders.front();
  advice.push_back("The largest holder is " + largest.title +
                   (largest.category.empty() ? "" : " (" + largest.category + ")") + " with " +
                   BytesText(largest.bytes) + " in " + std::to_string(largest.blocks) + " blocks.");
  uint64_t activations = 0;
  for (const Holder& holder : autopsy.holders)
    activations += holder.category == "activation" ? holder.bytes : 0;
  if (activations > autopsy.shortfall) {
    advice.push_back("Activations hold " + BytesText(activations) +
                     ": a smaller batch, checkpointing or lower precision takes it from there.");
  }
}

void AddAdvice(Autopsy& autopsy) {
  auto& advice = autopsy.advice;
  switch (autopsy.verdict) {
    case Verdict::kFitsFreeBlock:
      advice.emplace_back(
          "Make the same request again: a free block became large enough while PyTorch gave back its cache, "
          "and it "
          "did not look again. Newer releases do.");
      return;
    case Verdict::kEmptyCache:
      advice.emplace_back(
          "Call torch.cuda.empty_cache() before this request. PyTorch does so by itself, except while a "
          "graph is captured or "
          "inside torch.cuda.use_mem_pool.");
      return;
    case Verdict::kTrueShortage:
      return AddShortageAdvice(autopsy, advice);
    case Verdict::kUnknown:
      return;
    case Verdict::kSetting:
    case Verdict::kStitchable:
      break;
  }
  if (autopsy.reproduced.value_or(false)) {
    std::string told;  // of several values that fit the first will do
    for (const Trial& trial : autopsy.trials) {
      const std::string key = trial.settings.substr(0, trial.settings.rfind(':'));
      if (trial.end != TrialEnd::kFits || key == told) continue;
      told = key;
      advice.push_back("Set PYTORCH_CUDA_ALLOC_CONF=" + trial.settings +
                       ": replayed under it the request is served, with " + BytesText(trial.reserved) +
                       " reserved and " + BytesText(trial.driver_free) + " left.");
    }
  }
  if (!autopsy.blockers.empty() && !autopsy.blockers.front().pinned_by.empty()) {
    const SegmentAnswer& worst = autopsy.blockers.front();
    const size_t others = worst.pinned.pins.size() - 1;
    advice.push_back(
        "Allocate what lives long before what does not: " + GroupTitle(worst.pinned_by.front().text) + " (" +
        BytesText(worst.pinned_by.front().block.bytes) + ")" +
        (others == 0 ? "" : " and " + std::to_string(others) + " more") + " hold" +
        (others == 0 ? "s " : " ") + BytesText(worst.pinned.held_back) + " of one segment back.");
  }
}

}  // namespace

void AddWords(const Subject& subject, Autopsy& autopsy) {
  if (autopsy.failure.has_value() && autopsy.state.has_value()) AddReasons(autopsy);
  AddAdvice(autopsy);
  AddUnknowns(subject, autopsy);
}

std::string VerdictSentence(const Autopsy& autopsy) {
  const FreeBytes& free = autopsy.free;
  const std::string request = BytesText(autopsy.rounded);
  switch (autopsy.verdict) {
    case Verdict::kFitsFreeBlock:
      return "It would have fitted: a free block of " + BytesText(free.largest_block) +
             " was there for a request of " + request + ".";
    case Verdict::kEmptyCache:
      return "empty_cache would do: given back, the cache leaves the driver enough for " +
             BytesText(autopsy.segment_bytes) + ".";
    case Verdict::kSetting:
      return "Fragmentation, and another setting would have fitted it.";
    case Verdict::kStitchable:
      return "Fragmentation: enough was free for " + request +
             ", in pieces that no request can have together.";
    case Verdict::kTrueShortage:
      return "A true shortage: with all free memory in one piece, " + BytesText(autopsy.shortfall) +
             " were missing.";
    case Verdict::kUnknown:
      return autopsy.failure.has_value() ? "Why it failed is not known."
                                         : "No request is seen to fail; this is the state at the end.";
  }
  return "";
}

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
      on += " (one of " + std::to_string(one.waits_for.size()) + "; the file does not say which)";
    sentences.push_back(BytesText(one.block.bytes) + " of " + GroupTitle(one.text) + ", allocated on " +
                        handle(one.stream) + ", wait for " + on + ".");
  }
  if (others != 0)
    sentences.push_back(BytesText(others) + " in " + std::to_string(waiting.size() - most) +
                        " more blocks wait.");
  return sentences;
}

std::string BytesText(uint64_t bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof(text), unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text;
}

std::string TellingFrame(const std::vector<std::string>& frames) {
  const std::vector<std::string_view> views(frames.begin(), frames.end());
  return std::string(text::TellingFrame(views));
}

std::string GroupTitle(const BlockText& text) {
  if (!text.name.empty()) return text.name;
  const std::string frame = TellingFrame(text.frames);
  return frame.empty() ? "a block without a name" : frame;
}

}  // namespace vramscope::fragmentation
