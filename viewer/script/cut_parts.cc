// SPDX-License-Identifier: Apache-2.0
#include "viewer/script/cut_parts.h"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>

namespace vramscope::viewer {
namespace {

constexpr float kTolerance = 1;  // pixels

}  // namespace

std::vector<std::string> CutParts() {
  std::vector<std::string> names;
  ImGuiContext& context = *ImGui::GetCurrentContext();
  for (const ImGuiWindow* window : context.Windows) {
    const bool shown = window->WasActive && !window->Hidden;
    const bool scrolls = (window->Flags & ImGuiWindowFlags_HorizontalScrollbar) != 0;
    if (shown && !scrolls && window->ScrollMax.x > kTolerance) names.emplace_back(window->Name);
  }
  for (int i = 0; i < context.Tables.GetMapSize(); ++i) {
    const ImGuiTable* table = context.Tables.TryGetMapData(i);
    if (table == nullptr || table->LastFrameActive < context.FrameCount) continue;
    for (int column = 0; column < table->ColumnsCount; ++column) {
      const ImGuiTableColumn& one = table->Columns[column];
      if (one.IsEnabled && one.ContentMaxXUnfrozen > one.WorkMaxX + kTolerance)
        names.push_back(fmt::format("{}, column {}", table->OuterWindow->Name, column));
    }
  }
  return names;
}

}  // namespace vramscope::viewer
