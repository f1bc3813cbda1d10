// SPDX-License-Identifier: Apache-2.0
// Keys and fonts: the two things that differ between the Dear ImGui releases of the distributions (1.86 in
// Debian 12, 1.89 and 1.90 in Ubuntu 24.04 and Debian 13). Everything that depends on the release is in
// keyboard_and_fonts.cc and installed_fonts.cc.
//
// Why an event queue of our own: before 1.87, a key that goes down and up within one frame is lost, one tap
// in three at 60 frames a second.
#pragma once

#include <imgui.h>

#include <string>
#include <vector>

namespace vramscope::viewer {

// Printable keys are their ASCII character, letters in upper case; other keys are numbered as in GLFW 3.
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

// Keys pressed since the last frame, in order; filled by the window or by a script, emptied by the frame.
class KeyQueue {
 public:
  void Push(const KeyPress& press) { presses_.push_back(press); }
  // True if it was pressed; removes it from the queue.
  bool Take(Key key, bool ctrl = false, bool shift = false, bool alt = false);
  bool Take(char key, bool ctrl = false, bool shift = false) {
    return Take(static_cast<Key>(key), ctrl, shift);
  }
  void Clear() { presses_.clear(); }

 private:
  std::vector<KeyPress> presses_;
};

// Without a window: reports key presses and releases to ImGui's text fields.
void PrepareKeyboardWithoutWindow();
void FeedKey(const KeyPress& press, bool down);
// "ctrl+f", "left", "+", "w". False for unknown keys.
[[nodiscard]] bool KeyFromName(const std::string& name, KeyPress& press);

struct Fonts {
  ImFont* text = nullptr;
  ImFont* strong = nullptr;  // headings
  ImFont* mono = nullptr;    // numbers, addresses
  ImFont* small = nullptr;   // axes
  std::string names;         // of the files, for About
};

// Loads them at `scale` times their size, from the first existing file of a list; ImGui's own font if there
// is none. `preferred`: a file to try first.
Fonts LoadFonts(float scale, const std::string& preferred);

}  // namespace vramscope::viewer
