// SPDX-License-Identifier: Apache-2.0
// A program with ranges, marks and named memory, and the allocations of a PyTorch program (stand_in_c10.cc).
//
//   annotated                    runs once, recorded or not
//   annotated FIRST SECOND       also begins and ends two recordings of itself, into these files
//
// Prints what the calls return, what children it has, and which signals came: a recorder must not add any.
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include <cstdio>
#include <thread>

#include "injector/annotate/vramscope/annotate.h"

namespace c10 {
class ProfiledCPUMemoryReporter {
 public:
  void New(void* address, size_t bytes);
  void Delete(void* address);
};
}  // namespace c10

extern "C" int AnnotateInC(const void* address);  // annotated_in_c.c

namespace {

volatile sig_atomic_t children_ended = 0;

struct Memory {
  explicit Memory(size_t bytes) : block(new char[bytes]) { reporter.New(block, bytes); }
  ~Memory() {
    reporter.Delete(block);
    delete[] block;
  }
  c10::ProfiledCPUMemoryReporter reporter;
  char* block;
};

void Work() {
  const vramscope::Range work("work");
  const Memory cache(4096);
  vramscope::name_block(cache.block, 4096, "kv cache");
  {
    const vramscope::Range inner("inner");
    vramscope::mark("request", 42);
  }
  const uint64_t id = vramscope_begin_range("across threads");
  std::thread([id] { vramscope_end_range(id); }).join();
  std::printf("id %d, recording %d\n", id != 0, vramscope::is_recording());
}

void RecordInto(const char* file) {
  const int begun = vramscope::start(file);
  Work();
  std::printf("start %d, stop %d\n", begun, vramscope::stop());
}

}  // namespace

int main(int argc, char** argv) {
  signal(SIGCHLD, [](int) { children_ended = children_ended + 1; });
  { const Memory first(64); }  // the first event: here a recorder begins
  Work();
  for (int i = 1; i < argc; ++i) RecordInto(argv[i]);
  const Memory pool(1 << 16);
  std::printf("in C %d\n", AnnotateInC(pool.block));
  const bool childless = waitpid(-1, nullptr, 0) < 0 && errno == ECHILD;
  std::printf("no child %d, no signal %d\n", childless, children_ended == 0);
  return 7;
}
