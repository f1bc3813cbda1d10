// SPDX-License-Identifier: Apache-2.0
#include "profiler/growth/words.h"

#include <algorithm>

#include "profiler/text/format.h"

namespace vramscope::growth {

namespace {

// "1.2 MiB a step"; for a single place that pauses "12.0 MiB every 20 steps".
std::string SumText(const std::vector<Growth>& places, bool pinned_host) {
  uint64_t bytes = 0;
  for (const Growth& growth : places) bytes += growth.pinned_host == pinned_host ? growth.bytes_per_step : 0;
  if (places.size() == 1 && places.front().every > 1) {
    return text::FormatBytes(places.front().bytes_each_time) + " every " +
           std::to_string(places.front().every) + " steps";
  }
  return text::FormatBytes(bytes) + " a step";
}

}  // namespace

std::string Headline(const std::vector<Growth>& places) {
  const auto is_pinned = [](const Growth& growth) { return growth.pinned_host; };
  const auto pinned = std::count_if(places.begin(), places.end(), is_pinned);
  std::string sentence;
  if (static_cast<size_t>(pinned) != places.size()) sentence = "Memory grows by " + SumText(places, false);
  if (pinned != 0)
    sentence += (sentence.empty() ? "Pinned host memory grows by " : ", pinned host memory by ") +
                SumText(places, true);
  return sentence + ", from " + std::to_string(places.size()) + (places.size() == 1 ? " place." : " places.");
}

std::string RateText(const Growth& growth) {
  const std::string each = text::FormatBytes(growth.bytes_each_time);
  if (growth.every == 1) return each + " of every step";
  if (growth.every != 0) return each + " every " + std::to_string(growth.every) + " steps";
  return each + " at a time, " + text::FormatBytes(growth.bytes_per_step) + " a step on average";
}

std::string SinceText(const Growth& growth) {
  if (growth.steps == growth.last_step - growth.first_step + 1)
    return "since step " + std::to_string(growth.first_step);
  return "from " + std::to_string(growth.steps) + " of steps " + std::to_string(growth.first_step) + " to " +
         std::to_string(growth.last_step);
}

std::string PlaceText(const Growth& growth) {
  std::string text;
  for (const std::string& part : {growth.line, growth.module, growth.op}) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  }
  return text.empty() ? "an unrecorded place" : text;
}

std::string KeeperText(const Growth& growth) {
  switch (growth.keeper) {
    case Keeper::kProgram:
      return "an object of the program keeps them: a list, a cache, a closure";
    case Keeper::kGraph:
      return "autograd keeps blocks that are allocated in " + std::to_string(growth.places) +
             (growth.places == 1 ? " place" : " places") +
             ". The program keeps a tensor with its graph; keep tensor.detach() or .item()";
    case Keeper::kCycle:
      return "an autograd cycle keeps them: backward(create_graph=True) gave a tensor a gradient whose graph "
             "leads back to that tensor. Set its .grad to None, or use torch.autograd.grad()";
    case Keeper::kReplaced:
      return "each one is a larger copy of the one before, as in x = torch.cat([x, y]). Keep the parts "
             "instead, on the host or only a limited number";
  }
  return "";
}

std::string MissingText(const Growth& growth) {
  if (!growth.line.empty() || growth.pinned_host) return "";
  return growth.op.empty()
             ? "The line and the operator were not recorded: record with --stacks python --depth all."
             : "The line was not recorded: record with --stacks python.";
}

}  // namespace vramscope::growth
