// SPDX-License-Identifier: Apache-2.0
// Explains why one rank uses more (or less) memory than a typical peer: the result of `vramscope diff` as one
// clause.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "profiler/diff/words.h"
#include "profiler/fleet/job.h"
#include "profiler/text/format.h"
#include "profiler/text/harmless.h"

namespace vramscope::fleet {
namespace {

using report::Owner;

constexpr size_t kLongest = 120;

// The owner of this kind with the largest change in the same direction as the peak's change. nullptr if there
// is none.
const diff::OwnerRow* Largest(const diff::Diff& diff, Owner::Kind kind, bool more) {
  for (const diff::OwnerRow& row : diff.owners)  // by kind, largest change first
    if (row.kind == kind && (row.change() > 0) == more) return &row;
  return nullptr;
}

std::string Shown(const std::string& name) { return text::Shorten(text::OneLine(name), kLongest, false); }

bool SameWay(int64_t change, bool more) { return change != 0 && (change > 0) == more; }

}  // namespace

Explanation Explain(const diff::Side& typical, const diff::Side& outlier, bool more) {
  const diff::Diff diff = diff::Compare(typical, outlier);
  Explanation answer;
  const auto category = std::find_if(diff.categories.begin(), diff.categories.end(),
                                     [&](const diff::Row& row) { return SameWay(row.change(), more); });
  if (category != diff.categories.end()) {
    answer.category = category->name;
    const auto known = classify::CategoryFromKey(category->name);
    answer.text = fmt::format("{} {}", known.has_value() ? classify::Info(*known).plural : category->name,
                              text::FormatSignedBytes(category->change()));
  }
  const diff::OwnerRow* module = Largest(diff, Owner::Kind::kModulePattern, more);
  if (module == nullptr) module = Largest(diff, Owner::Kind::kModule, more);
  if (module != nullptr) {
    answer.module = module->name;
    answer.text += fmt::format(" in {}", Shown(answer.module));
  }
  if (const diff::OwnerRow* line = Largest(diff, Owner::Kind::kStack, more)) {
    answer.line = line->name;
    answer.text += fmt::format(", {}", Shown(answer.line));
  }
  if (!diff.causes.empty()) answer.cause = diff.causes.front().what;
  return answer;
}

Explainer ExplainHere(OpenSide open) {
  return [open = std::move(open)](const std::vector<Question>& questions) {
    std::vector<std::optional<Explanation>> answers(questions.size());
    std::map<const RankSummary*, std::vector<size_t>> by_typical;  // each typical rank is opened once
    for (size_t i = 0; i < questions.size(); ++i) by_typical[questions[i].typical].push_back(i);
    for (const auto& [typical, of_typical] : by_typical) {
      const Result<diff::Side> usual = open(*typical);
      if (!usual.ok() || usual->answer.device.empty()) continue;
      for (const size_t i : of_typical) {
        const Result<diff::Side> own = open(*questions[i].outlier);
        if (!own.ok() || own->answer.device.empty()) continue;
        answers[i] = Explain(*usual, *own, questions[i].more);
      }
    }
    return answers;
  };
}

}  // namespace vramscope::fleet
