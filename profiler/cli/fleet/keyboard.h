// SPDX-License-Identifier: Apache-2.0
// Reads single keys from the terminal, without Enter and without echo, until this object is destroyed.
#pragma once

#include <termios.h>

#include <chrono>
#include <optional>

namespace vramscope::cli {

class Keyboard {
 public:
  // Does nothing if stdin is not a terminal. Then no key ever comes.
  Keyboard();
  ~Keyboard();
  Keyboard(const Keyboard&) = delete;
  Keyboard& operator=(const Keyboard&) = delete;

  // The next key, or nothing if no key came within `patience`.
  [[nodiscard]] std::optional<char> Wait(std::chrono::milliseconds patience) const;
  [[nodiscard]] bool there() const { return there_; }

 private:
  termios before_{};
  bool there_ = false;
};

}  // namespace vramscope::cli
