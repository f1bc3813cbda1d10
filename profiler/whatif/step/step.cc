// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/step/step.h"

#include <algorithm>
#include <unordered_map>

#include "profiler/model/framework.h"
#include "profiler/whatif/step/open_saves.h"
#include "profiler/whatif/step/piling_up.h"
#include "profiler/whatif/step/recorded_steps.h"
#include "profiler/whatif/step/saved_share.h"
#include "profiler/whatif/step/windows.h"

namespace vramscope::whatif {
namespace {

using model::BlockId;
using model::EventIndex;
using model::kNone;
using trace::Event;
using trace::EventType;

// The open ranges of one thread while the step is read.
struct OpenThread {
  std::vector<OpIndex> ops;
  std::vector<NodeIndex> made;  // for each of them, the last node created directly in it
  std::vector<CallIndex> modules;
  NodeIndex node;   // the node that the engine is running
  BlockIndex leaf;  // the block that it gives a gradient, if that is not a parameter
};

// The last index; none if the list is empty.
template <class Item>
Index<Item> Last(const std::vector<Index<Item>>& open) {
  return open.empty() ? Index<Item>() : open.back();
}

class Reader {
 public:
  Reader(const classify::Analysis& analysis, model::DeviceIndex device, const LoopSteps& steps)
      : run_(analysis.run()), analysis_(analysis), device_(run_.devices[device]), recorded_(steps.chosen) {
    step_.run = &run_;
    step_.device = device;
    step_.number = recorded_.number;
    step_.first_event = recorded_.begin;
    step_.end_event = recorded_.end;
    step_.length = recorded_.end - recorded_.begin;
    step_.first = steps.first;
    step_.shapes.push_back({});
    threads_.resize(run_.threads.size());
    TakeFacts(run_.source->metadata(), step_);
  }

  Result<Step> Read() && {
    AddBlocks();
    EventIndex at = 0;
    const Status read = run_.source->ForEachBatch([&](std::span<const Event> events) {
      for (const Event& event : events) {
        if (at >= recorded_.end) return false;
        now_ = at++;
        const bool other = event.type == EventType::kCounter || event.thread >= run_.threads.size() ||
                           run_.threads[event.thread].process != device_.process;
        if (!other) AddEvent(event);
        apart_ = other ? apart_ + 1 : 0;
      }
      return true;
    });
    VRAMSCOPE_TRY(read);
    OpenSaves::Settle(step_);
    AddWindows(recorded_, step_), AddEmptying(step_), LeaveOutFirstBatch(step_);
    std::sort(step_.trained.begin(), step_.trained.end());
    step_.trained.erase(std::unique(step_.trained.begin(), step_.trained.end()), step_.trained.end());
    for (StepBlock& block : step_.blocks) Classify(block);
    MeasureSaved(step_);
    return std::move(step_);
  }

 private:
  [[nodiscard]] Position Now() const { return Position(now_) - recorded_.begin; }
  [[nodiscard]] bool Inside() const { return now_ >= recorded_.begin; }

  // All blocks of the device that are alive at some time during the step.
  void AddBlocks() {
    for (const model::Change& change : device_.changes) {
      if (change.freed()) continue;
      const model::Block& block = run_.blocks[change.block()];
      if (block.alloc_event >= recorded_.end) break;
      const bool passing = block.free_event <= recorded_.begin;
      if (passing) AddPassing(block);
      if (passing) continue;
      StepBlock made;
      made.id = change.block();
      made.stream = block.stream;
      if (block.alloc_event >= recorded_.begin) made.begin = Position(block.alloc_event) - recorded_.begin;
      if (block.free_event < recorded_.end) made.end = Position(block.free_event) - recorded_.begin;
      index_.emplace(made.id, step_.blocks.Next());
      step_.blocks.push_back(made);
    }
  }

  void AddPassing(const model::Block& block) {
    const EventIndex begin = block.alloc_event, loop = step_.first.begin;
    if (begin >= loop) return;  // from an earlier step
    const EventIndex end = std::min(block.free_event, loop);
    step_.passing.push_back(
        {BeforeLoop(begin, step_.first), BeforeLoop(end, step_.first), block.size, block.stream});
  }

  void AddEvent(const Event& event) {
    switch (event.type) {
      case EventType::kAlloc:
        return AddAlloc(event);
      case EventType::kFree:
        return AddFree(event.field[trace::free_::kAddress]);
      case EventType::kLabel:
        return AddLabel(event);
      case EventType::kSaved:
        NoteBytes(BlockAt(event.field[trace::saved::kAddress]), event.field[trace::saved::kBytes]);
        break;
      default:
        break;
    }
    if (Inside()) AddDeepEvent(event);
  }

  // The block of the step that is at an address now.
  [[nodiscard]] BlockIndex BlockAt(uint64_t address) const {
    const auto found = live_.find(address);
    return found == live_.end() ? BlockIndex() : found->second;
  }

