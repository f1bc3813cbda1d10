// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/scene/invariants.h"

#include <algorithm>
#include <utility>

namespace vramscope::whatif {
namespace {

using model::kNone;

// Keeps the first violation.
class Complaint {
 public:
  // `i`: index into the list with that name.
  void Unless(bool holds, const char* list, size_t i, const char* what) {
    if (!holds && text_.empty()) text_ = std::string(list) + " " + std::to_string(i) + " " + what;
  }
  void Windows(const std::vector<Window>& windows, Position length, const char* list) {
    for (size_t i = 0; i < windows.size(); ++i) {
      const Window& one = windows[i];
      Unless(one.begin <= one.end, list, i, "ends before it begins");
      Unless(one.begin >= 0 && one.end <= length, list, i, "is not within the step");
      Unless(i == 0 || windows[i - 1].begin <= one.begin, list, i, "begins before the one before it");
    }
  }
  [[nodiscard]] std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

bool IsIn(uint32_t index, size_t size) { return index == kNone || index < size; }
bool IsIn(uint32_t first, uint32_t count, size_t size) { return uint64_t{first} + count <= size; }

void CheckBlocks(const Step& step, Complaint& complaint) {
  const size_t streams = step.run->streams.size() + step.added_streams;
  for (size_t i = 0; i < step.blocks.size(); ++i) {
    const StepBlock& one = step.blocks[i];
    const auto unless = [&](bool holds, const char* what) { complaint.Unless(holds, "block", i, what); };
    unless(one.begin <= one.end, "ends before it begins");
    unless(one.begin >= kBefore, "begins before the step");
    unless(one.accumulated >= one.begin, "is taken as a gradient before it is there");
    unless(one.id == kNone || one.id < step.run->blocks.size(), "is none of the run's");
    unless(IsIn(one.op, step.ops.size()), "was made by no operator of the step");
    unless(IsIn(one.leaf, step.blocks.size()) && IsIn(one.copy_of, step.blocks.size()),
           "is of no other block");
    unless(one.stream < std::max<size_t>(streams, 1), "is on no stream");
  }
  for (size_t i = 0; i < step.passing.size(); ++i)
    complaint.Unless(step.passing[i].begin <= step.passing[i].end, "passing block", i,
                     "ends before it begins");
  for (size_t i = 0; i < step.trained.size(); ++i) {
    complaint.Unless(step.trained[i] < step.blocks.size(), "trained parameter", i, "is no block");
    complaint.Unless(i == 0 || step.trained[i - 1] < step.trained[i], "trained parameter", i,
                     "is out of order");
  }
}

void CheckOps(const Step& step, Complaint& complaint) {
  for (size_t i = 0; i < step.ops.size(); ++i) {
    const Op& one = step.ops[i];
    const auto unless = [&](bool holds, const char* what) { complaint.Unless(holds, "operator", i, what); };
    unless(one.begin <= one.end, "ends before it begins");
    unless(one.parent == kNone || one.parent < i, "is within one that comes later");
    unless(IsIn(one.node, step.nodes.size()), "runs for no node of the step");
    unless(IsIn(one.first_input, one.input_count, step.operands.size()) &&
               IsIn(one.first_output, one.output_count, step.operands.size()),
           "has operands that are not there");
  }
  for (size_t i = 0; i < step.operands.size(); ++i) {
    const Operand& one = step.operands[i];
    complaint.Unless(one.op < step.ops.size() && IsIn(one.block, step.blocks.size()), "operand", i,
                     "is of no operator, or in no block");
  }
  for (size_t i = 0; i < step.saved.size(); ++i) {
    const Saved& one = step.saved[i];
    complaint.Unless(one.block < step.blocks.size() && IsIn(one.node, step.nodes.size()), "saved tensor", i,
                     "is of no node, or in no block");
    complaint.Unless(one.at <= one.released, "saved tensor", i, "is released before it is kept");
  }
}

void CheckBlocks(const Step& step, const Scene& scene, Complaint& complaint) {
  for (size_t i = 0; i < scene.blocks.size(); ++i) {
    const Block& one = scene.blocks[i];
    const auto unless = [&](bool holds, const char* what) { complaint.Unless(holds, "block", i, what); };
    const bool each = one.birth == Birth::kEachStep;
    unless(one.begin <= one.end, "ends before it begins");
    unless(one.birth != Birth::kSetup || one.begin < 0, "of the setup begins in the loop");
    unless(!each || (one.begin >= kBefore && one.begin <= scene.length), "begins outside of its step");
    unless(!each || one.end <= 2 * scene.length + 1, "outlives the step behind its own");
    unless(each || (!one.but_in_first && !one.piles_up), "is made once, and in each step");
    unless(IsIn(one.origin, step.blocks.size()), "is of no block of the step");
  }
}

}  // namespace

std::string WhyBroken(const Step& step) {
  Complaint complaint;
  CheckBlocks(step, complaint);
  CheckOps(step, complaint);
  complaint.Windows(step.backward, step.length, "backward pass");
  complaint.Windows(step.optimizer, step.length, "optimizer step");
  return std::move(complaint).text();
}

std::string WhyBroken(const Step& step, const Scene& scene) {
  Complaint complaint;
  CheckBlocks(step, scene, complaint);
  complaint.Windows(scene.forward, scene.length, "forward part");
  complaint.Windows(scene.backward, scene.length, "backward pass");
  complaint.Windows(scene.optimizer, scene.length, "optimizer step");
  for (size_t i = 0; i < scene.again.size(); ++i) {
    const Again& one = scene.again[i];
    complaint.Unless(one.begin <= one.end && one.end <= one.at && one.at <= one.unwound, "segment", i,
                     "is not computed again behind itself");
  }
  const Peak peak = PeakOf(scene);
  const uint64_t sum = classify::Sum(peak.categories);
  complaint.Unless(sum == peak.bytes, "peak: categories add up to", sum, "bytes, not to all");
  return std::move(complaint).text();
}

}  // namespace vramscope::whatif
