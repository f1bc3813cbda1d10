// SPDX-License-Identifier: Apache-2.0
#include "profiler/diff/words.h"

#include <fmt/format.h>

#include <cmath>

#include "profiler/classify/category.h"
#include "profiler/classify/category_words.h"
#include "profiler/text/format.h"
#include "profiler/text/harmless.h"

namespace vramscope::diff {
namespace {

constexpr size_t kLongestCause = 200;  // columns; a module's name may have a megabyte

}  // namespace

std::string Headline(const Diff& diff) {
  const std::string peaks =
      fmt::format("({} -> {})", text::FormatBytes(diff.peak.before), text::FormatBytes(diff.peak.after));
  std::string sentence = diff.peak.change() == 0
                             ? "Peak unchanged " + peaks
                             : fmt::format("Peak {} {}", text::FormatSignedBytes(diff.peak.change()), peaks);
  if (!diff.causes.empty()) {
    const Cause& cause = diff.causes.front();
    sentence += ": " + text::Shorten(text::OneLine(cause.what), kLongestCause, false);
    if (cause.bytes != 0) sentence += ", " + text::FormatSignedBytes(cause.bytes);
  } else if (diff.peak.change() != 0) {
    sentence += ": the recorded facts do not show what was changed";
  }
  return sentence + ".";
}

std::string PercentText(const Row& row) {
  if (row.before == 0) return "new";
  if (row.after == 0) return "gone";
  const double percent = 100.0 * static_cast<double>(row.change()) / static_cast<double>(row.before);
  return fmt::format("{:+.{}f} %", percent, std::abs(percent) < 10 ? 1 : 0);
}

std::string CategoryName(const Diff& diff, const Row& row) {
  const auto category = classify::CategoryFromKey(row.name);
  return category.has_value() ? WordsOf(*category, *diff.framework).name : row.name;
}

std::string OwnerName(const OwnerRow& row) {
  std::string name = text::OneLine(row.name);
  const bool several = row.members_before > 1 || row.members_after > 1;
  if (row.kind == report::Owner::Kind::kModulePattern && several) {
    name += row.members_before == row.members_after
                ? fmt::format(" ({})", row.members_after)
                : fmt::format(" ({} -> {})", row.members_before, row.members_after);
  }
  return name;
}

}  // namespace vramscope::diff
