// SPDX-License-Identifier: Apache-2.0
#include "profiler/check/judge.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "profiler/fleet/spread.h"
#include "profiler/growth/words.h"

namespace vramscope::check {
namespace {

// Returns why figures of this run may be too low, or "" if they are exact.
std::string LossesOf(const report::Answer& run) {
  if (run.dropped_events != 0)
    return std::to_string(run.dropped_events) + " events were lost, so the true value may be higher";
  return run.damage.sentence.empty() ? run.failed : run.damage.sentence;
}

// "layers.3.attn" or "train.py:42": the most specific one.
std::string PlaceOf(const leaks::Growth& growth) {
  for (const std::string& text : {growth.line, growth.module, growth.op}) {
    if (!text.empty()) return text;
  }
  return std::string("in ") + timeline::PhaseName(growth.phase);
}

std::string NothingIn(const report::Answer& answer, const char* what) {
  return answer.no_blocks.empty() ? what : what + (". " + answer.no_blocks);
}

class Judgment {
 public:
  Judgment(const Rule& rule, const Evidence& evidence) : rule_(rule), evidence_(evidence) {
    const report::Answer& run = *evidence.run;
    verdict_.rule = rule;
    SetLimit();
    verdict_.decided_by = {run.device, run.pid, run.rank, 0, run.about};
  }

  Verdict Give() {
    if (evidence_.run->device.empty()) return NotJudged(NothingIn(*evidence_.run, "nothing was allocated"));
    switch (rule_.kind) {
      case Rule::Kind::kPeak:
        return Below(evidence_.run->peak.allocated_bytes, "");
      case Rule::Kind::kReserved:
        return Below(evidence_.run->ChosenDevice()->peak_reserved_bytes,
                     "the reserved memory of this device was not recorded");
      case Rule::Kind::kDeviceUsed:
        return Below(evidence_.run->ChosenDevice()->peak_used_bytes,
                     "the driver did not report how much of this device is in use");
      case Rule::Kind::kCategory:
        return Below(evidence_.run->peak.categories[static_cast<size_t>(rule_.category)], "");
      case Rule::Kind::kFragmentation:
        return Fragmentation();
      case Rule::Kind::kNoLeak:
        return NoLeak();
      case Rule::Kind::kBaseline:
        return Baseline();
      case Rule::Kind::kSpread:
        return verdict_;  // JudgeSpread() judges all devices together
    }
    return verdict_;
  }

 private:
  // Set before anything is measured, so that the limit is shown even if nothing could be measured.
  void SetLimit() {
    switch (rule_.kind) {
      case Rule::Kind::kPeak:
      case Rule::Kind::kReserved:
      case Rule::Kind::kDeviceUsed:
      case Rule::Kind::kCategory:
        verdict_.limit_bytes = rule_.bytes;
        return;
      case Rule::Kind::kFragmentation:
      case Rule::Kind::kSpread:
        verdict_.limit_share = rule_.share;
        return;
      case Rule::Kind::kNoLeak:
        verdict_.limit_bytes = 0;
        return;
      case Rule::Kind::kBaseline:
        if (!evidence_.baseline->device.empty())
          verdict_.limit_bytes = Above(evidence_.diff->peak.before, rule_.share);
        return;
    }
  }

  static uint64_t Above(uint64_t bytes, double share) {
    const double more = std::floor(static_cast<double>(bytes) * share);
    constexpr uint64_t kMost = ~uint64_t{0};
    return more >= static_cast<double>(kMost - bytes) ? kMost : bytes + static_cast<uint64_t>(more);
  }

  Verdict NotJudged(const std::string& why) {
    verdict_.outcome = Outcome::kNotJudged;
    verdict_.detail = why;
    return verdict_;
  }

  Verdict Decided(bool holds) {
    verdict_.outcome = holds ? Outcome::kPass : Outcome::kFail;
    verdict_.broken = holds ? 0 : 1;
    const std::string losses = LossesOf(*evidence_.run);
    return holds && !losses.empty() ? NotJudged(losses) : verdict_;
  }

  Verdict Below(std::optional<uint64_t> bytes, const char* not_known) {
    verdict_.measured_bytes = bytes;
    return bytes.has_value() ? Decided(*bytes < rule_.bytes) : NotJudged(not_known);
  }

  Verdict Fragmentation() {
    if (!evidence_.fragmentation->ok()) return NotJudged(evidence_.fragmentation->error().sentence);
    verdict_.measured_share = (*evidence_.fragmentation)->Fragmentation();
    return Decided(*verdict_.measured_share < rule_.share);
  }

  Verdict NoLeak() {
    if (!evidence_.leaks->ok()) return NotJudged(evidence_.leaks->error().sentence);
    const std::vector<leaks::Growth>& found = (*evidence_.leaks)->leaks;
    uint64_t bytes = 0;
    for (const leaks::Growth& growth : found) bytes += growth.bytes_per_step;
    verdict_.measured_bytes = bytes;
    verdict_.places = found.size();
    if (!found.empty()) verdict_.detail = PlaceOf(found.front());
    if (!found.empty() && found.front().every > 1) verdict_.detail += ", " + growth::RateText(found.front());
    return Decided(found.empty());
  }

