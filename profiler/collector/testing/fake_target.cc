// SPDX-License-Identifier: Apache-2.0
// A program that records by itself, without the injector. The collector's tests start it and compare the
// trace with what it did.
//
//   counted COUNTERS THREADS EVENTS [KILL_AFTER_US]
//                     each thread records marks 1, 2, 3, ...; after each it writes the number into its place
//                     in the file COUNTERS. EVENTS 0 = endless. Another process kills this one.
//   forks DEPTH       a chain of forked processes, each using the names of all before it
//   exec              records, then goes on as another image of the same pid
//   orphan            ends at once; a forked child goes on recording until it is detached
//   programs          notes two programs, one after the other, and dies of SIGKILL
//   garbage SEED      leaves broken ring files
//   signals COUNTERS  counts its signals until SIGUSR2
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "profiler/collector/testing/ring_writer.h"

namespace vramscope::collector::testing {
namespace {

using trace::MarkKind;

std::string Session() { return std::getenv(trace::kSessionVariable); }

uint32_t Pid() { return static_cast<uint32_t>(getpid()); }

uint64_t Now() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
#endif
}

RingSetup Setup(uint32_t rings) {
  RingSetup setup;
  setup.pid = Pid();
  setup.rings = rings;
#if defined(__x86_64__)
  setup.clock = trace::ClockKind::kTsc;
#endif
  return setup;
}

std::atomic<uint64_t>* MapCounters(const char* path) {
  const int fd = open(path, O_RDWR | O_CLOEXEC);
  void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (memory == MAP_FAILED) _exit(93);
  return static_cast<std::atomic<uint64_t>*>(memory);
}

void KillMeAfter(useconds_t microseconds) {
  const pid_t victim = getpid();
  if (fork() != 0) return;
  usleep(microseconds);
  kill(victim, SIGKILL);
  _exit(0);
}

int Counted(std::atomic<uint64_t>* counters, uint32_t threads, uint64_t events, useconds_t kill_after) {
  RingMemory memory(Setup(threads), Session(), 0);
  if (kill_after != 0) KillMeAfter(kill_after);
  std::vector<std::thread> running;
  for (uint32_t i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      RingWriter writer(memory, 1000 + i);
      for (uint64_t n = 1; events == 0 || n <= events; ++n) {
        writer.Mark(Now(), MarkKind::kUser, n);
        counters[i].store(n, std::memory_order_release);
      }
      writer.Close();
    });
  }
  for (std::thread& thread : running) thread.join();
  return 0;
}

int Forks(uint32_t depth) {
  auto memory = std::make_unique<RingMemory>(Setup(1), Session(), 0);
  auto writer = std::make_unique<RingWriter>(*memory);
  std::vector<std::unique_ptr<RingMemory>> inherited;  // those of the parents
  for (uint32_t level = 1;; ++level) {
    writer->DefineString(Now(), level, "level " + std::to_string(level));
    for (uint32_t name = 1; name <= level; ++name) writer->Mark(Now(), MarkKind::kUser, level, name);
    if (level == depth) return 0;
    const uint32_t parent = Pid();
    const pid_t child = fork();
    if (child != 0) {
      int status = 0;
      waitpid(child, &status, 0);
      return WEXITSTATUS(status);
    }
    RingSetup setup = Setup(1);
    setup.forked_from = parent;
    setup.first_own_string = level + 1;
    inherited.push_back(std::move(memory));  // stays mapped, as in a real fork until the injector drops it
    memory = std::make_unique<RingMemory>(setup, Session(), 0);
    writer = std::make_unique<RingWriter>(*memory);
  }
}

int Exec(const char* program) {
  const bool again = access((Session() + "/" + std::to_string(Pid()) + ".0.ring").c_str(), F_OK) == 0;
  RingMemory memory(Setup(1), Session(), again ? 1 : 0);
  RingWriter writer(memory);
  writer.Mark(Now(), MarkKind::kUser, again ? 2 : 1);
  if (again) return 0;
  writer.Mark(Now(), MarkKind::kExec, 0);
  execl(program, program, "exec", nullptr);
  return 94;
}

