// SPDX-License-Identifier: Apache-2.0
// The key presses and the fonts of the viewer.
//
// Key presses are in a queue. Each view removes the keys that it handles and leaves the other keys for the
// next view. The window, the web page or a script fills the queue.
#pragma once

#include <imgui.h>

#include <string>
#include <vector>

namespace vramscope::viewer {

// Key codes. Printable keys have their ASCII code, letters in upper case. Other keys have the numbers of GLFW
// 3.
enum class Key : int {
  kSpace = 32,
  kEscape = 256,
  kEnter = 257,
  kTab = 258,
  kBackspace = 259,
  kDelete = 261,
  kRight = 262,
  kLeft = 263,
  kDown = 264,
  kUp = 265,
  kPageUp = 266,
  kPageDown = 267,
  kHome = 268,
  kEnd = 269,
  kF1 = 290,
};

struct KeyPress {
  Key key{};
  bool ctrl = false;
  bool shift = false;
  bool alt = false;
};

// The key presses since the last frame, in order.
class KeyQueue {
 public:
  void Push(const KeyPress& press) { presses_.push_back(press); }
  // Returns true and removes the key press if this key was pressed.
  bool Take(Key key, bool ctrl = false, bool shift = false, bool alt = false);
  bool Take(char key, bool ctrl = false, bool shift = false) {
    return Take(static_cast<Key>(key), ctrl, shift);
  }
  void Clear() { presses_.clear(); }

 private:
  std::vector<KeyPress> presses_;
};

// Passes a key to ImGui's text fields, for a viewer without a window.
void FeedKey(const KeyPress& press, bool down);
// Parses "ctrl+f", "left", "+" or "w" into `press`. Returns false for unknown keys.
[[nodiscard]] bool KeyFromName(const std::string& name, KeyPress& press);

struct Font {
  ImFont* face = nullptr;
  float size = 0;  // pixels; UseLook scales this value
};

struct Fonts {
  Font text;
  Font strong;        // headings
  Font mono;          // numbers, addresses
  Font small;         // axes
  std::string names;  // names of the font files, for About
};

// Loads all fonts. Each font comes from the first existing file of a list, or is ImGui's default font. The
// file `preferred` is tried first.
Fonts LoadFonts(const std::string& preferred);

}  // namespace vramscope::viewer
