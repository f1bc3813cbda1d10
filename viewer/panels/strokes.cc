// SPDX-License-Identifier: Apache-2.0
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "profiler/text/format.h"
#include "viewer/panels/app.h"

namespace vramscope::viewer {
namespace {

std::vector<std::string>* cut_texts = nullptr;  // only while a script looks at a frame

void NoteIfCut(const ImDrawList& list, const Font& font, ImVec2 at, const std::string& text, float wrap) {
  constexpr float kTolerance = 1;  // pixels
  const ImGuiWindow& window = *ImGui::GetCurrentWindowRead();
  if (window.ScrollMax.x > kTolerance) return;  // scrolls sideways
  const ImVec2 size = font.face->CalcTextSizeA(font.size, 1e9f, wrap, text.data(), text.data() + text.size());
  const ImVec2 min = list.GetClipRectMin();
  const ImVec2 max = list.GetClipRectMax();
  const bool hidden = at.y >= max.y || at.y + size.y <= min.y;  // by scrolling down
  if (hidden || (at.x >= min.x - kTolerance && at.x + size.x <= max.x + kTolerance)) return;
  cut_texts->push_back(std::string(window.Name) + ", text " + text);
}

}  // namespace

void SeekCutTexts(std::vector<std::string>* found) { cut_texts = found; }

void DrawText(ImDrawList& list, const Font& font, ImVec2 at, ImU32 color, const std::string& text,
              float wrap) {
  if (cut_texts != nullptr) NoteIfCut(list, font, at, text, wrap);
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

std::string WrapText(const Font& font, const std::string& text, float width) {
  std::string wrapped;
  std::string line;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::string longer = line.empty() ? word : line + " " + word;
    const bool fits = line.empty() || TextSize(font, longer).x <= width;
    if (!fits) wrapped += line + "\n";
    line = fits ? longer : word;
    while (TextSize(font, line).x > width) {
      const char* const end = line.data() + line.size();
      const auto part = static_cast<size_t>(
          font.face->CalcWordWrapPosition(font.size, line.data(), end, width) - line.data());
      if (part == 0 || part >= line.size()) break;
      wrapped += line.substr(0, part) + "\n";
      line.erase(0, part);
    }
  }
  return wrapped + line;
}

namespace {

// The width for text at the cursor. Tooltips and overlays grow with their text, up to the width of the screen.
float WrapWidth() {
  constexpr float kMost = 45;    // text heights, of a line in them
  constexpr float kPadding = 2;  // right of it, with a scrollbar
  const ImGuiWindowFlags flags = ImGui::GetCurrentWindowRead()->Flags;
  const bool grows =
      (flags & ImGuiWindowFlags_AlwaysAutoResize) != 0 && (flags & ImGuiWindowFlags_ChildWindow) == 0;
  if (!grows) return ImGui::GetContentRegionAvail().x;
  const float left = ImGui::GetCursorScreenPos().x - ImGui::GetWindowPos().x;
  return std::min(Em(kMost), ImGui::GetIO().DisplaySize.x - left - Em(kPadding));
}

}  // namespace

void ShowWrapped(const std::string& text) {
  const Font font = {ImGui::GetFont(), ImGui::GetFontSize()};
  ImGui::TextUnformatted(WrapText(font, text, WrapWidth()).c_str());
}

void ShowNote(const std::string& text) {
  ImGui::PushStyleColor(ImGuiCol_Text, look().colors.dim);
  ShowWrapped(text);
  ImGui::PopStyleColor();
}

void StayOnLine(float width, float gap) {
  const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
  if (ImGui::GetItemRectMax().x + gap + width <= right) ImGui::SameLine(0, gap);
}

float ButtonWidth(const std::string& label) {
  return ImGui::CalcTextSize(label.c_str()).x + 2 * ImGui::GetStyle().FramePadding.x;
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
  return {{size.x, size.y * share}, {size.x, share == 0 ? 0 : size.y * (1 - share) - gap}, false};
}

void BeginPart(const char* name, ImVec2 size) {
  ImGui::BeginChild(name, size, size.y == 0 ? ImGuiChildFlags_AutoResizeY : ImGuiChildFlags_None);
}

bool BeginWideTable(const char* id, size_t columns, ImGuiTableFlags flags, float least) {
  const bool scrolls = ImGui::GetContentRegionAvail().x < least;
  return ImGui::BeginTable(id, static_cast<int>(columns), flags | (scrolls ? ImGuiTableFlags_ScrollX : 0),
                           {0, 0}, scrolls ? least : 0);
}

NotePlace PlaceNote(ImVec2 at, float width, float controls) {
  constexpr float kLine = 1.9f;     // text heights
  constexpr float kLeastNote = 20;  // next to the controls
  constexpr float kTwoLines = 2.5f;
  at.x += Em(0.2f);
  const float room = width - controls - Em(0.8f);
  if (room >= Em(kLeastNote)) return {at, room, false, Em(kLine)};
  return {{at.x, at.y + Em(kLine)}, width - Em(0.4f), true, Em(kLine + kTwoLines)};
}

void DrawNote(ImDrawList& list, const NotePlace& place, const std::string& text) {
  const Font& font = look().fonts.text;
  DrawText(list, font, place.at, look().colors.dim,
           place.below ? WrapText(font, text, place.width) : FitText(font, text, place.width));
}

void ShowWhyEmpty(ImVec2 size, const std::string& sentence) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Font& font = look().fonts.text;
  const std::string text = WrapText(font, sentence, std::min(size.x - Em(4), Em(34)));
  const ImVec2 extent = TextSize(font, text);
  DrawText(*ImGui::GetWindowDrawList(), font,
           {at.x + (size.x - extent.x) / 2, at.y + (size.y - extent.y) / 2}, look().colors.dim, text);
  ImGui::Dummy(size);
}

void ShowHeading(const std::string& text, const std::string& note) {
  PushFont(look().fonts.strong);
  ShowWrapped(text);
  ImGui::PopFont();
  if (note.empty()) return;
  StayOnLine(ImGui::CalcTextSize(note.c_str()).x, Em(1));
  ShowNote(note);
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
