// SPDX-License-Identifier: Apache-2.0
#include "profiler/fleet/words.h"

#include <fmt/format.h>

#include <set>

#include "profiler/text/format.h"

namespace vramscope::fleet {

std::string Headline(const Job& job) {
  if (job.groups.empty()) return "No rank allocated anything.";
  const Spread& spread = job.groups.front().allocated;
  std::string text = text::FormatCount(job.ranks.size(), "rank");
  if (job.clocks.hosts.size() > 1) text += " on " + text::FormatCount(job.clocks.hosts.size(), "host");
  if (job.groups.size() > 1)
    text += fmt::format(" in {}; in the largest",
                        text::FormatCount(job.groups.size(), "group of peers", "groups of peers"));
  else
    text += ":";
  text += spread.lowest == spread.highest
              ? fmt::format(" every peak is {}", text::FormatBytes(spread.median))
              : fmt::format(" peaks {} to {}, spread {:.1f} % of the median {}",
                            text::FormatBytes(spread.lowest), text::FormatBytes(spread.highest),
                            100 * spread.share(), text::FormatBytes(spread.median));
  std::set<size_t> flagged;
  for (const Finding& finding : job.findings) flagged.insert(finding.ranks.begin(), finding.ranks.end());
  if (flagged.empty()) return text + (job.missing.empty() ? "; nothing stands out." : ".");
  return text + fmt::format("; {} {} out.", text::FormatCount(flagged.size(), "rank"),
                            flagged.size() == 1 ? "stands" : "stand");
}

std::string FirstOutText(const Job& job) {
  if (!job.first_out.has_value()) return "";
  std::string text =
      fmt::format("{} runs out of memory first if the growth continues: in {}",
                  job.NameOf(job.first_out->rank), text::FormatCount(job.first_out->steps_left, "step"));
  if (job.first_out->time_left_ns.has_value())
    text += fmt::format(" ({})", text::FormatDuration(*job.first_out->time_left_ns));
  return text + ".";
}

}  // namespace vramscope::fleet
