// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/journal.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "injector/simulated_cuda/device/settings.h"

namespace vramscope::simulated {

void NoteInJournal(int device, const LedgerRow& row) {
  static const int file =
      TheSettings().journal == nullptr
          ? -1
          : open(TheSettings().journal, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return;
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  char line[256];
  const int length = std::snprintf(line, sizeof(line), "%lld%09ld %d %llu %s %s\n",
                                   static_cast<long long>(now.tv_sec), now.tv_nsec, device,
                                   static_cast<unsigned long long>(row.live_bytes), row.call, row.library);
  if (write(file, line, std::min(sizeof(line), static_cast<size_t>(length))) < 0) {
    // Not reported: a test misses the line.
  }
}

}  // namespace vramscope::simulated
