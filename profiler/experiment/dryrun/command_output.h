// SPDX-License-Identifier: Apache-2.0
// Redirects the output of a command that vramscope runs, so that it does not mix with vramscope's own output.
#pragma once

#include <string>

namespace vramscope::experiment {

enum class CommandOutput { kAsItIs, kToStderr, kToFile };

// Redirects standard output of this process while the object exists; kToFile also redirects standard error.
// The redirection affects all threads.
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
