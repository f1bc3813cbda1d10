// SPDX-License-Identifier: Apache-2.0
#include "profiler/diff/facts.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "profiler/classify/origin.h"
#include "profiler/classify/usage.h"
#include "profiler/report/owners.h"
#include "profiler/timeline/curve.h"

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

constexpr uint64_t kLeastMade = 64 << 10;

using Stacks = std::map<uint32_t, uint64_t>;  // stack -> blocks

// The line that allocated most of these blocks. Several stacks may end in the same line.
std::string LineOfMost(const model::Run& run, const Stacks& stacks) {
  std::map<std::string_view, uint64_t> lines;
  for (const auto& [stack, blocks] : stacks) lines[report::FrameToShow(run, stack)] += blocks;
  const auto most = std::max_element(lines.begin(), lines.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == lines.end() ? "" : std::string(most->first);
}

void AddBlocks(const classify::Analysis& analysis, const model::Device& device, Facts& facts) {
  const model::Run& run = analysis.run();
  const timeline::Training& training = analysis.training()[device.process];
  std::unordered_map<uint64_t, uint64_t> alive;  // by size
  std::map<uint64_t, Stacks> stacks;             // by size
  classify::Origins origins(run, analysis.training());
  for (const model::Change& change : device.changes) {
    const model::Block& block = run.blocks[change.block()];
    const Category category = analysis.categories().AtBirth(change.block());
    if (category == Category::kParameter || category == Category::kOptimizerState) {
      if (change.freed()) continue;
      const std::string name(analysis.names().Of(change.block()));
      const size_t of = name.find(" of ");  // "exp_avg of layers.0.weight"
      if (category == Category::kParameter && !name.empty())
        facts.parameters[name] = std::max(facts.parameters[name], block.size);
      if (category == Category::kOptimizerState && of != std::string::npos)
        facts.optimizer_state.insert(name.substr(0, of));
      continue;
    }
    // Requested bytes, because equal tensors may get blocks of different sizes.
    const uint64_t size = block.Requested();
    if (category == Category::kBuffer || size < kLeastMade) continue;
    uint64_t& now = alive[size];
    now += change.freed() ? ~uint64_t{0} : 1;
    if (change.freed()) continue;
    Made& made = facts.made[size];
    ++made.times;
    made.outside += training.StepAt(block.alloc_event) == nullptr ? 1 : 0;
    made.most = std::max(made.most, now);
    if (const uint32_t stack = origins.Of(change.block()).stack; stack != 0) ++stacks[size][stack];
  }
  for (const auto& [size, counted] : stacks) facts.made[size].line = LineOfMost(run, counted);
}

void AddSteps(const classify::Analysis& analysis, model::DeviceIndex device, Facts& facts) {
  const model::Run& run = analysis.run();
  std::vector<uint32_t> steps;
  std::vector<model::EventIndex> moments;
  for (const timeline::Span& span : analysis.training()[run.devices[device].process].spans()) {
    if (span.part != timeline::Part::kBackward || span.step == 0) continue;
    if (!steps.empty() && steps.back() == span.step) continue;
    steps.push_back(span.step);
    moments.push_back(span.begin);
  }
  const timeline::DeviceCurve curve(run, device);
  const auto usage = classify::UsageAt(run, analysis.categories(), curve, moments);
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto of = [&](Category category) { return usage[i][static_cast<size_t>(category)]; };
    facts.input_of_step[steps[i]] = of(Category::kInput);
    facts.activation_of_step[steps[i]] = of(Category::kActivation);
    facts.state_bytes = std::max<uint64_t>(facts.state_bytes, of(Category::kOptimizerState));
  }
}

void AddHost(const report::Answer& answer, Facts& facts) {
  if (!answer.host_memory.has_value()) return;
  facts.host_bytes = answer.host_memory->main.peak_rss_bytes;
  if (answer.host_memory->pinned.has_value()) facts.pinned_bytes = answer.host_memory->pinned->peak_bytes;
}

}  // namespace

Facts FactsOf(const classify::Analysis& analysis, const report::Answer& answer) {
  Facts facts;
  AddRanges(analysis.run(), answer.pid, facts);
  if (const model::DeviceIndex device = report::DeviceOf(analysis.run(), answer); device != model::kNone) {
    AddBlocks(analysis, analysis.run().devices[device], facts);
    AddSteps(analysis, device, facts);
  }
  AddHost(answer, facts);
  facts.knows_operators = analysis.run().contexts.size() > 1;
  facts.knows_lines = std::ranges::any_of(
      answer.owners, [](const report::Owner& owner) { return owner.kind == report::Owner::Kind::kStack; });
  if (!answer.framework_version.empty())
    facts.framework = answer.framework->name + (" " + answer.framework_version);
  const trace::Metadata& metadata = analysis.run().source->metadata();
  facts.knows_program = !metadata.contains("source");
  if (const auto tried = metadata.find("try.change"); tried != metadata.end()) facts.tried = tried->second;
  for (const char* key : {"env.PYTORCH_ALLOC_CONF", "env.PYTORCH_CUDA_ALLOC_CONF"}) {
    const auto found = metadata.find(key);
    if (found != metadata.end() && !found->second.empty()) facts.allocator_settings = found->second;
  }
  return facts;
}

}  // namespace vramscope::diff
