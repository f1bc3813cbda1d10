// SPDX-License-Identifier: Apache-2.0
// Implements `vramscope check`: tests rules about the memory of a run, for example on a build server.
//
// Every figure comes from another command (report, frag, leaks, diff, fleet). If a run failed, or its trace
// has lost events, its figures are lower bounds. Such a figure can prove that a rule is broken, but not that
// the rule is kept.
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
  std::string asked;   // the option as the user wrote it: "--peak-below 22GiB"
  uint64_t bytes = 0;  // kPeak to kCategory: the figure must be below this
  // kFragmentation, kSpread: the figure must be below this. kBaseline: the allowed increase of the peak, as a
  // fraction of the baseline.
  double share = 0;
  classify::Category category{};  // kCategory: the category that is limited
};
// Returns the rule's key in JSON, such as "peak_below" or "category".
[[nodiscard]] const char* RuleKey(Rule::Kind kind);

// The reports of one device that rules are tested against. A pointer may be nullptr if no rule needs it.
struct Evidence {
  const report::Answer* run = nullptr;
  const Result<fragmentation::Answer>* fragmentation = nullptr;  // an error explains why there is no figure
  const Result<leaks::Answer>* leaks = nullptr;
  const report::Answer* baseline = nullptr;
  const diff::Diff* diff = nullptr;  // changes from the baseline to the run
};

enum class Outcome : uint8_t { kPass, kFail, kNotJudged };
[[nodiscard]] const char* OutcomeKey(Outcome outcome);  // returns "pass", "fail" or "not_judged"

struct Verdict {
  Rule rule;
  Outcome outcome = Outcome::kNotJudged;
  // The measured figure and its limit; absent if unknown. Figure and limit are fractions for kFragmentation
  // and kSpread, bytes per step for kNoLeak, and bytes for other kinds.
  std::optional<uint64_t> measured_bytes;
  std::optional<uint64_t> limit_bytes;
  std::optional<double> measured_share;
  std::optional<double> limit_share;
  uint64_t places = 0;  // kNoLeak: number of code locations whose memory grows
  // The device that decided the outcome. Among the devices with the worst outcome, this device has the
  // highest figure. For kSpread, the peak of this device is furthest from the median.
  report::Spoken decided_by;
  size_t judged = 1;  // number of devices
  size_t broken = 0;  // number of devices that break the rule
  // kNotJudged: the reason, as a continuation of "could not be judged: ". For other outcomes: the first code
  // location that leaks, or the cause of the change since the baseline. The text contains names exactly as
  // recorded.
  std::string detail;
};

// Tests all rules on one device.
[[nodiscard]] std::vector<Verdict> Judge(const std::vector<Rule>& rules, const Evidence& evidence);
// Tests all rules on all devices. A rule passes if it passes on every device.
[[nodiscard]] std::vector<Verdict> JudgeAll(const std::vector<Rule>& rules, const std::vector<Evidence>& all);

// Returns the worst outcome. kFail is worse than kNotJudged.
[[nodiscard]] Outcome Overall(const std::vector<Verdict>& verdicts);

// Returns one JSON document (docs/json.md). `devices` contains all judged devices; the first is the device
// that `report` would describe.
[[nodiscard]] std::string ToJson(const std::vector<const report::Answer*>& devices,
                                 const std::vector<Verdict>& verdicts);

}  // namespace vramscope::check
