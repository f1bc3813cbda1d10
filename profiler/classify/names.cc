// SPDX-License-Identifier: Apache-2.0
#include "profiler/classify/names.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace vramscope::classify {

using model::BlockId;
using model::Label;

Names::Names(const model::Run& run) : run_(run) {
  for (const Label& label : run.labels) {
    if (label.tensor == 0 || label.role == trace::Role::kGradient) continue;
    const uint32_t name = NameInLabels(label.block, label.name != 0 ? label.tensor : kAnyTensor);
    if (name != 0)
      tensors_.push_back({run.ProcessOf(run.blocks[label.block]), label.tensor, label.event, name});
  }
  std::sort(tensors_.begin(), tensors_.end(), [](const TensorName& a, const TensorName& b) {
    return std::tie(a.process, a.tensor, a.event) < std::tie(b.process, b.tensor, b.event);
  });
}

std::string_view Names::Of(BlockId block) const {
  if (const uint32_t name = NameInLabels(block, kAnyTensor); name != 0) return run_.Text(name);
  const model::BlockFacts* facts = run_.FactsOf(run_.blocks[block]);
  if (facts == nullptr) return {};
  for (uint32_t i = facts->first_label; i != model::kNone; i = run_.labels[i].next) {
    if (const uint32_t name = NameOfTensor(run_.labels[i]); name != 0) return run_.Text(name);
  }
  return {};
}

namespace {

// The rank of a name. Names from modules rank highest, by their number of parts. Then come the names that the
// program gave to its memory: an annotation first, because it is about this block alone.
std::ptrdiff_t FullnessOf(const Label& label, std::string_view name) {
  if (label.source == trace::LabelSource::kCollective) return -3;
  if (label.role != trace::Role::kNamed) return std::count(name.begin(), name.end(), '.');
  return label.source == trace::LabelSource::kAnnotation ? -1 : -2;
}

}  // namespace

// The fullest name, the first one on a tie: LibTorch registers "weight", a list of layers calls it
// "0.weight", and the model "layers.0.weight". The name of a collective is used only if there is no other.
uint32_t Names::NameInLabels(BlockId block, uint64_t tensor) const {
  const model::BlockFacts* facts = run_.FactsOf(run_.blocks[block]);
  if (facts == nullptr) return 0;
  uint32_t fullest = 0;
  std::ptrdiff_t most = -4;
  for (uint32_t i = facts->first_label; i != model::kNone; i = run_.labels[i].next) {
    const Label& label = run_.labels[i];
    if (label.name == 0 || (tensor != kAnyTensor && label.tensor != tensor)) continue;
    const std::ptrdiff_t fullness = FullnessOf(label, run_.Text(label.name));
    if (fullness > most) {
      fullest = label.name;
      most = fullness;
    }
  }
  return fullest;
}

// The name of the label's tensor at the label's event. If the tensor had none yet, the first one it got
// later.
uint32_t Names::NameOfTensor(const Label& label) const {
  if (label.tensor == 0) return 0;
  const model::ProcessIndex process = run_.ProcessOf(run_.blocks[label.block]);
  const auto next =
      std::upper_bound(tensors_.begin(), tensors_.end(), std::tuple{process, label.tensor, label.event},
                       [](const auto& key, const TensorName& name) {
                         return key < std::tie(name.process, name.tensor, name.event);
                       });
  const auto is_it = [&](auto entry) { return entry->process == process && entry->tensor == label.tensor; };
  if (next != tensors_.begin() && is_it(next - 1)) return (next - 1)->name;
  if (next != tensors_.end() && is_it(next)) return next->name;
  return 0;
}

std::string_view ParameterOfName(std::string_view name) {
  constexpr std::string_view kOf = " of ";
  const size_t of = name.find(kOf);
  return of == std::string_view::npos ? name : name.substr(of + kOf.size());
}

std::string_view ModuleOfName(std::string_view name) {
  const std::string_view parameter = ParameterOfName(name);
  const size_t dot = parameter.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : parameter.substr(0, dot);
}

}  // namespace vramscope::classify
