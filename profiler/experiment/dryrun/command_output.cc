// SPDX-License-Identifier: Apache-2.0
#include "profiler/experiment/dryrun/command_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace vramscope::experiment {
namespace {

void Restore(int saved, int descriptor) {
  if (saved < 0) return;
  dup2(saved, descriptor);
  close(saved);
}

}  // namespace

Redirected::Redirected(CommandOutput output, const std::string& file) {
  if (output == CommandOutput::kAsItIs) return;
  std::fflush(nullptr);
  const int target = output == CommandOutput::kToStderr
                         ? STDERR_FILENO
                         : open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (target < 0) return;
  saved_out_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  dup2(target, STDOUT_FILENO);
  if (output != CommandOutput::kToFile) return;
  saved_err_ = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  dup2(target, STDERR_FILENO);
  close(target);
}

Redirected::~Redirected() {
  Restore(saved_out_, STDOUT_FILENO);
  Restore(saved_err_, STDERR_FILENO);
}

}  // namespace vramscope::experiment