int Orphan() {
  int ready[2];
  if (pipe(ready) != 0) return 98;
  if (fork() != 0) {
    char byte = 0;
    return read(ready[0], &byte, 1) == 1 ? 0 : 98;
  }
  RingMemory memory(Setup(1), Session(), 0);
  RingWriter writer(memory);
  for (uint64_t n = 1; memory.header().detached.load() == 0; ++n) {
    writer.Mark(Now(), MarkKind::kUser, n);
    if (n == 1 && write(ready[1], "r", 1) != 1) return 99;
    usleep(1000);
  }
  return 0;
}

int Programs() {
  RingMemory memory(Setup(1), Session(), 0);
  RingWriter writer(memory);
  writer.Mark(Now(), MarkKind::kUser, 1);
  const std::string path = Session() + "/" + std::to_string(Pid()) + ".0" + trace::kProgramSuffix;
  for (uint64_t step : {3, 6}) {
    const std::string text = R"({"step": )" + std::to_string(step) + "}";
    const int fd = open((path + ".new").c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
    if (write(fd, &step, sizeof step) < 0 || write(fd, text.data(), text.size()) < 0) return 95;
    close(fd);
    if (rename((path + ".new").c_str(), path.c_str()) != 0) return 95;
  }
  // One program of an unknown process, and one that is not a regular file.
  if (symlink("/dev/zero", (Session() + "/1.0" + trace::kProgramSuffix).c_str()) != 0) return 95;
  return kill(getpid(), SIGKILL);
}

int Garbage(uint32_t seed) {
  std::mt19937_64 random(seed);
  RingMemory memory(Setup(4), Session(), 0);
  RingWriter writer(memory);
  writer.Mark(Now(), MarkKind::kUser, 1);
  memory.header().ring_count.store(static_cast<uint32_t>(random()));
  for (uint32_t ring = 1; ring < 4; ++ring) {
    auto* words = reinterpret_cast<uint64_t*>(memory.ring_data(ring));
    for (size_t i = 0; i < memory.ring_bytes() / 8; ++i) words[i] = random();
    memory.ring(ring).head.store(random() % 2 == 0 ? random() : random() % memory.ring_bytes());
    memory.ring(ring).lost_count.store(random() % 2);
  }
  for (const char* name : {"/1.ring", "/x.y.ring", "/9.9.ring", "/other"}) {
    const int fd = open((Session() + name).c_str(), O_CREAT | O_WRONLY, 0600);
    std::vector<char> bytes(random() % 10'000, static_cast<char>(random()));
    if (write(fd, bytes.data(), bytes.size()) < 0) return 95;
    close(fd);
  }
  const std::string cut = Session() + "/" + std::to_string(Pid()) + ".0.ring";
  if (random() % 2 == 0 && truncate(cut.c_str(), static_cast<off_t>(random() % memory.size())) != 0)
    return 96;
  return 0;
}

std::atomic<uint64_t>* signal_counters;

void CountSignal(int signal) { signal_counters[signal].fetch_add(1); }

int Signals(std::atomic<uint64_t>* counters) {
  signal_counters = counters;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGQUIT, SIGCONT, SIGALRM, SIGXCPU,
                           SIGPROF, SIGVTALRM, SIGPWR, 40})
    ::signal(signal, CountSignal);
  counters[0].store(Pid());  // ready
  while (counters[SIGUSR2].load() == 0) usleep(1000);
  return 17;
}

int Run(int count, char** words) {
  const std::string mode = count > 1 ? words[1] : "";
  const auto number = [&](int index) { return index < count ? std::strtoull(words[index], nullptr, 10) : 0; };
  if (mode == "counted") {
    return Counted(MapCounters(words[2]), static_cast<uint32_t>(number(3)), number(4),
                   static_cast<useconds_t>(number(5)));
  }
  if (mode == "forks") return Forks(static_cast<uint32_t>(number(2)));
  if (mode == "exec") return Exec(words[0]);
  if (mode == "orphan") return Orphan();
  if (mode == "programs") return Programs();
  if (mode == "garbage") return Garbage(static_cast<uint32_t>(number(2)));
  if (mode == "signals") return Signals(MapCounters(words[2]));
  return 97;
}

}  // namespace
}  // namespace vramscope::collector::testing

int main(int count, char** words) { return vramscope::collector::testing::Run(count, words); }
