// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/lifetimes/helper_calls.h"

#include <algorithm>
#include <charconv>
#include <span>

#include "profiler/whatif/lifetimes/holders.h"
#include "profiler/whatif/step/release.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr Position kReturned = 0.2;  // before what follows

// "attend (models/gpt.py:42)".
struct Frame {
  std::string_view function;  // without the line
  int line = 0;
};

Frame Parse(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return {};
  Frame frame{text.substr(0, colon)};
  std::from_chars(text.data() + colon + 1, text.data() + text.size(), frame.line);
  return frame;
}

bool IsForward(std::string_view function) {
  const std::string_view name = function.substr(0, function.find(" ("));
  return name == "forward" || name.ends_with(".forward");
}

bool IsTorchsAttention(std::string_view frame) {
  return frame.starts_with("multi_head_attention_forward (") &&
         frame.find("/torch/nn/functional.py:") != std::string_view::npos;
}

using Frames = std::span<const std::pair<uint32_t, uint32_t>>;

class LeftFinder {
 public:
  LeftFinder(Frames callers, const std::unordered_map<uint32_t, std::string_view>& frames, Step& step)
      : frames_(frames), step_(step), of_op_(step.ops.size()) {
    for (size_t i = 0, end = 0; i < callers.size(); i = end) {
      while (end < callers.size() && callers[end].first == callers[i].first) ++end;
      if (callers[i].first < of_op_.size()) of_op_[callers[i].first] = callers.subspan(i, end - i);
    }
  }

  void Find() {
    const std::vector<uint32_t> calls = CallsOf(step_);
    std::vector<uint32_t> outer;  // operators of forward that no other one is around
    for (uint32_t op = 0; op < step_.ops.size(); ++op)
      if (step_.ops[op].parent == kNone && step_.ops[op].node == kNone && calls[op] != kNone)
        outer.push_back(op);
    if (IsFrom(step_.torch_version, 2, 15)) LetGoOfProjections(outer, calls);
    for (size_t i = 0; i < outer.size(); ++i) {
      const Frames own = of_op_[outer[i]];
      if (own.empty() || own.size() >= kMostCallers) continue;
      const Frame first = Parse(frames_.at(own[0].second));
      if (first.function.empty() || IsForward(first.function)) continue;
      int line = first.line;
      size_t last = i;
      while (last + 1 < outer.size() && calls[outer[last + 1]] == calls[outer[i]] &&
             GoesOn(own, of_op_[outer[last + 1]], line))
        ++last;
      const bool another = last + 1 < outer.size();
      const Position next = another ? step_.ops[outer[last + 1]].begin : kForever;
      step_.ops[outer[i]].left = std::min(next, step_.modules[calls[outer[i]]].end) - kReturned;
    }
  }

 private:
  // What the operator is the last to be given: all where it attends, del q, k, v. Where weights are handed
  // out, first queries, as they are scaled, and keys, del q_scaled, k; then values. q stays, and with it what
  // all three are parts of.
  [[nodiscard]] std::vector<Operand> LastGiven(const Op& op) {
    const std::string_view name = step_.NameOf(op);
    const std::span<const Operand> given = InputsOf(step_, op);
    if (name == "aten::scaled_dot_product_attention")
      return {given.begin(), given.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(given.size(), 3))};
    const size_t first = name == "aten::baddbmm" ? 1 : 0;
    if ((first == 0 && name != "aten::bmm") || given.size() < first + 2) return {};
    const Operand &left = given[first], &right = given[first + 1];
    const uint32_t maker = OutermostMaker(step_, left.block);
    const bool scaled =
        maker != kNone && step_.NameOf(step_.ops[maker]) == "aten::mul" && step_.ops[maker].input_count != 0;
    if (scaled) queries_ = InputsOf(step_, step_.ops[maker])[0].block;
    std::vector<Operand> last;
    if (scaled) last.push_back(left);
    if (right.block != queries_) last.push_back(right);
    return last;
  }

  void LetGoOfProjections(const std::vector<uint32_t>& outer, const std::vector<uint32_t>& calls) {
    for (size_t i = 0; i + 1 < outer.size(); ++i) {
      const Op& op = step_.ops[outer[i]];
      const Frames own = of_op_[outer[i]];
      if (own.empty() || !IsTorchsAttention(frames_.at(own[0].second))) continue;
      const Position gone = step_.ops[outer[i + 1]].begin - kReturned;
      for (const Operand& input : LastGiven(op)) {
        const uint32_t maker = OutermostMaker(step_, input.block);
        if (maker != kNone && calls[maker] == calls[outer[i]])
          step_.named.push_back({input.block, gone, gone, true, true});
      }
    }
    MergeNamed(step_.named);
  }

  // Whether an operator is called in the same call: its caller stands where it did, and its own line goes
  // forward.
  bool GoesOn(Frames own, Frames later, int& line) const {
    if (later.size() < own.size() || later.size() >= kMostCallers) return false;
    const Frames same = later.last(own.size());
    for (size_t i = 1; i < own.size(); ++i)
      if (same[i].second != own[i].second) return false;
    const Frame frame = Parse(frames_.at(same[0].second));
    if (frame.function != Parse(frames_.at(own[0].second)).function || frame.line < line) return false;
    line = frame.line;
    return true;
  }

  const std::unordered_map<uint32_t, std::string_view>& frames_;
  Step& step_;
  std::vector<Frames> of_op_;
  uint32_t queries_ = kNone;  // of the attention that is gone through, before they were scaled
};

}  // namespace

void FindLeft(std::vector<std::pair<uint32_t, uint32_t>> callers,
              const std::unordered_map<uint32_t, std::string_view>& frames, Step& step) {
  std::stable_sort(callers.begin(), callers.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  LeftFinder(callers, frames, step).Find();
}

}  // namespace vramscope::whatif
