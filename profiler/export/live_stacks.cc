// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/live_stacks.h"

#include <map>

#include "profiler/classify/origin.h"
#include "profiler/report/owners.h"
#include "profiler/text/harmless.h"

namespace vramscope::exporting {
namespace {

std::vector<std::string> FramesOf(const Content& content, classify::Origins& origins, model::BlockId block) {
  const model::Run& run = content.run();
  std::vector<std::string> frames;
  for (const std::string_view frame : report::FramesToDraw(run, origins.Of(block).stack))
    frames.push_back(text::Clean(frame));
  if (!frames.empty()) return frames;
  const report::Place place = report::PlaceOf(content.analysis(), origins, block);
  for (const std::string_view part : {place.module, place.node, place.op}) {
    if (!part.empty() && (frames.empty() || frames.back() != part)) frames.push_back(text::Clean(part));
  }
  return frames;
}

}  // namespace

std::vector<LiveStack> FindLiveStacks(const Content& content) {
  const report::Moment& moment = content.answer().moments.front();
  classify::Origins origins(content.run(), content.analysis().training());
  std::map<std::vector<std::string>, std::pair<uint64_t, uint64_t>> sums;
  uint64_t seen = 0;
  for (const report::LiveBlock& block : moment.blocks) {
    std::vector<std::string> frames =
        FramesOf(content, origins, static_cast<model::BlockId>(block.number - 1));
    frames.emplace_back(classify::Info(block.category).key);
    auto& [bytes, blocks] = sums[std::move(frames)];
    bytes += block.bytes;
    ++blocks;
    seen += block.bytes;
  }
  std::vector<LiveStack> stacks;
  for (const auto& [frames, sum] : sums) stacks.push_back({frames, sum.first, sum.second});
  if (seen < moment.allocated_bytes) {
    stacks.push_back({{"not seen", classify::Info(classify::Category::kUnattributed).key},
                      moment.allocated_bytes - seen,
                      0});
  }
  return stacks;
}

}  // namespace vramscope::exporting