  void AddAlloc(const Event& event) {
    const BlockId id = next_block_ < run_.blocks.size() ? FindBlock() : kNone;
    const auto found = index_.find(id);
    const uint64_t address = event.field[trace::alloc::kAddress];
    if (found == index_.end()) return static_cast<void>(live_.erase(address));
    live_[address] = found->second;
    StepBlock& block = step_.blocks[found->second];
    block.requested = std::max(block.requested, event.field[trace::alloc::kRequested]);
    if (!Inside()) return;
    const OpenThread& thread = threads_[event.thread];
    block.op = Last(thread.ops);
  }

  // Moves the end of a block back over the events just before its free that are not the program's (frees of
  // other processes, counter samples): they do not separate the free from its cause.
  void AddFree(uint64_t address) {
    const BlockIndex block = BlockAt(address);
    if (block != kNone && step_.blocks[block].end == Now()) step_.blocks[block].end = Now() - apart_;
    live_.erase(address);
  }

  // The block that this event allocates.
  BlockId FindBlock() {
    while (next_block_ < run_.blocks.size() && run_.blocks[next_block_].alloc_event < now_) ++next_block_;
    return next_block_ < run_.blocks.size() && run_.blocks[next_block_].alloc_event == now_ ? next_block_
                                                                                            : kNone;
  }

  void NoteBytes(BlockIndex block, uint64_t bytes) {
    if (block == kNone || bytes > run_.blocks[step_.blocks[block].id].size) return;
    step_.blocks[block].requested = std::max(step_.blocks[block].requested, bytes);
  }

  void AddLabel(const Event& event) {
    const BlockIndex block = BlockAt(event.field[trace::label::kAddress]);
    if (block == kNone) return;
    NoteBytes(block, event.field[trace::label::kBytes]);
    const auto role = static_cast<trace::Role>(event.field[trace::label::kRole]);
    if (role == trace::Role::kWorkspace) step_.blocks[block].workspace = true;
    const auto source = event.field[trace::label::kSource];
    if (!Inside() || source != static_cast<uint64_t>(trace::LabelSource::kAccumulateGrad)) return;
    StepBlock& labeled = step_.blocks[block];
    OpenThread& thread = threads_[event.thread];
    BlockIndex& leaf = thread.leaf;
    if (role == trace::Role::kGradient)
      labeled.accumulated = std::min(labeled.accumulated, Now()), labeled.leaf = leaf;
    if (role == trace::Role::kParameter)
      leaf = labeled.begin == kBefore ? BlockIndex() : block;  // a batch that requires a gradient
    // Forward creates AccumulateGrad whether or not it will receive a gradient, so only backward counts.
    if (role == trace::Role::kParameter && leaf == kNone && thread.node != kNone)
      step_.trained.push_back(block);
  }

  void AddDeepEvent(const Event& event) {
    const uint64_t* const field = event.field;
    OpenThread& thread = threads_[event.thread];
    switch (event.type) {
      case EventType::kOpBegin:
        return BeginOp(thread, static_cast<uint32_t>(field[trace::op::kName]));
      case EventType::kOpEnd:
        return EndOp(thread);
      case EventType::kOpTensor:
        return AddOperand(thread, field);
      case EventType::kNodeCreated:
        return MakeNode(thread, field[0]);
      case EventType::kNodeBegin:
        return BeginNode(thread, field);
      case EventType::kNodeEnd:
        if (thread.node != kNone) step_.nodes[thread.node].end = Now();
        thread.node = {};
        return;
      case EventType::kSaved:
        return AddSaved(thread, field);
      case EventType::kSavedReleased:
        return open_saves_.Release(step_, BlockAt(field[trace::saved::kAddress]), Now());
      case EventType::kRangeBegin:
        if (static_cast<trace::RangeKind>(field[trace::range::kKind]) == trace::RangeKind::kModule) {
          const CallIndex parent = Last(thread.modules);
          thread.modules.push_back(step_.modules.Next());
          step_.modules.push_back({static_cast<uint32_t>(field[trace::range::kName]), parent, Now()});
        }
        return;
      case EventType::kRangeEnd:
        if (static_cast<trace::RangeKind>(field[trace::range::kKind]) == trace::RangeKind::kModule &&
            !thread.modules.empty()) {
          step_.modules[thread.modules.back()].end = Now();
          thread.modules.pop_back();
        }
        return;
      default:
        return;
    }
  }

  void BeginOp(OpenThread& thread, uint32_t name) {
    Op op;
    op.name = name;
    op.parent = Last(thread.ops);
    op.node = thread.node;
    op.begin = Now();
    op.first_input = op.first_output = static_cast<uint32_t>(step_.operands.size());
    thread.ops.push_back(step_.ops.Next());
    thread.made.emplace_back();
    step_.ops.push_back(op);
  }

  void EndOp(OpenThread& thread) {
    if (thread.ops.empty()) return;
    step_.ops[thread.ops.back()].end = Now();
    step_.op_ends.push_back(thread.ops.back());
    thread.ops.pop_back(), thread.made.pop_back();
  }

