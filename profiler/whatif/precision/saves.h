// SPDX-License-Identifier: Apache-2.0
// Which versions of blocks autograd keeps, and that a node sees those while it runs.
#pragma once

#include <utility>
#include <vector>

#include "profiler/whatif/precision/versions.h"
#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

class SavedVersions {
 public:
  // Both must outlive it.
  SavedVersions(const Step& step, Versions& versions)
      : step_(step), versions_(versions), kept_(step.nodes.size()), saved_(step.saved.size(), model::kNone) {}

  // In forward: the reference `index` of Step::saved is to the current version.
  void Save(uint32_t index) {
    const Saved& saved = step_.saved[index];
    saved_[index] = versions_.Current(saved.block);
    if (saved.node != model::kNone) kept_[saved.node].emplace_back(saved.block, index);
  }
  // What the node kept: block, and index of the reference.
  [[nodiscard]] const std::vector<std::pair<uint32_t, uint32_t>>& Of(uint32_t node) const {
    return kept_[node];
  }
  [[nodiscard]] const std::vector<uint32_t>& all() const { return saved_; }

  void BeginNode(uint32_t node) {
    for (const auto& [block, saved] : kept_[node]) {
      hidden_.emplace_back(block, versions_.Current(block));
      versions_.SetCurrent(block, saved_[saved]);
    }
  }
  // Until the node ends the block stands for another version than that one.
  void HideUntilEnd(uint32_t block, uint32_t version) { hidden_.emplace_back(block, version); }
  void EndNode() {
    for (; !hidden_.empty(); hidden_.pop_back())
      versions_.SetCurrent(hidden_.back().first, hidden_.back().second);
  }

 private:
  const Step& step_;
  Versions& versions_;
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> kept_;  // by node
  std::vector<uint32_t> saved_;                                   // by reference
  std::vector<std::pair<uint32_t, uint32_t>> hidden_;             // block, version
};

}  // namespace vramscope::whatif
