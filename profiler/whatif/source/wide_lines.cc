// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/source/wide_lines.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "profiler/whatif/lifetimes/holders.h"
#include "profiler/whatif/precision/moments.h"
#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/step/insert.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using model::kNone;

// "Norm.forward (models/model.py:206)" as branches are told: "Norm.forward, model.py:206".
std::string WhereOf(std::string_view frame) {
  const size_t open = frame.find(" (");
  if (open == std::string_view::npos || frame.back() != ')') return "";
  std::string_view line = frame.substr(open + 2, frame.size() - open - 3);
  if (const size_t folder = line.rfind('/'); folder != std::string_view::npos) line.remove_prefix(folder + 1);
  return std::string(frame.substr(0, open)) + ", " + std::string(line);
}

// Lines of branches that go the same way in either type of 16 bits, but for those that do surely something
// else: these are refused.
std::set<std::string> LinesOf(const Step& step) {
  std::map<std::string, std::pair<bool, bool>> types;
  std::set<std::string> lines, sure;
  for (const OtherBranch& branch : step.other_branches) {
    if (branch.sure) sure.insert(branch.where);
    if (branch.type == kHalfType) types[branch.where].first = true;
    if (branch.type == kBfloat16Type) types[branch.where].second = true;
  }
  for (const auto& [where, asked] : types)
    if (asked.first && asked.second && !sure.contains(where)) lines.insert(where);
  return lines;
}

struct Widened {
  uint32_t first = kNone, last = kNone;  // operators that compute in float32: the first is given x
  uint32_t back = kNone;                 // that converts back
  Operand x;
};

class Finder {
 public:
  explicit Finder(const Step& step) : step_(step), call_(CallsOf(step)) {}

  // `ops`: all outermost ones of a line, in their order. Empty where some of them are something else.
  [[nodiscard]] std::vector<Widened> RunsOf(const std::vector<uint32_t>& ops) const {
    std::vector<Widened> runs;
    for (size_t begin = 0; begin < ops.size();) {
      size_t end = begin;
      while (end < ops.size() && step_.NameOf(step_.ops[ops[end]]) != "aten::to") ++end;
      const auto run = end == ops.size() ? std::nullopt : RunOf({ops.data() + begin, end - begin}, ops[end]);
      if (!run) return {};
      runs.push_back(*run);
      begin = end + 1;
    }
    return runs;
  }

 private:
  [[nodiscard]] std::optional<Widened> RunOf(std::span<const uint32_t> computes, uint32_t back) const {
    const Op& to = step_.ops[back];
    if (computes.empty() || to.asks != Asks::kNotTold || to.dtype == 0 || to.moves || to.input_count == 0)
      return std::nullopt;
    const Position begin = step_.ops[computes[0]].begin;
    const Operand& made = InputsOf(step_, to)[0];
    if (!IsFloat(made) || step_.blocks[made.block].begin < begin || CallsModules(begin, to.begin))
      return std::nullopt;
    const Operand* x = nullptr;
    for (const uint32_t op : computes) {
      // softmax(x, dtype=...) makes wide by itself.
      if (call_[op] != call_[back] || step_.ops[op].dtype != 0) return std::nullopt;
      for (const Operand& given : InputsOf(step_, step_.ops[op])) {
        if (!IsFloat(given) || step_.blocks[given.block].begin > begin) continue;
        const bool other = x != nullptr && x->block != given.block;
        if (other || step_.blocks[given.block].category == Category::kParameter) return std::nullopt;
        if (x == nullptr) x = &given;
      }
    }
    if (x == nullptr || x->op != computes[0]) return std::nullopt;
    return Widened{computes[0], computes.back(), back, *x};
  }

  // Their own lines say what they compute in.
  [[nodiscard]] bool CallsModules(Position begin, Position end) const {
    return std::any_of(step_.modules.begin(), step_.modules.end(),
                       [&](const ModuleCall& call) { return begin < call.begin && call.begin < end; });
  }

  const Step& step_;
  const std::vector<uint32_t> call_;
};

}  // namespace

void WideLines::PutIn(Step& step) const {
  const std::set<std::string> lines = LinesOf(step);
  if (lines.empty()) return;
  std::unordered_map<uint32_t, std::string> where;  // by frame
  std::map<std::string_view, std::set<uint32_t>> ops;
  for (const auto& [op, frame] : callers_) {
    const auto [known, added] = where.try_emplace(frame);
    if (added) known->second = WhereOf(step.Text(frame));
    const auto line = lines.find(known->second);
    if (line != lines.end() && step.ops[op].parent == kNone && step.ops[op].node == kNone)
      ops[*line].insert(op);
  }
  const Finder finder(step);
  std::vector<Widened> found;
  for (const auto& [line, there] : ops) {
    const std::vector<Widened> runs = finder.RunsOf({there.begin(), there.end()});
    if (runs.empty()) continue;
    found.insert(found.end(), runs.begin(), runs.end());
    std::erase_if(step.other_branches, [&, at = line](const OtherBranch& branch) {
      return branch.where == at && branch.type != 0;
    });
  }
  if (found.empty()) return;
  Inserter into(step, {});
  for (const Widened& run : found) {
    const Position at = step.ops[run.first].begin;
    const uint32_t op = into.Begin("aten::to", kNone, kNone, at - 0.6, {run.x});
    into.step().ops[op].dtype = into.Text("torch.float32");
    into.step().ops[op].asks = Asks::kType;
    // The function around several holds what it is given, as F.normalize does.
    into.step().ops[op].taken = run.last == run.first;
    if (run.last != run.first) into.step().ops[op].named = step.ops[run.last].end;
    into.End(op, at - 0.4, {run.x});
    into.step().ops[run.back].asks = Asks::kOrigin;
  }
  step = std::move(into).Finish();
}

}  // namespace vramscope::whatif
