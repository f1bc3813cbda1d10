// SPDX-License-Identifier: Apache-2.0
// Stores the state of the window: theme, text size, and positions of the dividers. The file has lines
// "key=value" and is in the folder of the list of recent files.
#pragma once

#include <string>

namespace vramscope::viewer {

struct WindowLayout {
  bool dark = true;
  float text_size = 1;        // relative to the default text size
  float table_share = 0.34f;  // height of the table, as a share of the window
  float details_width = 20;   // width of the details, in text heights
  bool details = true;        // true: the details are shown
  bool table = true;          // true: the table is shown
  friend bool operator==(const WindowLayout&, const WindowLayout&) = default;
};

inline constexpr float kSmallestText = 0.6f;
inline constexpr float kLargestText = 2.5f;

// Returns the path of the file in the user's state folder, or "" if there is no such folder.
[[nodiscard]] std::string LayoutPath();
// Reads the layout. If the file is missing, or for invalid lines, the defaults are used.
[[nodiscard]] WindowLayout ReadLayout(const std::string& path);
// Replaces the file atomically. Does nothing if the file cannot be written.
void WriteLayout(const std::string& path, const WindowLayout& layout);

}  // namespace vramscope::viewer
