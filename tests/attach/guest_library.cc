// SPDX-License-Identifier: Apache-2.0
// The library that attach_cycles puts into a process. It returns its argument as a number, and uses the heap
// and vector registers on the way, so that unsaved state shows.
//
// hold_loader_lock(): a thread that stays inside the dynamic loader, like one that loads a slow library.
#include <link.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

extern "C" __attribute__((visibility("default"))) int guest_entry(const char* argument) {
  std::vector<double> junk(1000, 3.25);
  for (double& value : junk) value = value * 7.5 + 1;
  return junk[999] == 25.375 ? std::atoi(argument) : -1;
}

static std::atomic<bool> is_held = false;

extern "C" __attribute__((visibility("default"))) int holding() { return is_held ? 1 : 0; }

extern "C" __attribute__((visibility("default"))) void hold_loader_lock(int seconds) {
  dl_iterate_phdr(
      [](dl_phdr_info*, size_t, void* argument) {
        is_held = true;
        sleep(static_cast<unsigned>(*static_cast<int*>(argument)));
        return 1;
      },
      &seconds);
}
