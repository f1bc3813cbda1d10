// SPDX-License-Identifier: Apache-2.0
// The session of a test program: this process is the collector for itself and its forked children.
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

// The only collector of this program, emptied.
inline TestCollector& FreshCollector() {
  static TestCollector collector("ring_bytes=" + std::to_string(kTestRingBytes));
  Initialize();
  collector.Drain();
  collector.Clear();
  return collector;
}

// Drains continuously until out of scope, on a thread that handles no signals.
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

// Options for this process and later children, until out of scope.
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

// Runs `body` in a forked child, which exits 0 afterwards. Returns its pid.
template <typename Body>
pid_t StartChild(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  return child;
}

// The status of a child that has ended, as waitpid gives it.
inline int WaitFor(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace vramscope::injector
