// SPDX-License-Identifier: Apache-2.0
// `vramscope check`: judges rules about the memory of a run, for a build server.
//
// Every figure comes from another command (report, frag, leaks, diff, fleet). The figures of a failed run, or
// of a trace with lost events, are lower bounds. Such a figure can break a rule, but not pass it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/diff/compare.h"
#include "profiler/fragmentation/answer.h"
#include "profiler/leaks/growth.h"
#include "profiler/report/answer.h"
#include "profiler/report/device_choice.h"

namespace vramscope::check {

struct Rule {
  enum class Kind : uint8_t {
    kPeak,           // peak.allocated_bytes of report
    kReserved,       // devices[].peak_reserved_bytes of report
    kDeviceUsed,     // devices[].peak_device_used_bytes of report
    kCategory,       // peak.categories of report
    kFragmentation,  // fragmentation of frag
    kNoLeak,         // leaks[] of leaks
    kBaseline,       // the two peaks of diff
    kSpread,         // groups[].allocated.spread of fleet, for all judged devices
  } kind{};
  std::string asked;   // as requested: "--peak-below 22GiB"
  uint64_t bytes = 0;  // the figure must be below this: kPeak to kCategory
  // kFragmentation, kSpread: the figure must be below this. kBaseline: the allowed relative rise of the peak.
  double share = 0;
  classify::Category category{};  // kCategory
};
// The rule's key in JSON: "peak_below", "category".
[[nodiscard]] const char* RuleKey(Rule::Kind kind);

// A pointer may be nullptr if no rule needs it.
struct Evidence {
  const report::Answer* run = nullptr;
  const Result<fragmentation::Answer>* fragmentation = nullptr;  // the error explains why there is none
  const Result<leaks::Answer>* leaks = nullptr;
  const report::Answer* baseline = nullptr;
  const diff::Diff* diff = nullptr;  // baseline -> run
};

enum class Outcome : uint8_t { kPass, kFail, kNotJudged };
[[nodiscard]] const char* OutcomeKey(Outcome outcome);  // "pass", "fail", "not_judged"

struct Verdict {
  Rule rule;
  Outcome outcome = Outcome::kNotJudged;
  // The measured figure and its limit. Shares for kFragmentation and kSpread, bytes per step for kNoLeak,
  // otherwise bytes. Absent if unknown.
  std::optional<uint64_t> measured_bytes;
  std::optional<uint64_t> limit_bytes;
  std::optional<double> measured_share;
  std::optional<double> limit_share;
  uint64_t places = 0;  // kNoLeak: number of places that grow
  // Of the devices with the worst outcome, the one with the highest figure. kSpread: the peak furthest from
  // the median.
  report::Spoken decided_by;
  size_t judged = 1;  // number of devices
  size_t broken = 0;  // number of devices that break the rule
  // kNotJudged: the reason, to follow "could not be judged: ". Otherwise the first place that leaks, or the
  // change since the baseline. Names as recorded.
  std::string detail;
};

// Judges one device.
[[nodiscard]] std::vector<Verdict> Judge(const std::vector<Rule>& rules, const Evidence& evidence);
// Judges all devices: a rule passes if it passes on every device.
[[nodiscard]] std::vector<Verdict> JudgeAll(const std::vector<Rule>& rules, const std::vector<Evidence>& all);

// The worst outcome. A failure is worse than "not judged".
[[nodiscard]] Outcome Overall(const std::vector<Verdict>& verdicts);

// One JSON document (docs/json.md). `devices`: all judged devices, the one that a report would describe
// first.
[[nodiscard]] std::string ToJson(const std::vector<const report::Answer*>& devices,
                                 const std::vector<Verdict>& verdicts);

}  // namespace vramscope::check
