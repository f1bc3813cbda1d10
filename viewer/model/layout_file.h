// SPDX-License-Identifier: Apache-2.0
// How the window was left: theme, size of the text, where its parts meet. A line "key=value" each, beside the
// list of recent files.
//
// Why not ImGui's own file: it knows windows and tables, and the viewer has one window of fixed parts.
#pragma once

#include <string>

namespace vramscope::viewer {

struct WindowLayout {
  bool dark = true;
  float text_size = 1;        // times that of the display
  float table_share = 0.34f;  // of the height
  float details_width = 20;   // in text heights
  friend bool operator==(const WindowLayout&, const WindowLayout&) = default;
};

inline constexpr float kSmallestText = 0.6f;
inline constexpr float kLargestText = 2.5f;

// In the state folder of the user; "" where there is none.
[[nodiscard]] std::string LayoutPath();
// The defaults where there is no such file, and for every line that makes no sense.
[[nodiscard]] WindowLayout ReadLayout(const std::string& path);
// At once: a reader sees the old file or the new one. Nothing happens where it cannot be written.
void WriteLayout(const std::string& path, const WindowLayout& layout);

}  // namespace vramscope::viewer
