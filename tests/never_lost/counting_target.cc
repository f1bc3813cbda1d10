// SPDX-License-Identifier: Apache-2.0
// Reports allocations as fast as it can until it is killed, and counts them in a file that outlives it.
//
//   counting_target COUNTERS THREADS PAUSE_NS      COUNTERS: a file of THREADS times two uint64: begun, done
//
// Each thread waits PAUSE_NS between two allocations. With 0 the rings fill up, and the target waits for the
// collector. Thread t reports block k at the k-th address of its own range: address = (t + 1) << 40 | k << 8.
// So a trace shows which allocations it holds, and that none is missing in between. `begun` is stored before
// the report and `done` after it; every `done` one must be in the trace.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

namespace c10 {
class ProfiledCPUMemoryReporter {
 public:
  void New(void* address, size_t bytes);
  void Delete(void* address);
};
}  // namespace c10

namespace {

struct Counters {
  std::atomic<uint64_t> begun;
  std::atomic<uint64_t> done;
};

void* BlockAddress(uint64_t thread, uint64_t k) {
  return reinterpret_cast<void*>((thread + 1) << 40 | k << 8);
}

void Pause(std::chrono::nanoseconds duration) {
  const auto end = std::chrono::steady_clock::now() + duration;
  while (std::chrono::steady_clock::now() < end) {
  }
}

void Report(uint64_t thread, std::chrono::nanoseconds pause, Counters& counters) {
  c10::ProfiledCPUMemoryReporter reporter;
  for (uint64_t k = 1;; ++k) {
    counters.begun.store(k, std::memory_order_release);
    reporter.New(BlockAddress(thread, k), 64);
    counters.done.store(k, std::memory_order_release);
    reporter.Delete(BlockAddress(thread, k));
    Pause(pause);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const uint64_t threads = std::strtoull(argv[2], nullptr, 10);
  const std::chrono::nanoseconds pause(std::strtoull(argv[3], nullptr, 10));
  const int file = open(argv[1], O_RDWR);
  void* memory = mmap(nullptr, threads * sizeof(Counters), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return 2;
  auto* counters = static_cast<Counters*>(memory);
  std::vector<std::thread> running;
  for (uint64_t thread = 0; thread < threads; ++thread)
    running.emplace_back(Report, thread, pause, std::ref(counters[thread]));
  for (std::thread& thread : running) thread.join();
  return 0;
}