  Verdict Baseline() {
    if (evidence_.diff == nullptr) return NotJudged("The baseline has no such process and device.");
    const diff::Row& peak = evidence_.diff->peak;
    verdict_.measured_bytes = peak.after;
    if (evidence_.baseline->device.empty())
      return NotJudged(NothingIn(*evidence_.baseline, "nothing was allocated in the baseline"));
    if (const std::string losses = LossesOf(*evidence_.baseline); !losses.empty())
      return NotJudged("in the baseline, " + losses);
    if (peak.change() != 0 && !evidence_.diff->causes.empty())
      verdict_.detail = evidence_.diff->causes.front().what;
    return Decided(peak.after <= *verdict_.limit_bytes);
  }

  const Rule& rule_;
  const Evidence& evidence_;
  Verdict verdict_;
};

}  // namespace

const char* RuleKey(Rule::Kind kind) {
  switch (kind) {
    case Rule::Kind::kPeak:
      return "peak_below";
    case Rule::Kind::kReserved:
      return "reserved_below";
    case Rule::Kind::kDeviceUsed:
      return "device_used_below";
    case Rule::Kind::kCategory:
      return "category";
    case Rule::Kind::kFragmentation:
      return "frag_below";
    case Rule::Kind::kNoLeak:
      return "no_leak_per_step";
    case Rule::Kind::kBaseline:
      return "baseline";
    case Rule::Kind::kSpread:
      return "spread_below";
  }
  return "";
}

const char* OutcomeKey(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPass:
      return "pass";
    case Outcome::kFail:
      return "fail";
    case Outcome::kNotJudged:
      return "not_judged";
  }
  return "";
}

std::vector<Verdict> Judge(const std::vector<Rule>& rules, const Evidence& evidence) {
  std::vector<Verdict> verdicts;
  for (const Rule& rule : rules) verdicts.push_back(Judgment(rule, evidence).Give());
  return verdicts;
}

namespace {

int Severity(Outcome outcome) {
  return outcome == Outcome::kFail ? 2 : outcome == Outcome::kNotJudged ? 1 : 0;
}

// True if `a` decides a rule rather than `b`: the worse outcome does, then the higher figure.
bool Worse(const Verdict& a, const Verdict& b) {
  const auto rank = [](const Verdict& verdict) {
    return std::tuple(Severity(verdict.outcome), verdict.measured_share.value_or(0),
                      verdict.measured_bytes.value_or(0));
  };
  return rank(a) > rank(b);
}

// Judges how far the peaks of the devices differ. The peak that is furthest from their median decides.
Verdict JudgeSpread(const Rule& rule, const std::vector<Evidence>& all) {
  std::vector<uint64_t> peaks;
  for (const Evidence& evidence : all) peaks.push_back(evidence.run->peak.allocated_bytes);
  const fleet::Spread spread = fleet::SpreadOf(peaks);
  const auto distance = [&](const Evidence& evidence) {
    const uint64_t peak = evidence.run->peak.allocated_bytes;
    return peak > spread.median ? peak - spread.median : spread.median - peak;
  };
  const Evidence& furthest =
      *std::max_element(all.begin(), all.end(),
                        [&](const Evidence& a, const Evidence& b) { return distance(a) < distance(b); });
  Verdict verdict;
  verdict.rule = rule;
  verdict.limit_share = rule.share;
  verdict.judged = all.size();
  verdict.decided_by = {furthest.run->device, furthest.run->pid, furthest.run->rank, 0, furthest.run->about};
  if (all.size() < 2) {
    verdict.detail = "there is one device, so nothing to compare it with";
    return verdict;
  }
  verdict.measured_share = spread.share();
  verdict.outcome = spread.share() < rule.share ? Outcome::kPass : Outcome::kFail;
  verdict.broken = verdict.outcome == Outcome::kFail ? 1 : 0;
  for (const Evidence& evidence : all) {
    const std::string losses = LossesOf(*evidence.run);
    if (losses.empty() || verdict.outcome == Outcome::kFail) continue;
    verdict.outcome = Outcome::kNotJudged;
    verdict.detail = losses;
  }
  return verdict;
}

}  // namespace

std::vector<Verdict> JudgeAll(const std::vector<Rule>& rules, const std::vector<Evidence>& all) {
  const bool any_steps = std::any_of(all.begin(), all.end(),
                                     [](const Evidence& evidence) { return !evidence.run->steps.empty(); });
  std::vector<Verdict> verdicts;
  for (const Rule& rule : rules) {
    if (rule.kind == Rule::Kind::kSpread) {
      verdicts.push_back(JudgeSpread(rule, all));
      continue;
    }
    std::optional<Verdict> worst;
    size_t judged = 0;
    size_t broken = 0;
    for (const Evidence& evidence : all) {
      // A process without steps cannot grow from step to step.
      if (rule.kind == Rule::Kind::kNoLeak && any_steps && evidence.run->steps.empty()) continue;
      Verdict verdict = Judgment(rule, evidence).Give();
      ++judged;
      broken += verdict.broken;
      if (!worst.has_value() || Worse(verdict, *worst)) worst = std::move(verdict);
    }
    worst->judged = judged;
    worst->broken = broken;
    verdicts.push_back(std::move(*worst));
  }
  return verdicts;
}

Outcome Overall(const std::vector<Verdict>& verdicts) {
  const auto has = [&](Outcome outcome) {
    return std::any_of(verdicts.begin(), verdicts.end(),
                       [&](const Verdict& verdict) { return verdict.outcome == outcome; });
  };
  if (has(Outcome::kFail)) return Outcome::kFail;
  return has(Outcome::kNotJudged) ? Outcome::kNotJudged : Outcome::kPass;
}

}  // namespace vramscope::check
