// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/report/check_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/text/harmless.h"

namespace vramscope::cli {
namespace {

using check::Rule;
using check::Verdict;

std::string Percent(double share) { return fmt::format("{:.1f} %", share * 100); }

// "Peak allocated", "Activation at the peak"
std::string What(const Verdict& verdict) {
  switch (verdict.rule.kind) {
    case Rule::Kind::kPeak:
      return "Peak allocated";
    case Rule::Kind::kReserved:
      return "Peak reserved";
    case Rule::Kind::kDeviceUsed:
      return "Peak device memory used";
    case Rule::Kind::kCategory:
      return fmt::format("{} at the peak", classify::Info(verdict.rule.category).name);
    case Rule::Kind::kFragmentation:
      return "Fragmentation";
    case Rule::Kind::kNoLeak:
      return "Growth per step";
    case Rule::Kind::kBaseline:
      return "Peak against the baseline";
    case Rule::Kind::kSpread:
      return "Spread of the peaks";
  }
  return "";
}

std::string MeasuredText(const Verdict& verdict) {
  if (verdict.measured_share.has_value()) return Percent(*verdict.measured_share);
  return verdict.measured_bytes.has_value() ? FormatBytes(*verdict.measured_bytes) : "not known";
}

std::string Limit(const Verdict& verdict) {
  switch (verdict.rule.kind) {
    case Rule::Kind::kFragmentation:
    case Rule::Kind::kSpread:
      return "below " + Percent(*verdict.limit_share);
    case Rule::Kind::kNoLeak:
      return "none allowed";
    case Rule::Kind::kBaseline:
      return verdict.limit_bytes ? "at most " + FormatBytes(*verdict.limit_bytes)
                                 : "at most the baseline's (not known)";
    default:
      return "below " + FormatBytes(*verdict.limit_bytes);
  }
}

// By how much a rule is broken, with more digits if one decimal would not show it.
std::string Excess(const Verdict& verdict) {
  if (verdict.outcome != check::Outcome::kFail || verdict.rule.kind == Rule::Kind::kNoLeak) return "";
  if (!verdict.measured_bytes.has_value()) return "";
  const uint64_t excess = *verdict.measured_bytes - *verdict.limit_bytes;
  return excess == 0 ? "is the limit" : FormatBytes(excess) + " too much";
}

// The device that decides, if there are several and they differ: "on rank 1 (process 4711), cuda:1".
std::string Where(const Verdict& verdict) {
  if (verdict.judged < 2 || verdict.outcome == check::Outcome::kPass) return "";
  const std::string on = "on " + verdict.decided_by.text;
  return verdict.broken < 2 ? on : fmt::format("{}, and {} more", on, verdict.broken - 1);
}

std::string Remark(const Verdict& verdict) {
  if (verdict.outcome == check::Outcome::kNotJudged) return "could not be judged: " + verdict.detail;
  std::string remark = Excess(verdict);
  if (verdict.rule.kind == Rule::Kind::kNoLeak && verdict.places != 0)
    remark = fmt::format("from {}, first", FormatCount(verdict.places, "place"));
  if (!verdict.detail.empty()) {
    const char* between = remark.empty() ? "" : verdict.rule.kind == Rule::Kind::kNoLeak ? " " : ": ";
    remark += between + verdict.detail;
  }
  const std::string where = Where(verdict);
  return where.empty() || remark.empty() ? remark + where : where + ": " + remark;
}

// One line: "Peak allocated 23.1 GiB, below 22.0 GiB: 1.1 GiB too much"
std::string Sentence(const Verdict& verdict) {
  const std::string remark = Remark(verdict);
  return fmt::format("{} {}, {}{}{}", What(verdict), MeasuredText(verdict), Limit(verdict),
                     remark.empty() ? "" : ": ", remark);
}

size_t CountOf(const Checked& checked, check::Outcome outcome) {
  return static_cast<size_t>(
      std::count_if(checked.verdicts.begin(), checked.verdicts.end(),
                    [&](const Verdict& verdict) { return verdict.outcome == outcome; }));
}

// "2 of 5 rules are broken, 1 could not be judged."
std::string CheckHeadline(const Checked& checked) {
  const size_t all = checked.verdicts.size();
  const size_t broken = CountOf(checked, check::Outcome::kFail);
  const size_t open = CountOf(checked, check::Outcome::kNotJudged);
  if (broken == 0 && open == 0) return all == 1 ? "The rule holds." : fmt::format("All {} rules hold.", all);
  std::string text;
  if (broken != 0)
    text = fmt::format("{} of {} {} broken", broken, FormatCount(all, "rule"), broken == 1 ? "is" : "are");
  if (open != 0) {
    text += broken != 0 ? fmt::format(", {} could not be judged", open)
                        : fmt::format("{} of {} could not be judged", open, FormatCount(all, "rule"));
  }
  return text + ".";
}

std::string About(const Checked& checked) {
  std::string text = checked.path;
  if (checked.devices.size() > 1)
    text += fmt::format(", {} and {}", checked.devices.front().about,
                        FormatCount(checked.devices.size() - 1, "other device"));
  else if (!checked.devices.front().device.empty())
    text += ", " + checked.devices.front().about;
  if (!checked.baseline.empty()) text += ", against " + checked.baseline;
  return text;
}

}  // namespace

std::string CheckScreen(const Checked& checked, const Terminal& terminal) {
  Table table({Align::kLeft, Align::kLeft, Align::kRight, Align::kLeft, Align::kLeft});
  for (const Verdict& verdict : checked.verdicts) {
    const std::string mark = verdict.outcome == check::Outcome::kPass ? terminal.Paint("pass", Ink::Good())
                             : verdict.outcome == check::Outcome::kFail
                                 ? terminal.Paint("FAIL", Ink::Bad())
                                 : terminal.Paint("????", Ink::Warning());
    table.AddRow({mark, What(verdict), MeasuredText(verdict), Limit(verdict), Printable(Remark(verdict))});
  }
  return terminal.Paint(CheckHeadline(checked), Ink::Bold()) + "\n" +
         terminal.Paint(Printable(About(checked)), Ink::Dim()) + "\n" + table.ToString();
}

std::string CheckMarkdown(const Checked& checked) {
  std::string text =
      fmt::format("**GPU memory: {}** {}\n\n", CheckHeadline(checked), text::Markdown(About(checked)));
  text += "| | figure | measured | limit | |\n|---|---|---:|---:|---|\n";
  for (const Verdict& verdict : checked.verdicts) {
    const char* mark = verdict.outcome == check::Outcome::kPass   ? ":white_check_mark:"
                       : verdict.outcome == check::Outcome::kFail ? ":x:"
                                                                  : ":grey_question:";
    text += fmt::format("| {} | {} | {} | {} | {} |\n", mark, What(verdict), MeasuredText(verdict),
                        Limit(verdict), text::Markdown(Remark(verdict)));
  }
  return text;
}

std::string CheckJUnit(const Checked& checked) {
  const std::string counts =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\"", checked.verdicts.size(),
                  CountOf(checked, check::Outcome::kFail), CountOf(checked, check::Outcome::kNotJudged));
  std::string xml = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {}>\n<testsuite name=\"vramscope check {}\" "
      "{}>\n",
      counts, text::Xml(checked.path), counts);
  for (const Verdict& verdict : checked.verdicts) {
    const std::string sentence = text::Xml(Sentence(verdict));
    xml +=
        fmt::format("<testcase classname=\"vramscope.check\" name=\"{}\">\n", text::Xml(verdict.rule.asked));
    if (verdict.outcome == check::Outcome::kFail) {
      xml += fmt::format("<failure message=\"{}\"/>\n", sentence);
    } else if (verdict.outcome == check::Outcome::kNotJudged) {
      xml += fmt::format("<error message=\"{}\"/>\n", sentence);
    }
    xml += fmt::format("<system-out>{}</system-out>\n</testcase>\n", sentence);
  }
  return xml + "</testsuite>\n</testsuites>\n";
}

}  // namespace vramscope::cli
