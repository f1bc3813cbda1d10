// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <sstream>

#include "profiler/text/format.h"
#include "viewer/panels/app.h"

namespace vramscope::viewer {

void DrawText(ImDrawList& list, const Font& font, ImVec2 at, ImU32 color, const std::string& text,
              float wrap) {
  list.AddText(font.face, font.size, at, color, text.data(), text.data() + text.size(), wrap);
}

ImVec2 TextSize(const Font& font, const std::string& text) {
  return font.face->CalcTextSizeA(font.size, 1e9f, 0, text.data(), text.data() + text.size());
}

std::string FitText(const Font& font, const std::string& text, float width) {
  if (TextSize(font, text).x <= width) return text;
  size_t low = 0;
  size_t high = text::DisplayWidth(text);
  while (low < high) {  // the most characters that fit
    const size_t middle = (low + high + 1) / 2;
    if (TextSize(font, text::Shorten(text, middle, true)).x <= width) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low < 2 ? std::string() : text::Shorten(text, low, true);
}

namespace {

// The text with line breaks in place of spaces, so that each line is at most `width` wide. A longer word has
// a line of its own.
std::string WrapAtSpaces(const Font& font, const std::string& text, float width) {
  std::string wrapped;
  std::string line;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::string longer = line.empty() ? word : line + " " + word;
    const bool fits = line.empty() || TextSize(font, longer).x <= width;
    if (!fits) wrapped += line + "\n";
    line = fits ? longer : word;
  }
  return wrapped + line;
}

}  // namespace

void ShowWrapped(const std::string& text) {
  const Font font = {ImGui::GetFont(), ImGui::GetFontSize()};
  ImGui::TextUnformatted(WrapAtSpaces(font, text, ImGui::GetContentRegionAvail().x).c_str());
}

void ScrollSideways() {
  const ImGuiIO& io = ImGui::GetIO();
  if (ImGui::IsWindowHovered() && (io.MouseWheel != 0 || io.MouseWheelH != 0))
    ImGui::SetScrollX(ImGui::GetScrollX() - (io.MouseWheel + io.MouseWheelH) * Em(6));
}

TwoParts SplitView(ImVec2 size, float left, float share) {
  constexpr float kLeastBeside = 34;  // text heights
  const float gap = ImGui::GetStyle().ItemSpacing.y;
  if (size.x >= Em(kLeastBeside)) return {{left, size.y}, {size.x - left - Em(1), size.y}, true};
  return {{size.x, size.y * share}, {size.x, size.y * (1 - share) - gap}, false};
}

void ShowWhyEmpty(ImVec2 size, const std::string& sentence) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Font& font = look().fonts.text;
  const std::string text = WrapAtSpaces(font, sentence, std::min(size.x - Em(4), Em(34)));
  const ImVec2 extent = TextSize(font, text);
  DrawText(*ImGui::GetWindowDrawList(), font,
           {at.x + (size.x - extent.x) / 2, at.y + (size.y - extent.y) / 2}, look().colors.dim, text);
  ImGui::Dummy(size);
}

void ShowHeading(const std::string& text) {
  PushFont(look().fonts.strong);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopFont();
}

void ShowFact(const char* label, const std::string& value) {
  ImGui::PushStyleColor(ImGuiCol_Text, look().colors.dim);
  ImGui::TextUnformatted(label);
  ImGui::PopStyleColor();
  ImGui::SameLine(Em(7.2f));
  PushFont(look().fonts.mono);
  const std::string fitted = FitText(look().fonts.mono, value, ImGui::GetContentRegionAvail().x);
  ImGui::TextUnformatted(fitted.c_str());
  ImGui::PopFont();
  if (fitted != value && ImGui::IsItemHovered()) ImGui::SetTooltip("%s", value.c_str());
}

bool BeginPanel(const char* name, ImVec2 size) {
  ImGui::PushStyleColor(ImGuiCol_ChildBg, look().colors.panel);
  const bool open = ImGui::BeginChild(name, size, ImGuiChildFlags_Borders,
                                      ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoScrollbar);
  ImGui::PopStyleColor();
  return open;
}

void EndPanel() { ImGui::EndChild(); }

void Hatch(ImDrawList& list, ImVec2 min, ImVec2 max, ImU32 color) {
  const float distance = Em(0.45f);
  const float height = max.y - min.y;
  // Lines rise to the right; the whole plane has one pattern, so neighbors fit together.
  const float first = min.x - height - std::fmod(min.x + max.y, distance);
  for (float x = first; x < max.x; x += distance) {
    const float left = std::max(x, min.x);
    const float right = std::min(x + height, max.x);
    if (left < right) list.AddLine({left, max.y - (left - x)}, {right, max.y - (right - x)}, color, 1);
  }
}

}  // namespace vramscope::viewer
