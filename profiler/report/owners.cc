// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/owners.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/text/frame.h"

namespace vramscope::report {
namespace {

using classify::Category;
using model::BlockId;

// Sums blocks by name.
class Tally {
 public:
  explicit Tally(Owner::Kind kind) : kind_(kind) {}

  void Add(std::string_view name, uint64_t bytes, Category category) {
    if (name.empty()) return;
    auto owner = by_name_.find(name);
    if (owner == by_name_.end())
      owner = by_name_.emplace(name, Owner{.kind = kind_, .name = std::string(name)}).first;
    owner->second.bytes += bytes;
    ++owner->second.blocks;
    owner->second.categories[static_cast<size_t>(category)] += bytes;
    known_ += bytes;
  }

  // Sums the layers of stacks: "layers.3.mlp" counts as "layers.*.mlp" if another module matches this too.
  [[nodiscard]] Tally Patterns() const {
    std::map<std::string, std::vector<const Owner*>> groups;
    for (const auto& [name, owner] : by_name_) groups[PatternOf(name)].push_back(&owner);
    Tally patterns(Owner::Kind::kModulePattern);
    patterns.known_ = known_;
    for (const auto& [pattern, members] : groups) {
      const std::string& name = members.size() > 1 ? pattern : members.front()->name;
      Owner& sum = patterns.by_name_.emplace(name, Owner{.kind = patterns.kind_, .name = name}).first->second;
      sum.members = static_cast<uint32_t>(members.size());
      for (const Owner* member : members) {
        sum.bytes += member->bytes;
        sum.blocks += member->blocks;
        for (size_t i = 0; i < classify::kCategoryCount; ++i) sum.categories[i] += member->categories[i];
      }
    }
    return patterns;
  }

  void MoveTo(Owners& result, uint32_t top) && {
    std::vector<Owner> owners;
    for (auto& [name, owner] : by_name_) owners.push_back(std::move(owner));
    std::sort(owners.begin(), owners.end(), [](const Owner& a, const Owner& b) {
      return a.bytes != b.bytes ? a.bytes > b.bytes : a.name < b.name;
    });
    if (top != 0 && owners.size() > top) owners.resize(top);
    std::move(owners.begin(), owners.end(), std::back_inserter(result.owners));
    result.known[kind_] = known_;
  }

 private:
  // The first part of the path that is a number is the index in a stack of layers. Later numbers (in an
  // nn.Sequential) describe what a layer consists of.
  static std::string PatternOf(std::string_view path) {
    for (size_t begin = 0; begin <= path.size();) {
      const size_t end = std::min(path.find('.', begin), path.size());
      const std::string_view part = path.substr(begin, end - begin);
      const bool is_number = !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
      if (is_number) return std::string(path.substr(0, begin)) + "*" + std::string(path.substr(end));
      begin = end + 1;
    }
    return std::string(path);
  }

