// SPDX-License-Identifier: Apache-2.0
// vramscope_program of api.h: writes the program to its own file in the session folder, next to the rings.
//
// Why a file: it is too large for a ring, and there is only one. It is renamed when it is complete, so the
// collector never sees half of it. It stays if this process is killed.
//
//   <session>/<pid>.<n>.program      step, 8 bytes, little endian │ text
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "injector/core/api.h"
#include "injector/core/options.h"
#include "injector/core/session.h"
#include "injector/core/session_file.h"
#include "trace_format/ring.h"

namespace vramscope::injector {
namespace {

bool WriteAll(int file, const void* data, size_t length) {
  const char* at = static_cast<const char*>(data);
  while (length > 0) {
    const ssize_t step = write(file, at, length);
    if (step < 0 && errno == EINTR) continue;
    if (step <= 0) return false;
    at += step;
    length -= static_cast<size_t>(step);
  }
  return true;
}

bool WriteProgram(const char* text, size_t length, uint64_t step) {
  char path[kPathBytes];
  char unfinished[kPathBytes + 4];
  const int pid = static_cast<int>(getpid());
  snprintf(path, sizeof path, "%s/%d.%u%s", options.session, pid, SessionImage(), trace::kProgramSuffix);
  snprintf(unfinished, sizeof unfinished, "%s.new", path);
  unlink(unfinished);
  const int file = open(unfinished, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return false;
  const bool written =
      HasRoomBeside(file, length) && WriteAll(file, &step, sizeof step) && WriteAll(file, text, length);
  close(file);
  if (written && rename(unfinished, path) == 0) return true;
  unlink(unfinished);
  return false;
}

}  // namespace
}  // namespace vramscope::injector

extern "C" __attribute__((visibility("default"))) int vramscope_program(const char* text, size_t length,
                                                                        uint64_t step) {
  using namespace vramscope::injector;
  if (text == nullptr || length > vramscope::trace::kMostProgramBytes || RecordingFile() == nullptr) return 0;
  const int error = errno;
  const bool written = WriteProgram(text, length, step);
  errno = error;
  return written ? 1 : 0;
}
