// SPDX-License-Identifier: Apache-2.0
// Redirects the output of a command, so that it does not mix with the answer.
#pragma once

#include <string>

namespace vramscope::experiment {

enum class CommandOutput { kAsItIs, kToStderr, kToFile };

// While the object lives, standard output is redirected. kToFile: standard error too. Affects the whole
// process: not thread-safe.
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

}  // namespace vramscope::experiment
