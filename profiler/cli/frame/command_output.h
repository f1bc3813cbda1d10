// SPDX-License-Identifier: Apache-2.0
// Redirects the output of a command that is run for its figures, so that it does not mix with the answer.
// Also reports how the command ended.
#pragma once

#include <cstddef>
#include <string>

namespace vramscope::cli {

enum class CommandOutput { kAsItIs, kToStderr, kToFile };

// Redirects standard output while it lives; with a file, also standard error. It affects the whole process:
// not thread-safe.
class Redirected {
 public:
  Redirected(CommandOutput output, const std::string& file);
  ~Redirected();
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;

 private:
  int saved_out_ = -1;
  int saved_err_ = -1;
};

// Number of bytes that are shown from the end of a failed command's output.
inline constexpr size_t kLogShown = 2000;

// Exits with the command's exit status; if a signal killed the command, the same signal kills this program.
int ExitAsCommand(int wait_status);

}  // namespace vramscope::cli
