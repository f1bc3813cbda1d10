// SPDX-License-Identifier: Apache-2.0
// Shown while a file is read: the progress, and the memory that was read so far. If the file cannot be read:
// the reason.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profiler/text/harmless.h"
#include "viewer/model/recent_files.h"
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

void ShowStart(App& app, ImVec2 size) {
  if (!app.recent) app.recent = RecentFiles(app.recent_list);
  const float row = Em(1.7f);
  const float list_height = app.recent->empty() ? 0 : row * (static_cast<float>(app.recent->size()) + 1.5f);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float above = std::max(Em(4), (size.y - list_height) / 2);
  ShowWhyEmpty(
      {size.x, app.recent->empty() ? size.y : above},
      "Drop a trace (.vms) or a PyTorch memory snapshot here,\nor start with: vramscope view run.vms");
  if (app.recent->empty()) return;
  const float width = std::min(size.x - Em(4), Em(40));
  const float left = at.x + (size.x - width) / 2;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  DrawText(list, look().fonts.small, {left + Em(0.6f), at.y + above}, look().colors.dim, "OPENED LAST");
  std::string chosen;
  for (size_t i = 0; i < app.recent->size(); ++i) {
    const std::string& path = (*app.recent)[i];
    const ImVec2 min = {left, at.y + above + row * (static_cast<float>(i) + 0.9f)};
    ImGui::SetCursorScreenPos(min);
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::InvisibleButton("recent", {width, row})) chosen = path;
    ImGui::PopID();
    app.NameLastItem(fmt::format("recent.{}", i));
    if (ImGui::IsItemHovered())
      list.AddRectFilled(min, {min.x + width, min.y + row}, look().colors.raised, Em(0.25f));
    const size_t slash = path.rfind('/');
    const std::string name = text::OneLine(path.substr(slash + 1));
    const float y = min.y + (row - look().fonts.text.size) / 2;
    const float name_width = TextSize(look().fonts.text, name).x;
    DrawText(list, look().fonts.text, {min.x + Em(0.6f), y}, look().colors.text,
             FitText(look().fonts.text, name, width - Em(1.2f)));
    DrawText(list, look().fonts.text, {min.x + name_width + Em(1.4f), y}, look().colors.dim,
             FitText(look().fonts.text, text::OneLine(path.substr(0, slash)), width - name_width - Em(2)));
  }
  if (!chosen.empty()) app.session.Open(chosen);
}

}  // namespace

void ShowLoading(App& app, ImVec2 size) {
  const OpenFile* file = app.session.file();
  if (file == nullptr) return ShowStart(app, size);
  const LoadJob& job = *file->job;
  if (const std::string error = job.error(); !error.empty()) return ShowWhyEmpty(size, text::OneLine(error));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  DrawPreview(list, job, {at.x + Em(4.4f), at.y + Em(2)}, {at.x + size.x - Em(0.4f), at.y + size.y - Em(2)});
  ImGui::BeginGroup();
  const bool reading = job.stage() == std::string_view("reading");
  ImGui::TextDisabled("%s %s", reading ? "Reading" : "Analyzing", text::OneLine(file->name()).c_str());
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
