// SPDX-License-Identifier: Apache-2.0
#include "viewer/platform/theme.h"

#include <cmath>

namespace vramscope::viewer {
namespace {

Look current;

constexpr ImU32 Rgb(uint32_t rgb) { return IM_COL32(rgb >> 16 & 0xff, rgb >> 8 & 0xff, rgb & 0xff, 255); }

constexpr Colors kDark = {
    .background = Rgb(0x1a1d24),
    .panel = Rgb(0x15181d),
    .raised = Rgb(0x262b35),
    .line = Rgb(0x2f3540),
    .text = Rgb(0xdfe3ea),
    .dim = Rgb(0x8f98a8),
    .accent = Rgb(0x5a94f0),
    .selected = Rgb(0x2b3a57),
    .warning = Rgb(0xe6b450),
    .bad = Rgb(0xf0736a),
    .free = Rgb(0x20252d),
    .hatch = Rgb(0x39404c),
    .reserved = Rgb(0xb8c1d0),
    .used = Rgb(0xf0736a),
};

constexpr Colors kLight = {
    .background = Rgb(0xf3f4f7),
    .panel = Rgb(0xffffff),
    .raised = Rgb(0xe6e9ef),
    .line = Rgb(0xd3d8e0),
    .text = Rgb(0x1d232d),
    .dim = Rgb(0x647083),
    .accent = Rgb(0x2962c4),
    .selected = Rgb(0xd6e2f8),
    .warning = Rgb(0x9a6700),
    .bad = Rgb(0xc2332b),
    .free = Rgb(0xf2f4f7),
    .hatch = Rgb(0xcbd1da),
    .reserved = Rgb(0x4a5566),
    .used = Rgb(0xc2332b),
};

ImVec4 V(ImU32 color) { return ImGui::ColorConvertU32ToFloat4(color); }

void SetStyleColors(const Colors& c) {
  ImVec4* to = ImGui::GetStyle().Colors;
  current.dark ? ImGui::StyleColorsDark() : ImGui::StyleColorsLight();
  const ImVec4 accent = V(c.accent);
  to[ImGuiCol_Text] = V(c.text);
  to[ImGuiCol_TextDisabled] = V(c.dim);
  to[ImGuiCol_WindowBg] = V(c.background);
  to[ImGuiCol_ChildBg] = ImVec4(0, 0, 0, 0);
  to[ImGuiCol_PopupBg] = V(c.raised);
  to[ImGuiCol_Border] = V(c.line);
  to[ImGuiCol_FrameBg] = V(c.raised);
  to[ImGuiCol_FrameBgHovered] = V(c.selected);
  to[ImGuiCol_FrameBgActive] = V(c.selected);
  to[ImGuiCol_TitleBg] = V(c.raised);
  to[ImGuiCol_TitleBgActive] = V(c.raised);
  to[ImGuiCol_MenuBarBg] = V(c.background);
  to[ImGuiCol_ScrollbarBg] = ImVec4(0, 0, 0, 0);
  to[ImGuiCol_ScrollbarGrab] = V(c.line);
  to[ImGuiCol_ScrollbarGrabHovered] = V(c.dim);
  to[ImGuiCol_ScrollbarGrabActive] = V(c.dim);
  to[ImGuiCol_CheckMark] = accent;
  to[ImGuiCol_SliderGrab] = V(WithAlpha(c.accent, 0.5f));  // the words of a slider lie over it
  to[ImGuiCol_SliderGrabActive] = V(WithAlpha(c.accent, 0.7f));
  to[ImGuiCol_Button] = V(c.raised);
  to[ImGuiCol_ButtonHovered] = V(c.selected);
  to[ImGuiCol_ButtonActive] = V(c.selected);
  to[ImGuiCol_Header] = V(c.selected);
  to[ImGuiCol_HeaderHovered] = V(c.selected);
  to[ImGuiCol_HeaderActive] = V(c.selected);
  to[ImGuiCol_Separator] = V(c.line);
  to[ImGuiCol_SeparatorHovered] = accent;
  to[ImGuiCol_SeparatorActive] = accent;
  to[ImGuiCol_Tab] = ImVec4(0, 0, 0, 0);
  to[ImGuiCol_TabHovered] = V(c.selected);
  to[ImGuiCol_TabSelected] = V(c.selected);
  to[ImGuiCol_PlotHistogram] = accent;
  to[ImGuiCol_TableHeaderBg] = V(c.raised);
  to[ImGuiCol_TableBorderStrong] = V(c.line);
  to[ImGuiCol_TableBorderLight] = V(c.line);
  to[ImGuiCol_TableRowBg] = ImVec4(0, 0, 0, 0);
  to[ImGuiCol_TableRowBgAlt] = V(WithAlpha(c.raised, 0.35f));
  to[ImGuiCol_TextSelectedBg] = V(WithAlpha(c.accent, 0.4f));
  to[ImGuiCol_NavCursor] = accent;
}

}  // namespace

const Look& look() { return current; }

void UseLook(const Fonts& fonts, bool dark, float scale) {
  current = {fonts, dark ? kDark : kLight, dark, scale};
  for (Font* font : {&current.fonts.text, &current.fonts.strong}) font->size = std::round(15 * scale);
  current.fonts.mono.size = std::round(13.5f * scale);
  current.fonts.small.size = std::round(13 * scale);
  ImGuiStyle style;
  style.WindowPadding = {10, 8};
  style.FramePadding = {9, 4};
  style.ItemSpacing = {8, 6};
  style.CellPadding = {7, 3};
  style.ScrollbarSize = 11;
  style.WindowRounding = 0;
  style.ChildRounding = 4;
  style.FrameRounding = 4;
  style.PopupRounding = 5;
  style.ScrollbarRounding = 6;
  style.GrabRounding = 3;
  style.TabRounding = 4;
  style.WindowBorderSize = 0;
  style.PopupBorderSize = 1;
  style.TabBorderSize = 0;
  style.ScaleAllSizes(scale);
  style.FontSizeBase = current.fonts.text.size;
  ImGui::GetStyle() = style;
  SetStyleColors(current.colors);
}

ImU32 FromRgb(uint32_t rgb) { return Rgb(rgb); }

ImU32 ColorOf(classify::Category category) { return Rgb(classify::Info(category).rgb); }

ImU32 ColorOf(timeline::Phase phase) {
  switch (phase) {
    case timeline::Phase::kData:
      return Rgb(current.dark ? 0x4f6f8f : 0xb9cde0);
    case timeline::Phase::kForward:
      return Rgb(current.dark ? 0x3f7a63 : 0xb5dccb);
    case timeline::Phase::kBackward:
      return Rgb(current.dark ? 0x7d5f96 : 0xd9c6e8);
    case timeline::Phase::kOptimizer:
      return Rgb(current.dark ? 0x96703f : 0xecd5b0);
    case timeline::Phase::kOther:
      break;
  }
  return current.colors.raised;
}

ImU32 InkOn(ImU32 background) {
  const ImVec4 c = V(background);
  const float luminance = 0.2126f * c.x * c.x + 0.7152f * c.y * c.y + 0.0722f * c.z * c.z;
  return luminance > 0.28f ? IM_COL32(16, 18, 22, 255) : IM_COL32(245, 247, 250, 255);
}

ImU32 WithAlpha(ImU32 color, float alpha) {
  return (color & ~IM_COL32_A_MASK) | static_cast<ImU32>(std::lround(alpha * 255)) << IM_COL32_A_SHIFT;
}

}  // namespace vramscope::viewer
