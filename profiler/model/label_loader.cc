// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/label_loader.h"

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

void LabelLoader::Add(const Event& event, LiveBlocks& live, ProcessIndex process, EventIndex now) {
  const uint64_t* field = event.field;
  if (!KnownRole(field[trace::label::kRole])) {
    ++run_.anomalies.bad_events;
    return;
  }
  Label label;
  label.event = now;
  label.role = static_cast<trace::Role>(field[trace::label::kRole]);
  label.source = static_cast<trace::LabelSource>(field[trace::label::kSource]);
  label.name = static_cast<uint32_t>(field[trace::label::kName]);
  label.tensor = field[trace::label::kTensor];
  NoteVariable(event.thread, label);
  if (!FindBlock(field[trace::label::kAddress], live, process, label)) return;

  BlockFacts& facts = run_.MakeFacts(label.block);
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

bool LabelLoader::FindBlock(uint64_t address, LiveBlocks& live, ProcessIndex process, Label& label) {
  if (address == 0) return false;  // an empty tensor
  const BlockId* found = live.Find(address);
  const bool named = label.role == trace::Role::kNamed;
  if (named && (label.name == 0 || found == nullptr)) return false;  // a program may name any memory
  if (found != nullptr) {
    label.block = *found;
  } else if (label.source == trace::LabelSource::kCollective) {
    const auto is_mine = [&](const Block& block) { return run_.ProcessOf(block) == process; };
    label.block = live.Around(address, run_.blocks, is_mine);
    return label.block != kNone;  // kNone: memory that was not allocated by PyTorch
  } else {
    ++run_.anomalies.labels_without_block;
    return false;
  }
  return true;
}

// AccumulateGrad labels the variable and then its gradient, on one thread. So a gradient's label refers to
// the variable, which outlives the gradient's own tensor object and has the name.
void LabelLoader::NoteVariable(ThreadIndex thread, Label& label) {
  if (label.source != trace::LabelSource::kAccumulateGrad) return;
  uint64_t& accumulating = accumulating_[thread];
  if (label.role == trace::Role::kParameter) accumulating = label.tensor;
  if (label.role != trace::Role::kGradient || accumulating == 0) return;
  label.tensor = accumulating;
  accumulating = 0;
}

bool LabelLoader::AlreadySaid(const BlockFacts& facts, const Label& label) {
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
