// SPDX-License-Identifier: Apache-2.0
// Rules about the memory of a run, judged: what `vramscope check` answers a build server.
//
// Nothing is computed here. Every figure comes from the answer that a person sees too (report, frag, leaks,
// diff), so that a rule that is broken can be looked into with the verb that it came from.
//
// A figure that a trace with losses gives is a lower bound. So a rule that such a trace breaks is broken, and
// one that it keeps is not judged. The same holds for a run that failed: what it would have taken later is
// not known.
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
  } kind{};
  std::string asked;   // as it was asked for: "--peak-below 22GiB"
  uint64_t bytes = 0;  // the figure must be below: kPeak to kCategory
  double share = 0;    // kFragmentation: must be below; kBaseline: by which the peak may be above the other
  classify::Category category{};  // kCategory
};
// "peak_below", "category": in JSON.
[[nodiscard]] const char* RuleKey(Rule::Kind kind);

// What the rules are judged by. A pointer may be nullptr when no rule needs it.
struct Evidence {
  const report::Answer* run = nullptr;
  const Result<fragmentation::Answer>* fragmentation = nullptr;  // an error says why there is none
  const Result<leaks::Answer>* leaks = nullptr;
  const report::Answer* baseline = nullptr;
  const diff::Diff* diff = nullptr;  // baseline -> run
};

enum class Outcome : uint8_t { kPass, kFail, kNotJudged };
[[nodiscard]] const char* OutcomeKey(Outcome outcome);  // "pass", "fail", "not_judged"

struct Verdict {
  Rule rule;
  Outcome outcome = Outcome::kNotJudged;
  // What was measured, and what it was held against; shares of kFragmentation, else bytes (of kNoLeak: bytes
  // per step). Not there when it is not known.
  std::optional<uint64_t> measured_bytes;
  std::optional<uint64_t> limit_bytes;
  std::optional<double> measured_share;
  std::optional<double> limit_share;
  uint64_t places = 0;  // kNoLeak: that grow
  // Of the devices that were judged, the one that decides: where a rule is broken by most.
  report::Spoken decided_by;
  size_t judged = 1;  // devices
  size_t broken = 0;  // of those
  // Why it is not judged, to be read after "could not be judged: "; or what is to be looked at: the first
  // place that leaks, what was changed since the baseline. As recorded.
  std::string detail;
};

// On one device.
[[nodiscard]] std::vector<Verdict> Judge(const std::vector<Rule>& rules, const Evidence& evidence);
// On all devices: a rule holds when it holds on each of them.
[[nodiscard]] std::vector<Verdict> JudgeAll(const std::vector<Rule>& rules, const std::vector<Evidence>& all);

// The worst of them: a failure before what could not be judged.
[[nodiscard]] Outcome Overall(const std::vector<Verdict>& verdicts);

// One JSON document; docs/json.md describes it.
// `devices`: all that were judged, the one that the report would speak of first.
[[nodiscard]] std::string ToJson(const std::vector<const report::Answer*>& devices,
                                 const std::vector<Verdict>& verdicts);

}  // namespace vramscope::check
