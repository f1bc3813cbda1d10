// SPDX-License-Identifier: Apache-2.0
// The recording session of a test program. The test process acts as the collector for itself and for its
// forked children.
#pragma once

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "injector/core/options.h"
#include "injector/core/session.h"
#include "injector/core/test_collector.h"
#include "injector/core/thread_ring.h"

namespace vramscope::injector {

inline constexpr uint64_t kTestRingBytes = 1 << 16;

// Returns the only collector of this program, without its earlier records.
inline TestCollector& FreshCollector() {
  static TestCollector collector("ring_bytes=" + std::to_string(kTestRingBytes));
  Initialize();
  collector.Drain();
  collector.Clear();
  return collector;
}

// Drains the rings continuously on a thread of its own that handles no signals, until the object is
// destroyed.
class DrainingThread {
 public:
  explicit DrainingThread(TestCollector& collector)
      : thread_([&collector](std::stop_token stop) {
          sigset_t all;
          sigfillset(&all);
          pthread_sigmask(SIG_BLOCK, &all, nullptr);
          while (!stop.stop_requested()) collector.Drain();
        }) {}

 private:
  std::jthread thread_;
};

// Sets the options of this process and of children that are forked later, until the object is destroyed.
class ScopedOptions {
 public:
  explicit ScopedOptions(const char* text) : saved_(options.text) { strcpy(options.text, text); }
  ~ScopedOptions() { strcpy(options.text, saved_.c_str()); }
  ScopedOptions(const ScopedOptions&) = delete;
  ScopedOptions& operator=(const ScopedOptions&) = delete;

 private:
  std::string saved_;
};

inline bool RecordCounter(uint64_t value) {
  return Record(trace::EventType::kMark, static_cast<uint16_t>(trace::MarkKind::kUser), 0, value, 0);
}

// Runs `body` in a forked child, which then exits with status 0. Returns the child's process id.
template <typename Body>
pid_t StartChild(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  return child;
}

// Waits until the child has ended. Returns its status as waitpid() does.
inline int WaitFor(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace vramscope::injector
