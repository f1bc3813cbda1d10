// SPDX-License-Identifier: Apache-2.0
// The content of each view, as lines for a spreadsheet. Sizes are bytes.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "profiler/diff/words.h"
#include "profiler/fragmentation/words.h"
#include "profiler/growth/words.h"
#include "profiler/plan/words.h"
#include "viewer/panels/app.h"

namespace vramscope::viewer {
namespace {

std::string InQuotes(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

// One line: texts in quotes, numbers as they are.
template <typename... Values>
void AddLine(std::string& table, const Values&... values) {
  std::string line;
  const auto add = [&](const auto& value) {
    if (!line.empty()) line += ',';
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>)
      line += fmt::format("{}", value);
    else
      line += InQuotes(value);
  };
  (add(values), ...);
  table += line + "\n";
}

std::string CategoriesTable(const Session& session) {
  std::string table = "category,bytes,bytes_at_peak\n";
  const DeviceView& device = *session.device();
  const classify::CategoryBytes now = device.series.After(session.place.moment);
  const classify::CategoryBytes peak = device.series.After(device.curve.peak().event);
  for (const classify::Category category : StackOrder()) {
    const auto i = static_cast<size_t>(category);
    if (now[i] != 0 || peak[i] != 0) AddLine(table, classify::Info(category).key, now[i], peak[i]);
  }
  return table;
}

void AddOwners(std::string& table, const OwnerNode& node, const std::string& path) {
  AddLine(table, path, node.bytes, node.blocks, classify::Info(node.Mostly()).key);
  for (const OwnerNode& child : node.children)
    AddOwners(table, child, path.empty() ? child.name : path + "/" + child.name);
}

std::string ComparedTable(const diff::Diff& diff) {
  std::string table = "kind,name,before,after,change\n";
  const auto add = [&](std::string_view kind, std::string_view name, const diff::Row& row) {
    AddLine(table, kind, name, row.before, row.after, row.change());
  };
  add("peak", "allocated", diff.peak);
  for (const diff::Row& row : diff.categories) add("category", row.name, row);
  for (const diff::OwnerRow& row : diff.owners) {
    using Kind = report::Owner::Kind;
    const char* kind = row.kind == Kind::kModulePattern ? "module"
                       : row.kind == Kind::kOp          ? "operator"
                       : row.kind == Kind::kStack       ? "line"
                                                        : "owner";
    add(kind, diff::OwnerName(row), row);
  }
  for (const diff::StepRow& row : diff.steps)
    AddLine(table, "step peak", fmt::format("step {}", row.step), row.before, row.after,
            static_cast<int64_t>(row.after) - static_cast<int64_t>(row.before));
  return table;
}

std::string GrowthTable(const leaks::Answer& answer) {
  std::string table = "state,line,module,op,bytes_per_step,bytes,blocks,first_step,last_step,keeper\n";
  const auto add = [&](const char* state, const leaks::Growth& growth) {
    AddLine(table, state, growth.line, growth.module, growth.op, growth.bytes_per_step, growth.bytes,
            growth.blocks, growth.first_step, growth.last_step, growth::KeeperText(growth));
  };
  for (const auto& growth : answer.leaks) add("growing", growth);
  for (const auto& growth : answer.settled) add("settled", growth);
  return table;
}

std::string RanksTable(const JobAnswer& answer) {
  std::string table = "rank,host,device,file,peak_bytes,peak_step,reserved_bytes,steps,ended,findings\n";
  for (size_t i = 0; i < answer.job.ranks.size(); ++i) {
    const fleet::RankSummary& rank = answer.job.ranks[i];
    std::string findings;
    for (const fleet::Finding& finding : answer.job.findings)
      if (std::ranges::count(finding.ranks, i) != 0)
        findings += std::string(findings.empty() ? "" : " ") + fleet::FindingKey(finding.kind);
    AddLine(table, rank.rank.has_value() ? std::to_string(*rank.rank) : "", rank.host, rank.device, rank.file,
            rank.peak_bytes, rank.peak_step, rank.reserved_bytes.value_or(0), rank.steps.size(),
            fleet::EndingKey(rank.ending), findings);
  }
  return table;
}

std::string SegmentsTable(const App& app) {
  std::string table = "address,segment_bytes,held_back_bytes,pinned_by,pin_bytes\n";
  for (const auto& segment : app.fragmentation.segments()) {
    for (const auto& pin : segment.pinned_by)
      AddLine(table, fmt::format("{:#x}", segment.segment.address), segment.segment.bytes,
              segment.pinned.held_back, fragmentation::BlockTitle(pin.block, pin.text), pin.block.bytes);
  }
  return table;
}

std::string WhatIfTable(const App& app) {
  const auto& answer = app.whatif.answer();
  if (!answer || !answer->ok() || answer->value().not_kept) return "";
  std::string table = "category,bytes_before,bytes_after\n";
  const auto& prediction = answer->value().prediction;
  for (const classify::Category category : StackOrder()) {
    const auto i = static_cast<size_t>(category);
    const uint64_t before = prediction.before.peak.categories[i];
    const uint64_t after = prediction.after.peak.categories[i];
    if (before != 0 || after != 0) AddLine(table, classify::Info(category).key, before, after);
  }
  return table;
}

}  // namespace

std::string ViewTable(const App& app) {
  const Session& session = app.session;
  if (session.device() == nullptr) return "";
  std::string table;
  switch (session.place.tab) {
    case Tab::kOwners:
      table = "path,bytes,blocks,category\n";
      AddOwners(table, app.owners.tree(), "");
      return table;
    case Tab::kFragmentation:
      return SegmentsTable(app);
    case Tab::kOutOfMemory:
      if (const auto& autopsy = app.autopsy.autopsy(); autopsy && autopsy->ok()) {
        table = "what,category,bytes,blocks\n";
        for (const auto& holder : autopsy->value().holders)
          AddLine(table, holder.title, holder.category, holder.bytes, holder.blocks);
      }
      return table;
    case Tab::kLeaks:
      if (const auto& answer = app.leaks.answer(); answer && answer->ok())
        table = GrowthTable(answer->value());
      return table;
    case Tab::kRanks:
      if (app.job.answer()) table = RanksTable(*app.job.answer());
      return table;
    case Tab::kCompare:
      if (const auto& made = app.comparison.comparison(); made && made->ok())
        table = ComparedTable(made->value().diff);
      return table;
    case Tab::kWhatIf:
      return WhatIfTable(app);
    case Tab::kMap:
    case Tab::kAddressTime:
      return app.live.ToCsv();
    default:
      return CategoriesTable(session);
  }
}

void CopyViewTable(App& app) {
  const std::string table = ViewTable(app);
  if (table.empty()) return app.Say("there is nothing to copy here yet");
  ImGui::SetClipboardText(table.c_str());
  app.Say("table copied");
}

}  // namespace vramscope::viewer
