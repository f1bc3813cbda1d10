// SPDX-License-Identifier: Apache-2.0
// The dark and the light theme: fonts, colors and sizes. Categories have the same colors as in the reports
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
  ImU32 selected;  // background of the selected element
  ImU32 warning;
  ImU32 bad;
  ImU32 free;  // memory that is free
  ImU32 hatch;
  ImU32 reserved;  // color of the line of reserved memory; `used`: of used device memory
  ImU32 used;
};

struct Look {
  Fonts fonts;
  Colors colors{};
  bool dark = true;
  float scale = 1;
};

// Returns the current look, which is set once per window.
[[nodiscard]] const Look& look();
// Sets the look and ImGui's style. Font sizes are multiplied by `scale`.
void UseLook(const Fonts& fonts, bool dark, float scale);

[[nodiscard]] ImU32 ColorOf(classify::Category category);
[[nodiscard]] ImU32 ColorOf(timeline::Phase phase);
// Returns black or white, whichever is more readable on `background`.
[[nodiscard]] ImU32 InkOn(ImU32 background);
[[nodiscard]] ImU32 WithAlpha(ImU32 color, float alpha);
// Converts a color 0xRRGGBB to ImGui's format.
[[nodiscard]] ImU32 FromRgb(uint32_t rgb);

inline void PushFont(const Font& font) { ImGui::PushFont(font.face, font.size); }

// Returns a length of `ems` text heights, in pixels.
[[nodiscard]] inline float Em(float ems = 1) { return ems * look().fonts.text.size; }

}  // namespace vramscope::viewer
