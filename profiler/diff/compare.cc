// SPDX-License-Identifier: Apache-2.0
#include "profiler/diff/compare.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <map>

namespace vramscope::diff {
namespace {

using report::Owner;

template <typename T>
void SortByChange(std::vector<T>& rows) {
  std::sort(rows.begin(), rows.end(), [](const T& a, const T& b) {
    const int64_t change_a = std::abs(a.change());
    const int64_t change_b = std::abs(b.change());
    return change_a != change_b ? change_a > change_b : a.name < b.name;
  });
}

std::vector<Row> CompareCategories(const report::Moment& before, const report::Moment& after) {
  std::vector<Row> rows;
  for (size_t i = 0; i < classify::kCategoryCount; ++i) {
    const auto category = static_cast<classify::Category>(i);
    Row row{classify::Info(category).key, before.categories[i], after.categories[i]};
    if (row.before != 0 || row.after != 0) rows.push_back(std::move(row));
  }
  SortByChange(rows);
  return rows;
}

std::vector<OwnerRow> CompareOwners(const std::vector<Owner>& before, const std::vector<Owner>& after) {
  std::map<std::pair<Owner::Kind, std::string>, OwnerRow> by_name;
  const auto row_of = [&](const Owner& owner) -> OwnerRow& {
    OwnerRow& row = by_name[{owner.kind, owner.name}];
    row.name = owner.name;
    row.kind = owner.kind;
    return row;
  };
  for (const Owner& owner : before) {
    OwnerRow& row = row_of(owner);
    row.before = owner.bytes;
    row.members_before = owner.members;
  }
  for (const Owner& owner : after) {
    OwnerRow& row = row_of(owner);
    row.after = owner.bytes;
    row.members_after = owner.members;
  }
  std::vector<OwnerRow> rows;
  for (auto& [name, row] : by_name) {
    if (row.before != row.after) rows.push_back(std::move(row));
  }
  SortByChange(rows);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const OwnerRow& a, const OwnerRow& b) { return a.kind < b.kind; });
  return rows;
}

// Removes owners of kinds that only one side recorded. They would look new or gone.
void LeaveOutUnknown(const Side& before, const Side& after, Diff& diff) {
  const auto leave_out = [&](bool Facts::*known, std::initializer_list<Owner::Kind> kinds, const char* why) {
    if (before.facts.*known == after.facts.*known) return;
    std::erase_if(diff.owners, [&](const OwnerRow& row) {
      return std::find(kinds.begin(), kinds.end(), row.kind) != kinds.end();
    });
    diff.notes.push_back((before.facts.*known ? after.path : before.path) + why);
  };
  leave_out(&Facts::knows_operators, {Owner::Kind::kModule, Owner::Kind::kModulePattern, Owner::Kind::kOp},
            ": no deep step was recorded, so modules and operators are not compared.");
  leave_out(&Facts::knows_lines, {Owner::Kind::kStack},
            ": no stacks were recorded, so lines of code are not compared. Record with --stacks python.");
  leave_out(&Facts::knows_program, {},
            ": a snapshot does not record what a block is for, so vramscope cannot name causes.");
  const auto is_cpu = [](const Side& side) { return side.answer.device.starts_with("cpu"); };
  if (is_cpu(before) != is_cpu(after)) {
    diff.notes.push_back(before.path + " is about " + before.answer.device + ", " + after.path + " about " +
                         after.answer.device + ": their allocators differ.");
  }
}

std::vector<StepRow> CompareSteps(const std::vector<report::Step>& before,
                                  const std::vector<report::Step>& after) {
  std::map<uint32_t, uint64_t> peaks;
  for (const report::Step& step : before)
    if (step.complete) peaks[step.number] = step.peak.allocated_bytes;
  std::vector<StepRow> rows;
  for (const report::Step& step : after) {
    const auto found = peaks.find(step.number);
    if (found != peaks.end() && step.complete)
      rows.push_back({step.number, found->second, step.peak.allocated_bytes});
  }
  return rows;
}

}  // namespace

const char* CauseKey(Cause::Kind kind) {
  switch (kind) {
    case Cause::Kind::kOptimizer:
      return "optimizer";
    case Cause::Kind::kModel:
      return "model";
    case Cause::Kind::kParameterType:
      return "parameter_type";
    case Cause::Kind::kBatch:
      return "batch";
    case Cause::Kind::kPrecision:
      return "precision";
    case Cause::Kind::kCheckpointing:
      return "checkpointing";
    case Cause::Kind::kOffload:
      return "offload";
    case Cause::Kind::kTried:
      return "tried";
    case Cause::Kind::kKept:
      return "kept";
    case Cause::Kind::kSettings:
      return "allocator_settings";
    case Cause::Kind::kFramework:
      return "framework";
  }
  return "";
}

Diff Compare(const Side& before, const Side& after) {
  Diff diff;
  diff.peak = {"allocated", before.answer.peak.allocated_bytes, after.answer.peak.allocated_bytes};
  diff.framework = after.answer.framework;
  diff.categories = CompareCategories(before.answer.peak, after.answer.peak);
  diff.owners = CompareOwners(before.answer.owners, after.answer.owners);
  diff.steps = CompareSteps(before.answer.steps, after.answer.steps);
  diff.steps_before = static_cast<uint32_t>(before.answer.steps.size());
  diff.steps_after = static_cast<uint32_t>(after.answer.steps.size());
  diff.causes = FindCauses(before, after);
  LeaveOutUnknown(before, after, diff);
  return diff;
}

}  // namespace vramscope::diff
