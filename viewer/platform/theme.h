// SPDX-License-Identifier: Apache-2.0
// The two themes, and the colors that carry meaning. Categories have the colors of the reports
// (classify/category.h).
#pragma once

#include <imgui.h>

#include "profiler/classify/category.h"
#include "profiler/timeline/training.h"
#include "viewer/platform/keyboard_and_fonts.h"

namespace vramscope::viewer {

struct Colors {
  ImU32 background;  // of the window
  ImU32 panel;       // of plots and tables
  ImU32 raised;      // buttons, tooltips, headers
  ImU32 line;        // borders, grid
  ImU32 text;
  ImU32 dim;  // labels, secondary text
  ImU32 accent;
  ImU32 selected;  // background of what is selected
  ImU32 warning;
  ImU32 bad;
  ImU32 free;  // memory that is free
  ImU32 hatch;
  ImU32 reserved;  // the lines over the stacked categories
  ImU32 used;
};

struct Look {
  Fonts fonts;
  Colors colors{};
  bool dark = true;
  float scale = 1;
};

// The current look; set once per window.
[[nodiscard]] const Look& look();
// Also sets ImGui's style. Font sizes follow `scale`.
void UseLook(const Fonts& fonts, bool dark, float scale);

[[nodiscard]] ImU32 ColorOf(classify::Category category);
[[nodiscard]] ImU32 ColorOf(timeline::Phase phase);
// Black or white, the more readable on `background`.
[[nodiscard]] ImU32 InkOn(ImU32 background);
[[nodiscard]] ImU32 WithAlpha(ImU32 color, float alpha);
// 0xRRGGBB
[[nodiscard]] ImU32 FromRgb(uint32_t rgb);

inline void PushFont(const Font& font) { ImGui::PushFont(font.face, font.size); }

// Lengths are multiples of the text height.
[[nodiscard]] inline float Em(float ems = 1) { return ems * look().fonts.text.size; }

}  // namespace vramscope::viewer