  void AddOperand(OpenThread& thread, const uint64_t* field) {
    if (thread.ops.empty()) return;
    Op& op = step_.ops[thread.ops.back()];
    const uint64_t flags = field[trace::op_tensor::kFlags];
    const bool output = (flags & trace::kTensorIsOutput) != 0;
    uint32_t& first = output ? op.first_output : op.first_input;
    uint32_t& count = output ? op.output_count : op.input_count;
    const auto place = static_cast<uint32_t>(step_.operands.size());
    // If another thread's operand came in between, the earlier ones are dropped.
    if (count == 0 || first + count != place) first = place, count = 0;
    ++count;
    Operand operand;
    operand.op = thread.ops.back();
    operand.block = BlockAt(field[trace::op_tensor::kStorage]);
    operand.shape = ShapeOf(static_cast<uint32_t>(field[trace::op_tensor::kShape]));
    operand.strides = ShapeOf(static_cast<uint32_t>(field[trace::op_tensor::kStrides]));
    if (step_.shapes[operand.shape].count != step_.shapes[operand.strides].count) operand.strides = 0;
    operand.offset = field[trace::op_tensor::kOffset];
    operand.tensor = field[trace::op_tensor::kTensor];
    operand.argument = static_cast<uint16_t>(field[trace::op_tensor::kPosition]);
    operand.element = static_cast<uint16_t>(field[trace::op_tensor::kPosition] >> 16);
    operand.dtype = static_cast<uint8_t>(field[trace::op_tensor::kDtype]);
    operand.flags = static_cast<uint8_t>(flags);
    step_.operands.push_back(operand);
    NoteBytes(operand.block, BytesUpTo(step_, operand));
  }

  // "8,128,256", parsed once per text; 0 for an unknown text.
  uint32_t ShapeOf(uint32_t text_id) {
    if (text_id == 0) return 0;
    const auto [place, fresh] = shapes_.try_emplace(text_id, static_cast<uint32_t>(step_.shapes.size()));
    if (fresh) step_.shapes.push_back(ParseShape(run_.Text(text_id), step_.dims));
    return place->second;
  }

  void MakeNode(OpenThread& thread, uint64_t sequence) {
    if (sequence == trace::node::kNoSequence) return;
    const NodeIndex node = step_.nodes.Next();
    nodes_[sequence] = node;
    step_.nodes.push_back({0, Last(thread.ops), Now()});
    if (!thread.made.empty()) thread.made.back() = node;
  }

  void BeginNode(OpenThread& thread, const uint64_t* field) {
    const uint64_t sequence = field[trace::node::kSequence];
    const auto found = sequence == trace::node::kNoSequence ? nodes_.end() : nodes_.find(sequence);
    thread.node = found != nodes_.end() ? found->second : step_.nodes.Next();
    if (found == nodes_.end()) step_.nodes.push_back({});
    Node& node = step_.nodes[thread.node];
    node.name = static_cast<uint32_t>(field[trace::node::kName]);
    node.begin = Now();
  }

  // A node is created in the frame of its operator, before or after the tensors that it saves; a frame
  // creates at most one.
  void AddSaved(const OpenThread& thread, const uint64_t* field) {
    Saved saved;
    saved.block = BlockAt(field[trace::saved::kAddress]);
    saved.at = Now();
    saved.tensor = field[trace::saved::kTensor];
    saved.node = Last(thread.made);
    if (saved.block != kNone) open_saves_.Add(step_, saved);
  }

  void Classify(StepBlock& block) {
    if (block.requested == 0) block.requested = run_.blocks[block.id].size;
    // The block's last category, or activation if it ever was one: after autograd has released an activation,
    // the rest of its life is classified as temporary.
    block.name = analysis_.names().Of(block.id);
    const classify::Life life = analysis_.categories().Of(block.id);
    block.category = life[life.size() - 1].category;
    for (const classify::Stretch& stretch : life)
      if (stretch.category == classify::Category::kActivation) block.category = stretch.category;
  }

  const model::Run& run_;
  const classify::Analysis& analysis_;
  const model::Device& device_;
  const timeline::Step& recorded_;
  Step step_;
  EventIndex now_ = 0, apart_ = 0;  // `apart_`: events just before it that are not the program's
  BlockId next_block_ = 0;
  std::vector<OpenThread> threads_;
  std::unordered_map<BlockId, BlockIndex> index_;
  std::unordered_map<uint64_t, BlockIndex> live_;  // by address
  std::unordered_map<uint64_t, NodeIndex> nodes_;  // by sequence number
  std::unordered_map<uint32_t, uint32_t> shapes_;
  OpenSaves open_saves_;
};

}  // namespace

Result<Step> ReadStep(const classify::Analysis& analysis, model::DeviceIndex device) {
  const model::Framework& framework = model::FrameworkOf(*analysis.run().source);
  if (framework.no_prediction != nullptr) return CannotJudge(framework.no_prediction);
  const LoopSteps steps = VRAMSCOPE_TRY(ChooseSteps(analysis, analysis.run().devices[device].process));
  Result<Step> step = Reader(analysis, device, steps).Read();
  if (step.ok()) FindPilingUp(steps.before, step.value());
  return step;
}

}  // namespace vramscope::whatif
