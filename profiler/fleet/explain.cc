// SPDX-License-Identifier: Apache-2.0
// Why one rank takes more (or less) than a rank that is typical of its peers: the comparison of `vramscope
// diff`, in one clause.
#include <fmt/format.h>

#include <cstdlib>

#include "profiler/diff/words.h"
#include "profiler/fleet/job.h"
#include "profiler/text/format.h"
#include "profiler/text/harmless.h"

namespace vramscope::fleet {
namespace {

using report::Owner;

constexpr size_t kLongest = 120;

// The owner of this kind that explains most of the change, if it goes the same way as the whole; "" = none.
const diff::OwnerRow* Largest(const diff::Diff& diff, Owner::Kind kind, int64_t whole) {
  for (const diff::OwnerRow& row : diff.owners)  // by kind, largest change first
    if (row.kind == kind && (row.change() > 0) == (whole > 0)) return &row;
  return nullptr;
}

std::string Shown(const std::string& name) { return text::Shorten(text::OneLine(name), kLongest, false); }

}  // namespace

void Explain(const diff::Side& typical, const diff::Side& outlier, Finding& finding) {
  const diff::Diff diff = diff::Compare(typical, outlier);
  if (diff.categories.empty()) return;
  const diff::Row* category = nullptr;
  for (const diff::Row& row : diff.categories)
    if (category == nullptr && (row.change() > 0) == (finding.bytes > 0) && row.change() != 0)
      category = &row;
  std::string what;
  if (category != nullptr) {
    finding.category = category->name;
    const auto known = classify::CategoryFromKey(category->name);
    what = fmt::format("{} {}", known.has_value() ? classify::Info(*known).plural : category->name,
                       text::FormatSignedBytes(category->change()));
  }
  const diff::OwnerRow* module = Largest(diff, Owner::Kind::kModulePattern, finding.bytes);
  if (module == nullptr) module = Largest(diff, Owner::Kind::kModule, finding.bytes);
  if (module != nullptr) {
    finding.module = module->name;
    what += fmt::format(" in {}", Shown(finding.module));
  }
  if (const diff::OwnerRow* line = Largest(diff, Owner::Kind::kStack, finding.bytes)) {
    finding.line = line->name;
    what += fmt::format(", {}", Shown(finding.line));
  }
  if (!what.empty()) finding.text += ": " + what;
  if (finding.since_step != 0) finding.text += fmt::format(", since step {}", finding.since_step);
  finding.text += ".";
  if (diff.causes.empty()) return;
  finding.cause = diff.causes.front().what;
  finding.text += " " + Shown(finding.cause) + ".";
}

}  // namespace vramscope::fleet
