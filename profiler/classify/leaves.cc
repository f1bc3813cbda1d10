// SPDX-License-Identifier: Apache-2.0
#include "profiler/classify/leaves.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "profiler/classify/births.h"

namespace vramscope::classify {
namespace {

using model::Label;
using trace::LabelSource;
using trace::Role;
using TensorOfProcess = std::pair<model::ProcessIndex, uint64_t>;

// One AccumulateGrad label of a leaf that has no name. It refers to the block through its tensor.
struct Leaf {
  TensorOfProcess tensor;
  model::EventIndex event = 0;
  uint32_t label = 0;
  bool disproved = false;
  auto Key() const { return std::tuple(tensor, event); }
};

class Search {
 public:
  Search(const model::Run& run, std::span<const timeline::Training> training)
      : run_(run), training_(training), births_(run, training), last_gradient_(training.size(), 0) {
    for (const Label& label : run.labels) {
      const bool accumulated = label.source == LabelSource::kAccumulateGrad;
      const bool named = label.role == Role::kParameter || label.role == Role::kCommunication;
      if (named && !accumulated && label.tensor != 0) named_.push_back(TensorOf(label));
      if (label.role == Role::kGradient && accumulated) {
        with_gradient_.push_back(TensorOf(label));
        gradients_.emplace_back(with_gradient_.back(), label.event);
        last_gradient_[with_gradient_.back().first] = label.event;
      }
    }
    std::sort(named_.begin(), named_.end());
    std::sort(with_gradient_.begin(), with_gradient_.end());
    std::sort(gradients_.begin(), gradients_.end());
    CollectLeaves();
  }

  [[nodiscard]] std::vector<bool> Disproved() const {
    std::vector<bool> disproved(run_.labels.size(), false);
    for (const Leaf& leaf : leaves_) disproved[leaf.label] = leaf.disproved;
    for (uint32_t i = 0; i < run_.labels.size(); ++i) {
      const Label& label = run_.labels[i];
      if (label.role != Role::kGradient || label.source != LabelSource::kAccumulateGrad) continue;
      const Leaf* leaf = LeafBefore(label);
      disproved[i] = leaf != nullptr && leaf->disproved;
    }
    return disproved;
  }

 private:
  TensorOfProcess TensorOf(const Label& label) const {
    return {run_.ProcessOf(run_.blocks[label.block]), label.tensor};
  }

  void CollectLeaves() {
    for (uint32_t i = 0; i < run_.labels.size(); ++i) {
      const Label& label = run_.labels[i];
      if (label.role != Role::kParameter || label.source != LabelSource::kAccumulateGrad) continue;
      const TensorOfProcess tensor = TensorOf(label);
      if (!std::binary_search(named_.begin(), named_.end(), tensor))
        leaves_.push_back({tensor, label.event, i});
    }
    std::sort(leaves_.begin(), leaves_.end(), [this](const Leaf& a, const Leaf& b) {
      return run_.labels[a.label].block < run_.labels[b.label].block;
    });
    for (Leaf& leaf : leaves_) {
      const model::Block& block = run_.blocks[run_.labels[leaf.label].block];
      leaf.disproved =
          IsGoneSoon(block, births_.Of(block)) || IsPassedOver(leaf) || IsNamelessAmongNamed(leaf, block);
    }
    std::sort(leaves_.begin(), leaves_.end(), [](const Leaf& a, const Leaf& b) { return a.Key() < b.Key(); });
  }

  // True if the leaf never got a gradient, although other leaves got one after the step of the leaf's first
  // use.
  [[nodiscard]] bool IsPassedOver(const Leaf& leaf) const {
    if (std::binary_search(with_gradient_.begin(), with_gradient_.end(), leaf.tensor)) return false;
    const model::ProcessIndex process = leaf.tensor.first;
    const auto& steps = training_[process].steps();
    const auto used_in =
        std::ranges::upper_bound(steps, leaf.event, {}, [](const timeline::Step& step) { return step.end; });
    return used_in != steps.end() && used_in->end < last_gradient_[process];
  }

  // True if the leaf has no name in a process whose parameters have names, and gets no gradients in a second
  // step.
  [[nodiscard]] bool IsNamelessAmongNamed(const Leaf& leaf, const model::Block& block) const {
    const model::ProcessIndex process = leaf.tensor.first;
    const auto named = std::ranges::lower_bound(named_, TensorOfProcess{process, 0});
    if (named == named_.end() || named->first != process) return false;
    const auto next = [&](model::EventIndex from) {
      const auto found = std::ranges::lower_bound(gradients_, std::pair(leaf.tensor, from));
      const bool own =
          found != gradients_.end() && found->first == leaf.tensor && found->second < block.free_event;
      return own ? found->second : model::kNever;
    };
    const model::EventIndex first = next(block.alloc_event);
    const timeline::Step* step = first == model::kNever ? nullptr : training_[process].StepAt(first);
    return step != nullptr && next(step->end) == model::kNever;
  }

  // The leaf that a gradient belongs to: the last one labeled with its tensor. nullptr if the leaf has a
  // name.
  const Leaf* LeafBefore(const Label& gradient) const {
    const TensorOfProcess tensor = TensorOf(gradient);
    const auto next =
        std::upper_bound(leaves_.begin(), leaves_.end(), std::tuple(tensor, gradient.event),
                         [](const auto& wanted, const Leaf& leaf) { return wanted < leaf.Key(); });
    if (next == leaves_.begin() || std::prev(next)->tensor != tensor) return nullptr;
    return &*std::prev(next);
  }

  const model::Run& run_;
  std::span<const timeline::Training> training_;
  Births births_;
  std::vector<model::EventIndex> last_gradient_;  // by process: last accumulation of a gradient
  std::vector<TensorOfProcess> with_gradient_;    // tensors that got a gradient; sorted
  std::vector<std::pair<TensorOfProcess, model::EventIndex>>
      gradients_;                       // the same, with the event of each gradient; sorted
  std::vector<TensorOfProcess> named_;  // named by a module, an optimizer or the gathering code; sorted
  std::vector<Leaf> leaves_;            // those without a name, sorted by Key()
};

}  // namespace

Leaves::Leaves(const model::Run& run, std::span<const timeline::Training> training)
    : disproved_(Search(run, training).Disproved()) {}

}  // namespace vramscope::classify
