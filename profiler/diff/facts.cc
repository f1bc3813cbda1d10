// SPDX-License-Identifier: Apache-2.0
#include "profiler/diff/facts.h"

namespace vramscope::diff {
namespace {

using classify::Category;

void AddRanges(const model::Run& run, uint32_t pid, Facts& facts) {
  for (const model::Process& process : run.processes) {
    if (process.info.pid != pid) continue;
    for (const uint32_t index : process.ranges) {
      const model::Range& range = run.ranges[index];
      const std::string name(run.Text(range.name));
      if (range.kind == trace::RangeKind::kOptimizer) facts.optimizers.insert(name);
      if (range.kind == trace::RangeKind::kAutocast) facts.autocast.insert(name);
      if (range.kind == trace::RangeKind::kCheckpoint) facts.checkpoints = true;
    }
  }
}

void AddBlocks(const report::Moment& peak, Facts& facts) {
  for (const report::LiveBlock& block : peak.blocks) {
    if (block.category == Category::kInput) facts.input_bytes += block.bytes;
    if (block.category == Category::kParameter && !block.name.empty())
      facts.parameters[block.name] += block.bytes;
    if (block.category == Category::kOptimizerState) {
      const size_t of = block.name.find(" of ");  // "exp_avg of layers.0.weight"
      if (of != std::string::npos) facts.optimizer_state.insert(block.name.substr(0, of));
    }
  }
}

}  // namespace

Facts FactsOf(const classify::Analysis& analysis, const report::Answer& answer) {
  Facts facts;
  AddRanges(analysis.run(), answer.pid, facts);
  if (!answer.moments.empty()) AddBlocks(answer.moments.front(), facts);
  facts.torch_version = answer.torch_version;
  const trace::Metadata& metadata = analysis.run().source->metadata();
  for (const char* key : {"env.PYTORCH_ALLOC_CONF", "env.PYTORCH_CUDA_ALLOC_CONF"}) {
    const auto found = metadata.find(key);
    if (found != metadata.end() && !found->second.empty()) facts.allocator_settings = found->second;
  }
  return facts;
}

}  // namespace vramscope::diff
