// SPDX-License-Identifier: Apache-2.0
// "Fit into 24 GiB": the planner in the what-if panel. Clicking a plan sets the panel's switches, so the
// curve, the figures and the code to write are then those of the plan.
#include <fmt/format.h>

#include <algorithm>

#include "profiler/plan/words.h"
#include "profiler/text/format.h"
#include "profiler/text/harmless.h"
#include "profiler/whatif/answer/words.h"
#include "viewer/panels/named_table.h"
#include "viewer/panels/whatif_panel.h"

namespace vramscope::viewer {
namespace {

constexpr size_t kMostFitText = 100;
constexpr float kField = 8.5f;  // in Em
constexpr float kGpus = 5;
constexpr float kNumber = 2.6f;  // of a plan, before its changes

void Start(App& app, const WhatIfSubject& subject) {
  app.whatif.fit().Start(subject, app.whatif.reruns(), app.session.wake());
}

// The table of GPUs with their memory; choosing one starts a search at once.
void ShowGpus(App& app, const WhatIfSubject& subject) {
  FitView& fit = app.whatif.fit();
  const auto& gpus = fit.gpus();
  ImGui::BeginDisabled(!gpus.ok());
  ImGui::SetNextItemWidth(Em(kGpus));
  if (ImGui::BeginCombo("##gpus", "GPUs", ImGuiComboFlags_HeightLarge)) {
    for (const collector::GpuModel& gpu : *gpus) {
      const ImVec2 at = ImGui::GetCursorScreenPos();
      if (ImGui::Selectable(("##" + gpu.name).c_str(), fit.into == gpu.name, 0, {Em(14), 0})) {
        fit.into = gpu.name;
        Start(app, subject);
      }
      app.NameLastItem("whatif.fit.gpu." + gpu.name);
      ImDrawList& list = *ImGui::GetWindowDrawList();
      const std::string memory = text::FormatBytes(gpu.capacity_bytes);
      DrawText(list, look().fonts.text, at, look().colors.text, gpu.name);
      DrawText(list, look().fonts.mono, {at.x + Em(13.8f) - TextSize(look().fonts.mono, memory).x, at.y},
               look().colors.dim, memory);
    }
    ImGui::EndCombo();
  }
  app.NameLastItem("whatif.fit.gpus");
  ImGui::EndDisabled();
  if (!gpus.ok() && ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled))
    ImGui::SetTooltip("%s", text::OneLine(gpus.error().sentence).c_str());
}

// The result of the search in one line, after its field.
std::string Sentence(const FitView& fit) {
  if (fit.busy()) return fit.cancelled() ? "Ending ..." : "Searching ...";
  if (fit.cancelled()) return "Cancelled.";
  if (!fit.answer()) return "";
  if (!fit.answer()->ok()) return fit.answer()->error().sentence;
  const FitAnswer& found = fit.answer()->value();
  const std::string room = text::FormatBytes(found.limit.reserved_limit);
  if (found.plans.fits_already)
    return fmt::format("The step fits without any change; {} are available to PyTorch.", room);
  if (found.plans.plans.empty())
    return fmt::format("No change makes the step fit: {} are missing; {} are available to PyTorch.",
                       text::FormatBytes(found.shortfall()), room);
  return fmt::format("{}{}, cheapest first; {} are available to PyTorch.",
                     text::FormatCount(found.plans.plans.size(), "plan"),
                     found.plans.complete ? "" : " so far (others cost more)", room);
}

void ShowTip(const plan::Plan& plan) {
  std::string text;
  for (const whatif::Applied& lever : plan.verdict.prediction.levers) text += whatif::LeverLines(lever);
  if (!plan.exact)
    text +=
        fmt::format("Another choice of modules could cost less time, but would cost at least {} a step.\n",
                    text::FormatDuration(static_cast<uint64_t>(plan.least_ns)));
  text += "Click to set the switches to this plan.";
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(Em(44));
  for (size_t from = 0; from < text.size();) {
    const size_t end = std::min(text.find('\n', from), text.size());
    ImGui::TextUnformatted(text::OneLine(std::string_view(text).substr(from, end - from)).c_str());
    from = end + 1;
  }
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

// One line of the table. `question` and `plan`: what a click on it sets; nullptr if it is not clickable.
void ShowVerdict(App& app, NamedTable& table, const std::string& number, const plan::Verdict& verdict,
                 const WhatIfQuestion* question, const plan::Plan* plan) {
  const whatif::Replayed& after = verdict.prediction.after.allocator;
  table.NextName();
  const float left = ImGui::GetCursorPosX();
  const bool set = question != nullptr && app.whatif.question == *question;
  ImGui::BeginDisabled(question == nullptr);
  if (ImGui::Selectable(number.c_str(), set, table.Span())) app.whatif.question = *question;
  ImGui::EndDisabled();
  if (plan != nullptr && ImGui::IsItemHovered()) ShowTip(*plan);
  app.NameLastItem("whatif.fit.plan." + number);
  ImGui::SameLine(0, 0);
  ImGui::SetCursorPosX(left + Em(kNumber));
  ImGui::TextUnformatted(table.Fit(plan::PlanOptions(verdict.changes)).c_str());
  table.Figure(text::FormatBytes(after.allocated_peak));
  table.Figure(text::FormatBytes(after.reserved_peak));
  table.Figure(text::FormatBytes(verdict.needed));
  table.Figure(plan::PlanTime(verdict));
}

void ShowPlans(App& app, const FitAnswer& found) {
  NamedTable table;
  if (!table.Begin("plans",
                   {{"Changes", 14},
                    {"Allocated", 5.5f, 0, true},
                    {"Reserved", 5.5f, 0, true},
                    {"At most", 5.5f, 0, true},
                    {"More time", 7.5f, 0, true}},
                   0, ImGuiTableFlags_PadOuterX))
    return;
  for (size_t i = 0; i < found.plans.plans.size(); ++i) {
    const plan::Plan& plan = found.plans.plans[i];
    ShowVerdict(app, table, std::to_string(i + 1), plan.verdict, &found.questions[i], &plan);
  }
  if (found.plans.plans.empty() && found.plans.floor.replayed)
    ShowVerdict(app, table, "least", found.plans.floor, nullptr, nullptr);
  table.End();
}

}  // namespace

void ShowFit(App& app, const WhatIfSubject& subject) {
  FitView& fit = app.whatif.fit();
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted("Fit into");
  ImGui::SameLine(0, Em(0.6f));
  ImGui::SetNextItemWidth(Em(kField));
  char text[kMostFitText];
  *fmt::format_to_n(text, sizeof text - 1, "{}", fit.into).out = '\0';
  const bool entered = ImGui::InputTextWithHint("##fit", "24 (GiB), 800MiB", text, sizeof text,
                                                ImGuiInputTextFlags_EnterReturnsTrue);
  fit.into = text;
  app.NameLastItem("whatif.fit.into");
  StayOnLine(Em(kGpus), Em(0.3f));
  ShowGpus(app, subject);
  StayOnLine(ButtonWidth(fit.busy() ? "Cancel" : "Find plans"), Em(0.3f));
  if (fit.busy()) {
    if (ImGui::Button("Cancel")) fit.Cancel();
    app.NameLastItem("whatif.fit.cancel");
  } else {
    ImGui::BeginDisabled(fit.into.empty());
    if (ImGui::Button("Find plans") || (entered && !fit.into.empty())) Start(app, subject);
    ImGui::EndDisabled();
    app.NameLastItem("whatif.fit.find");
  }
  if (fit.answer()) {
    StayOnLine(ButtonWidth("Close"), Em(0.3f));
    if (ImGui::Button("Close")) return fit.Clear();
    app.NameLastItem("whatif.fit.close");
  }
  const std::string sentence = Sentence(fit);
  StayOnLine(ImGui::CalcTextSize(sentence.c_str()).x, Em(0.8f));
  ShowNote(sentence);
  if (fit.answer() && fit.answer()->ok() && ImGui::IsItemHovered()) {
    const plan::FitLimit& limit = fit.answer()->value().limit;
    ImGui::SetTooltip("The step must fit in %s. %s", limit.limit_name.c_str(), BesideText(limit).c_str());
  }
  if (fit.answer() && fit.answer()->ok() && !fit.answer()->value().plans.fits_already)
    ShowPlans(app, fit.answer()->value());
}

}  // namespace vramscope::viewer
