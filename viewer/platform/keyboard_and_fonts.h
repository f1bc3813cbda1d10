// SPDX-License-Identifier: Apache-2.0
// The key presses and the fonts of the viewer.
//
// A view takes the keys that it understands, in order, and leaves the others for the next view. A script, a
// page and a window fill the queue.
#pragma once

#include <imgui.h>

#include <string>
#include <vector>

namespace vramscope::viewer {

// Printable keys are ASCII, letters in upper case. Others are numbered as in GLFW 3.
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

// Keys since the last frame, in order.
class KeyQueue {
 public:
  void Push(const KeyPress& press) { presses_.push_back(press); }
  // True if this key was pressed. Removes the press.
  bool Take(Key key, bool ctrl = false, bool shift = false, bool alt = false);
  bool Take(char key, bool ctrl = false, bool shift = false) {
    return Take(static_cast<Key>(key), ctrl, shift);
  }
  void Clear() { presses_.clear(); }

 private:
  std::vector<KeyPress> presses_;
};

// Without a window: passes keys to ImGui's text fields.
void FeedKey(const KeyPress& press, bool down);
// "ctrl+f", "left", "+", "w". False for unknown keys.
[[nodiscard]] bool KeyFromName(const std::string& name, KeyPress& press);

struct Font {
  ImFont* face = nullptr;
  float size = 0;  // in pixels; UseLook scales it
};

struct Fonts {
  Font text;
  Font strong;        // headings
  Font mono;          // numbers, addresses
  Font small;         // axes
  std::string names;  // of the files, for About
};

// Loads all fonts, each from the first existing file of a list, or ImGui's own. `preferred`: tried first.
Fonts LoadFonts(const std::string& preferred);

}  // namespace vramscope::viewer
