// SPDX-License-Identifier: Apache-2.0
// The `vramscope` command with all verbs.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "profiler/cli/frame/verb.h"
#include "profiler/collector/output/trace_claim.h"

namespace vramscope::cli {
namespace {

// A write beyond the limit of `ulimit -f` kills a process with SIGXFSZ. With a handler, the write fails as on
// a full disk, and we print an error. (If we ignored the signal, so would the programs that we start.)
void LetFileLimitsBeErrors() {
  struct sigaction found {};
  if (sigaction(SIGXFSZ, nullptr, &found) != 0 || found.sa_handler != SIG_DFL) return;
  found.sa_handler = [](int) {};
  found.sa_flags = SA_RESTART;
  sigaction(SIGXFSZ, &found, nullptr);
}

// If the caller has closed descriptor 0, 1 or 2, a file that we open must not get that number: a program that
// we start would write into it. O_CLOEXEC closes them again for that program.
void OccupyClosedStandardDescriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR | O_CLOEXEC) != fd) return;
  }
}

}  // namespace
}  // namespace vramscope::cli

int main(int count, char** words) {
  vramscope::collector::NoteProcessStart();
  vramscope::cli::LetFileLimitsBeErrors();
  vramscope::cli::OccupyClosedStandardDescriptors();
  return vramscope::cli::RunCommandLine({words + 1, words + count});
}