  Owner::Kind kind_;
  std::map<std::string, Owner, std::less<>> by_name_;
  uint64_t known_ = 0;
};

bool IsNamedByProgram(const model::Run& run, BlockId block) {
  const model::BlockFacts* const facts = run.FactsOf(run.blocks[block]);
  uint32_t label = facts == nullptr ? model::kNone : facts->first_label;
  while (label != model::kNone && run.labels[label].role != trace::Role::kNamed)
    label = run.labels[label].next;
  return label != model::kNone;
}

// Among the stacks that `frame` represents, the one with the most bytes.
uint32_t LargestStack(const std::map<std::pair<std::string_view, uint32_t>, uint64_t>& bytes_of_stack,
                      std::string_view frame) {
  uint32_t largest = 0;
  uint64_t most = 0;
  for (auto at = bytes_of_stack.lower_bound({frame, 0});
       at != bytes_of_stack.end() && at->first.first == frame; ++at) {
    if (at->second <= most) continue;
    largest = at->first.second;
    most = at->second;
  }
  return largest;
}

bool BelongsToParameter(Category category) {
  return category == Category::kParameter || category == Category::kGradient ||
         category == Category::kOptimizerState || category == Category::kBuffer;
}

// Allocations of an optimizer in a step without operators are at least attributed to that optimizer: "AdamW".
std::string_view OptimizerThatMade(const classify::Analysis& analysis, const model::Block& block) {
  const model::Run& run = analysis.run();
  const model::ProcessIndex process = run.ProcessOf(block);
  if (analysis.training()[process].PartOf(block.thread, block.alloc_event) != timeline::Part::kOptimizer)
    return {};
  const std::vector<uint32_t>& ranges = run.processes[process].ranges;
  auto next =
      std::upper_bound(ranges.begin(), ranges.end(), block.alloc_event,
                       [&](model::EventIndex at, uint32_t index) { return at < run.ranges[index].begin; });
  while (next != ranges.begin()) {
    const model::Range& range = run.ranges[*--next];
    if (range.kind == trace::RangeKind::kOptimizer) return run.Text(range.name);
  }
  return {};
}

}  // namespace

std::string_view FrameToShow(const model::Run& run, uint32_t stack) {
  std::vector<std::string_view> frames;
  for (const trace::StringId frame : run.source->Stack(stack)) frames.push_back(run.Text(frame));
  std::reverse(frames.begin(), frames.end());
  return text::TellingFrame(frames);
}

std::vector<std::string_view> FramesToDraw(const model::Run& run, uint32_t stack) {
  std::vector<std::string_view> all;
  std::vector<std::string_view> drawn;
  for (const trace::StringId frame : run.source->Stack(stack)) {
    all.push_back(run.Text(frame));
    if (text::KindOfFrame(all.back()) != text::FrameKind::kInterpreter) drawn.push_back(all.back());
  }
  return drawn.empty() ? all : drawn;
}

std::string_view FramesToShow::Of(uint32_t stack) {
  const auto [known, fresh] = by_stack_.try_emplace(stack);
  if (fresh) known->second = FrameToShow(run_, stack);
  return known->second;
}

Place PlaceOf(const classify::Analysis& analysis, classify::Origins& origins, BlockId block) {
  const model::Run& run = analysis.run();
  const classify::Origin origin = origins.Of(block);
  const model::Birthplace& birth = run.contexts.PlaceOf(origin.context);
  Place place{run.Text(birth.module), run.Text(birth.node), run.Text(birth.op), origin.as_in_step};
  const std::string_view module_by_name = classify::ModuleOfName(analysis.names().Of(block));
  if (!module_by_name.empty()) place.module = module_by_name;
  if (place.op.empty() && place.node.empty()) place.op = OptimizerThatMade(analysis, run.blocks[block]);
  return place;
}

Owners FindOwners(const classify::Analysis& analysis, classify::Origins& origins,
                  std::span<const BlockId> blocks, model::EventIndex at, uint32_t top) {
  const model::Run& run = analysis.run();
  Tally modules(Owner::Kind::kModule);
  Tally parameters(Owner::Kind::kParameter);
  Tally names(Owner::Kind::kName);
  Tally ops(Owner::Kind::kOp);
  Tally stacks(Owner::Kind::kStack);
  FramesToShow frames(run);
  std::map<std::pair<std::string_view, uint32_t>, uint64_t> bytes_of_stack;  // by frame and stack
  Owners result;
  for (const BlockId id : blocks) {
    const uint64_t bytes = run.blocks[id].size;
    const Category category = analysis.categories().At(id, at).category;
    const Place place = PlaceOf(analysis, origins, id);
    const bool at_the_top =
        BelongsToParameter(category) && place.module.empty() && !analysis.names().Of(id).empty();
    modules.Add(at_the_top ? "(model)" : place.module, bytes, category);
    ops.Add(place.node.empty() ? place.op : place.node, bytes, category);
    if (BelongsToParameter(category)) {
      parameters.Add(classify::ParameterOfName(analysis.names().Of(id)), bytes, category);
    }
    if (IsNamedByProgram(run, id)) names.Add(analysis.names().Of(id), bytes, category);
    const uint32_t stack = origins.Of(id).stack;
    const std::string_view frame = frames.Of(stack);
    stacks.Add(frame, bytes, category);
    if (!frame.empty()) bytes_of_stack[{frame, stack}] += bytes;
    result.inferred_blocks += place.as_in_step != 0 ? 1 : 0;
  }
  modules.Patterns().MoveTo(result, top);
  for (Tally* tally : {&modules, &parameters, &names, &ops, &stacks}) std::move(*tally).MoveTo(result, top);
  for (Owner& owner : result.owners) {
    if (owner.kind != Owner::Kind::kStack) continue;
    for (const uint32_t frame : run.source->Stack(LargestStack(bytes_of_stack, owner.name)))
      owner.frames.emplace_back(run.Text(frame));
  }
  return result;
}

}  // namespace vramscope::report
