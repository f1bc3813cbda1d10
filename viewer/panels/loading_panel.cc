// SPDX-License-Identifier: Apache-2.0
// While a file is read: how far it is, and the memory as it comes in. When it cannot be read: why.
#include <algorithm>
#include <cmath>

#include "profiler/cli/terminal.h"
#include "viewer/panels/app.h"

namespace vramscope::viewer {
namespace {

void DrawPreview(ImDrawList& list, const LoadJob& job, ImVec2 min, ImVec2 max) {
  const std::vector<PreviewPoint> points = job.preview();
  const double duration = job.preview_duration_ns();
  if (points.empty() || duration <= 0) return;
  uint64_t top = 1;
  for (const PreviewPoint& point : points) top = std::max(top, point.bytes);
  float x_before = min.x;
  for (const PreviewPoint& point : points) {
    const float x = min.x + static_cast<float>(point.time_ns / duration) * (max.x - min.x);
    const float y = max.y - static_cast<float>(static_cast<double>(point.bytes) / static_cast<double>(top)) *
                                (max.y - min.y);
    list.AddRectFilled({x_before, y}, {std::max(x, x_before + 1), max.y},
                       WithAlpha(look().colors.accent, 0.5f));
    x_before = x;
  }
}

}  // namespace

void ShowLoading(App& app, ImVec2 size) {
  const OpenFile* file = app.session.file();
  if (file == nullptr) {
    return ShowWhyEmpty(
        size, "Drop a trace (.vms) or a PyTorch memory snapshot here, or start with: vramscope view run.vms");
  }
  const LoadJob& job = *file->job;
  if (const std::string error = job.error(); !error.empty()) return ShowWhyEmpty(size, cli::Printable(error));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  DrawPreview(list, job, {at.x + Em(4.4f), at.y + Em(2)}, {at.x + size.x - Em(0.4f), at.y + size.y - Em(2)});
  ImGui::BeginGroup();
  const bool reading = job.stage() == std::string_view("reading");
  ImGui::TextDisabled("%s %s", reading ? "Reading" : "Analysing", cli::Printable(file->name()).c_str());
  ImGui::SameLine();
  ImGui::ProgressBar(reading ? static_cast<float>(job.share()) : 1, {Em(14), Em(1.2f)},
                     reading ? nullptr : "");
  ImGui::SameLine();
  if (ImGui::SmallButton("Cancel")) app.CloseFile(app.session.place.file);
  app.NameLastItem("cancel");
  ImGui::EndGroup();
  ImGui::Dummy({size.x, size.y - Em(2)});
}

}  // namespace vramscope::viewer
