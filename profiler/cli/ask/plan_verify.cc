// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/ask/plan_verify.h"

#include <fmt/format.h>

#include <sstream>

#include "profiler/cli/frame/terminal.h"

namespace vramscope::cli {

namespace {

constexpr size_t kMostReruns = 16;
constexpr uint64_t kMoreWork = 4;  // times the usual search: a run of the command takes seconds anyway

}  // namespace

Result<Change> ChangeOf(const plan::Changes& changes) {
  Change change;
  for (const whatif::Asked& asked : changes) {
    VRAMSCOPE_TRY(experiment::Ask(asked.lever, asked.value, change));
    if (const char* why = change.WhyBeyond(asked.lever))
      return Error{fmt::format("--{} cannot be applied from outside the program: {}", asked.lever, why)};
  }
  return change;
}

namespace {

// What has been measured so far; the search uses these figures.
class MeasuredPlans {
 public:
  MeasuredPlans(plan::Request& question, const Measure& measure) : question_(question), measure_(measure) {}

  [[nodiscard]] size_t size() const { return known_.size(); }
  [[nodiscard]] const Verified& Of(const plan::Plan& plan) const {
    return known_.at(plan::TextOf(plan.verdict.changes));
  }

  void LookAt(const std::vector<plan::Plan>& plans, VerifiedPlans& found) {
    std::vector<plan::Changes> asked;
    std::vector<const plan::Plan*> fresh;
    for (const plan::Plan& plan : plans) {
      if (!known_.try_emplace(plan::TextOf(plan.verdict.changes)).second) continue;
      fresh.push_back(&plan);
      if (known_.size() <= kMostReruns) asked.push_back(plan.verdict.changes);
    }
    std::vector<Verified> measured = asked.empty() ? std::vector<Verified>() : measure_(asked);
    measured.resize(fresh.size(),
                    {.why_not = fmt::format("the limit of {} other runs was reached", kMostReruns)});
    for (size_t i = 0; i < fresh.size(); ++i) Note(*fresh[i], std::move(measured[i]), found);
  }

 private:
  void Note(const plan::Plan& plan, Verified verified, VerifiedPlans& found) {
    uint64_t needed = verified.at_most_bytes;
    if (!verified.why_not.empty()) {
      const whatif::Prediction& prediction = plan.verdict.prediction;
      needed = prediction.band.ReservedAtMost(prediction.after.allocator.reserved_peak);
    } else if (needed > question_.limit) {
      verified.refuted = true;
    }
    if (verified.refuted) found.left_out.emplace_back(plan.verdict.changes, verified);
    const std::string text = plan::TextOf(plan.verdict.changes);
    question_.need.known[text] = verified.refuted && !verified.why_not.empty() ? UINT64_MAX : needed;
    known_[text] = std::move(verified);
  }

  plan::Request& question_;
  const Measure& measure_;
  std::map<std::string, Verified> known_;
};

}  // namespace

VerifiedPlans FindVerifiedPlans(const whatif::Step& step, const whatif::Baseline& baseline,
                                plan::Request question, const Measure& measure) {
  question.work *= kMoreWork;
  VerifiedPlans found;
  MeasuredPlans known(question, measure);
  // Each round searches with more measured figures. The last round measures nothing new.
  for (size_t before = SIZE_MAX; before != known.size();) {
    before = known.size();
    found.plans = plan::MakePlans(step, baseline, question);
    if (found.plans.fits_already) return found;
    known.LookAt(found.plans.plans, found);
  }
  for (const plan::Plan& plan : found.plans.plans)
    found.verified[plan::TextOf(plan.verdict.changes)] = known.Of(plan);
  return found;
}

Result<std::vector<std::string>> RecordedCommand(const std::string& command_line, bool may_run) {
  // A trace may come from anybody: its command is shown, and run only on request.
  if (!may_run) {
    const std::string named =
        command_line.empty() ? ""
                             : fmt::format(" The command in the trace is \"{}\"; --run-recorded runs it.",
                                           Printable(command_line));
    return Error{"--verify runs a command: give the command after --." + named};
  }
  const Error unclear{
      "the command in the trace cannot be run again from its text; give the command: plan RUN --fit 24GiB "
      "--verify -- "
      "python train.py"};
  if (command_line.empty() || command_line.find_first_of("'\"\\`$") != std::string::npos) return unclear;
  std::vector<std::string> words;
  std::istringstream parts(command_line);
  for (std::string word; parts >> word;) words.push_back(word);
  if (words.empty()) return unclear;
  return words;
}

}  // namespace vramscope::cli
