// SPDX-License-Identifier: Apache-2.0
// Where the output of a command goes that is run for its figures: the answer must stay apart from it. And how
// the command ended.
#pragma once

#include <cstddef>
#include <string>

namespace vramscope::cli {

enum class CommandOutput { kAsItIs, kToStderr, kToFile };

// While it lives, standard output, and with a file also standard error, go elsewhere. Of the whole process:
// not for two threads.
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

// Of what a command wrote, shown where it failed: so many bytes of the end.
inline constexpr size_t kLogShown = 2000;

// The exit status that says what the command's did; where it died of a signal, this program does too.
int ExitAsCommand(int wait_status);

}  // namespace vramscope::cli
