// SPDX-License-Identifier: Apache-2.0
// The state of the window as the user left it: theme, text size, positions of the dividers. Each setting is a
// line "key=value" of one file, in the same folder as the list of recent files.
//
// Why not ImGui's own file: it stores windows and tables, and the viewer has one window of fixed parts.
#pragma once

#include <string>

namespace vramscope::viewer {

struct WindowLayout {
  bool dark = true;
  float text_size = 1;        // relative to the display's
  float table_share = 0.34f;  // of the height
  float details_width = 20;   // in text heights
  bool details = true;        // whether it is shown
  bool table = true;
  friend bool operator==(const WindowLayout&, const WindowLayout&) = default;
};

inline constexpr float kSmallestText = 0.6f;
inline constexpr float kLargestText = 2.5f;

// In the user's state folder; "" if there is none.
[[nodiscard]] std::string LayoutPath();
// Uses the defaults if there is no such file, and for every invalid line.
[[nodiscard]] WindowLayout ReadLayout(const std::string& path);
// Atomic: a reader sees the old file or the new one. Does nothing if it cannot be written.
void WriteLayout(const std::string& path, const WindowLayout& layout);

}  // namespace vramscope::viewer
