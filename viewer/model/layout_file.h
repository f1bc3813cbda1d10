// SPDX-License-Identifier: Apache-2.0
// The state of the window: theme, text size, positions of the dividers. Lines "key=value" of one file, in the
// folder of the recent files.
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
// Defaults without a file, and for every invalid line.
[[nodiscard]] WindowLayout ReadLayout(const std::string& path);
// Atomic. Does nothing if it cannot write.
void WriteLayout(const std::string& path, const WindowLayout& layout);

}  // namespace vramscope::viewer
