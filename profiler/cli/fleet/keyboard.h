// SPDX-License-Identifier: Apache-2.0
// Reads single keys from the terminal, without Enter and without echo, until this object is destroyed.
#pragma once

#include <termios.h>

#include <chrono>
#include <optional>

namespace vramscope::cli {

class Keyboard {
 public:
  // Changes the mode of the terminal. If stdin is not a terminal, there() is false and Wait() never returns a
  // key.
  Keyboard();
  ~Keyboard();
  Keyboard(const Keyboard&) = delete;
  Keyboard& operator=(const Keyboard&) = delete;

  // Returns the next key, or nullopt if no key is pressed within `patience`.
  [[nodiscard]] std::optional<char> Wait(std::chrono::milliseconds patience) const;
  [[nodiscard]] bool there() const { return there_; }

 private:
  termios before_{};
  bool there_ = false;
};

}  // namespace vramscope::cli
