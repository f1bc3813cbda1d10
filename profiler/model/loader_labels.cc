// SPDX-License-Identifier: Apache-2.0
// Labels: finds the block of each label, and whether the label adds anything new.
#include <iterator>

#include "profiler/model/loader.h"

namespace vramscope::model {
namespace {

using trace::Event;

// Labels of a block beyond this many are looked up in a map instead of one by one.
constexpr int kFewLabels = 8;

bool KnownRole(uint64_t role) {
  return role >= static_cast<uint64_t>(trace::Role::kParameter) &&
         role <= static_cast<uint64_t>(trace::Role::kNamed);
}

}  // namespace

void Loader::AddLabel(const Event& event, ProcessIndex process) {
  const uint64_t* field = event.field;
  if (!KnownRole(field[trace::label::kRole])) {
    ++run_.anomalies.bad_events;
    return;
  }
  Label label;
  label.event = now_;
  label.role = static_cast<trace::Role>(field[trace::label::kRole]);
  label.source = static_cast<trace::LabelSource>(field[trace::label::kSource]);
  label.name = static_cast<uint32_t>(field[trace::label::kName]);
  label.tensor = field[trace::label::kTensor];
  NoteVariable(threads_[event.thread], label);

  const uint64_t address = field[trace::label::kAddress];
  if (address == 0) return;  // an empty tensor
  const uint32_t* found = processes_[process].live.Find(address);
  const bool named = label.role == trace::Role::kNamed;
  if (named && (label.name == 0 || found == nullptr)) return;  // a program may name any memory
  if (found != nullptr) {
    label.block = *found;
  } else if (label.source == trace::LabelSource::kCollective) {
    label.block = BlockAround(address, process);
    if (label.block == kNone) return;  // memory that was not allocated by PyTorch
  } else {
    ++run_.anomalies.labels_without_block;
    return;
  }
  BlockFacts& facts = FactsOf(label.block);
  if (AlreadySaid(facts, label)) return;
  const auto index = static_cast<uint32_t>(run_.labels.size());
  run_.labels.push_back(label);
  if (facts.last_label == kNone) {
    facts.first_label = index;
  } else {
    run_.labels[facts.last_label].next = index;
  }
  facts.last_label = index;
}

// The live block that contains the address, or kNone.
BlockId Loader::BlockAround(uint64_t address, ProcessIndex process) {
  ProcessState& state = processes_[process];
  if (!state.ordered) {
    state.ordered.emplace();
    for (BlockId id = 0; id < run_.blocks.size(); ++id) {
      const Block& block = run_.blocks[id];
      if (block.free_event == kNever && block.address != 0 && run_.ProcessOf(block) == process)
        state.ordered->insert_or_assign(block.address, id);
    }
  }
  const auto after = state.ordered->upper_bound(address);
  if (after == state.ordered->begin()) return kNone;
  const auto& [begin, id] = *std::prev(after);
  return address - begin < run_.blocks[id].size ? id : kNone;
}

// AccumulateGrad labels the variable and then its gradient, on one thread. So a gradient's label refers to
// the variable, which outlives the gradient's own tensor object and has the name.
void Loader::NoteVariable(ThreadState& thread, Label& label) {
  if (label.source != trace::LabelSource::kAccumulateGrad) return;
  if (label.role == trace::Role::kParameter) thread.accumulating = label.tensor;
  if (label.role != trace::Role::kGradient || thread.accumulating == 0) return;
  label.tensor = thread.accumulating;
  thread.accumulating = 0;
}

bool Loader::AlreadySaid(const BlockFacts& facts, const Label& label) {
  uint32_t index = facts.first_label;
  for (int i = 0; i < kFewLabels; ++i) {
    if (index == kNone) return false;
    const Label& said = run_.labels[index];
    if (said.role == label.role && said.name == label.name && said.tensor == label.tensor) return true;
    index = said.next;
  }
  const uint64_t what = MixBits(uint64_t{label.block} << 32 | label.name) ^
                        MixBits(label.tensor * 8 + static_cast<uint64_t>(label.role));
  return !said_.Insert(what == 0 ? 1 : what, 0).fresh;
}

}  // namespace vramscope::model
