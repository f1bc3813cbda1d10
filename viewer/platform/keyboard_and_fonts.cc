// SPDX-License-Identifier: Apache-2.0
#include "viewer/platform/keyboard_and_fonts.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

namespace vramscope::viewer {
namespace {

struct NamedKey {
  const char* name;
  Key key;
  ImGuiKey imgui;
};

// The keys that ImGui's text fields understand, and their names in scripts.
constexpr std::array<NamedKey, 13> kNamedKeys = {{{"escape", Key::kEscape, ImGuiKey_Escape},
                                                  {"enter", Key::kEnter, ImGuiKey_Enter},
                                                  {"tab", Key::kTab, ImGuiKey_Tab},
                                                  {"backspace", Key::kBackspace, ImGuiKey_Backspace},
                                                  {"delete", Key::kDelete, ImGuiKey_Delete},
                                                  {"right", Key::kRight, ImGuiKey_RightArrow},
                                                  {"left", Key::kLeft, ImGuiKey_LeftArrow},
                                                  {"down", Key::kDown, ImGuiKey_DownArrow},
                                                  {"up", Key::kUp, ImGuiKey_UpArrow},
                                                  {"pageup", Key::kPageUp, ImGuiKey_PageUp},
                                                  {"pagedown", Key::kPageDown, ImGuiKey_PageDown},
                                                  {"home", Key::kHome, ImGuiKey_Home},
                                                  {"end", Key::kEnd, ImGuiKey_End}}};

// Letters that text fields take with Ctrl: select all, copy, paste, cut, redo, undo.
constexpr std::array<std::pair<char, ImGuiKey>, 6> kEditingLetters = {{{'A', ImGuiKey_A},
                                                                       {'C', ImGuiKey_C},
                                                                       {'V', ImGuiKey_V},
                                                                       {'X', ImGuiKey_X},
                                                                       {'Y', ImGuiKey_Y},
                                                                       {'Z', ImGuiKey_Z}}};

}  // namespace

bool KeyQueue::Take(Key key, bool ctrl, bool shift, bool alt) {
  const auto found = std::find_if(presses_.begin(), presses_.end(), [&](const KeyPress& press) {
    return press.key == key && press.ctrl == ctrl && press.shift == shift && press.alt == alt;
  });
  if (found == presses_.end()) return false;
  presses_.erase(found);
  return true;
}

void FeedKey(const KeyPress& press, bool down) {
  ImGuiIO& io = ImGui::GetIO();
  io.AddKeyEvent(ImGuiMod_Ctrl, press.ctrl && down);
  io.AddKeyEvent(ImGuiMod_Shift, press.shift && down);
  io.AddKeyEvent(ImGuiMod_Alt, press.alt && down);
  for (const NamedKey& named : kNamedKeys) {
    if (named.key == press.key) io.AddKeyEvent(named.imgui, down);
  }
  for (const auto& [letter, key] : kEditingLetters) {
    if (static_cast<Key>(letter) == press.key) io.AddKeyEvent(key, down);
  }
}

bool KeyFromName(const std::string& name, KeyPress& press) {
  press = {};
  std::string_view rest = name;
  for (const auto& [prefix, flag] : {std::pair{std::string_view("ctrl+"), &KeyPress::ctrl},
                                     {std::string_view("shift+"), &KeyPress::shift},
                                     {std::string_view("alt+"), &KeyPress::alt}}) {
    if (!rest.starts_with(prefix)) continue;
    press.*flag = true;
    rest.remove_prefix(prefix.size());
  }
  if (rest == "space") rest = " ";
  if (rest == "f1") {
    press.key = Key::kF1;
    return true;
  }
  if (rest.size() == 1) {
    press.key = static_cast<Key>(std::toupper(static_cast<unsigned char>(rest[0])));
    return true;
  }
  for (const NamedKey& named : kNamedKeys) {
    if (rest != named.name) continue;
    press.key = named.key;
    return true;
  }
  return false;
}

}  // namespace vramscope::viewer
