// SPDX-License-Identifier: Apache-2.0
// Judges rules about the memory of a run: the answer of `vramscope check` to a build server.
//
// Nothing is computed here. Every figure comes from an answer that users can see too (report, frag, leaks,
// diff). So a broken rule can be examined with the verb that its figure came from.
//
// A trace with losses gives lower bounds. If it breaks a rule, the rule is broken; if it keeps a rule, the
// rule is not judged. The same holds for a run that failed: its later use is unknown.
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
    kSpread,         // groups[].allocated.spread of fleet, over all judged devices
  } kind{};
  std::string asked;   // as requested: "--peak-below 22GiB"
  uint64_t bytes = 0;  // the figure must be below this: kPeak to kCategory
  double share =
      0;  // kFragmentation: must be below this; kBaseline: allowed rise of the peak; kSpread: as kFragmentation
  classify::Category category{};  // kCategory
};
// "peak_below", "category": its key in JSON.
[[nodiscard]] const char* RuleKey(Rule::Kind kind);

// The answers that rules are judged by. A pointer may be nullptr if no rule needs it.
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
  // The measured figure, and its limit. Shares for kFragmentation and kSpread, otherwise bytes (for kNoLeak: bytes per
  // step). Absent if unknown.
  std::optional<uint64_t> measured_bytes;
  std::optional<uint64_t> limit_bytes;
  std::optional<double> measured_share;
  std::optional<double> limit_share;
  uint64_t places = 0;  // kNoLeak: number of places that grow
  // The judged device that decides: the one that breaks the rule by most.
  report::Spoken decided_by;
  size_t judged = 1;  // number of devices
  size_t broken = 0;  // number of these that break the rule
  // Why it was not judged, to follow "could not be judged: ". Otherwise what to look at: the first place that
  // leaks, or what was changed since the baseline. As recorded.
  std::string detail;
};

// Judges one device.
[[nodiscard]] std::vector<Verdict> Judge(const std::vector<Rule>& rules, const Evidence& evidence);
// Judges all devices: a rule holds if it holds on each of them.
[[nodiscard]] std::vector<Verdict> JudgeAll(const std::vector<Rule>& rules, const std::vector<Evidence>& all);

// The worst outcome; a failure is worse than "not judged".
[[nodiscard]] Outcome Overall(const std::vector<Verdict>& verdicts);

// One JSON document; docs/json.md describes it.
// `devices`: all that were judged, the one that the report would speak of first.
[[nodiscard]] std::string ToJson(const std::vector<const report::Answer*>& devices,
                                 const std::vector<Verdict>& verdicts);

}  // namespace vramscope::check
