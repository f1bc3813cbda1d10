// SPDX-License-Identifier: Apache-2.0
#include "viewer/script/cut_parts.h"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>

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
      const bool content =
          std::max(one.ContentMaxXUnfrozen, one.ContentMaxXFrozen) > one.WorkMaxX + kTolerance;
      const bool title = one.ContentMaxXHeadersUsed > one.MaxX + kTolerance;  // which may use the padding
      if (one.IsEnabled && (content || title))
        names.push_back(fmt::format("{}, column {}", table->OuterWindow->Name, column));
    }
  }
  return names;
}

}  // namespace vramscope::viewer
