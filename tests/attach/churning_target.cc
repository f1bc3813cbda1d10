// SPDX-License-Identifier: Apache-2.0
// A target that is hard to enter. Threads start and exit all the time; all allocate, some sleep, some handle
// signals. Each checks that nothing of its own was changed.
//
//   churning_target SECONDS THREADS    prints "ready", works, prints "sum N" and exits with 7;
//                                      N is the same in each run
//
// Each piece of work is a fixed computation with vector registers, heap blocks and a signal handler. A wrong
// result, a lost signal or a system call that fails with EINTR ends the program with another code.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kExpectedExit = 7;
constexpr int kBlocks = 40;

std::atomic<long> signals_handled = 0;
std::atomic<long> signals_sent = 0;
std::atomic<bool> stop = false;
std::atomic<long> pieces = 0;

[[noreturn]] void Fail(const char* what) {
  std::fprintf(stderr, "churning_target: %s\n", what);
  std::_Exit(3);
}

// The same number whatever happens around it.
double Work(int seed) {
  std::vector<std::unique_ptr<std::vector<double>>> blocks;
  double sum = 0;
  for (int i = 0; i < kBlocks; ++i) {
    blocks.push_back(std::make_unique<std::vector<double>>(64 + (i * 37 + seed) % 512, 0.5));
    double lanes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (double& value : *blocks.back()) {
      for (double& lane : lanes) lane = lane * 1.0001 + value;
      value = lanes[i % 8];
    }
    for (const double lane : lanes) sum += lane;
  }
  return sum;
}

void DoPiece(int seed) {
  static const double expected[4] = {Work(0), Work(1), Work(2), Work(3)};
  if (Work(seed % 4) != expected[seed % 4]) Fail("a computation gave another result");
  ++pieces;
}

void BirthsAndDeaths() {
  for (int turn = 0; !stop; ++turn) {
    std::vector<std::thread> young;
    for (int i = 0; i < 4; ++i) young.emplace_back([turn, i] { DoPiece(turn + i); });
    for (std::thread& thread : young) thread.join();
  }
}

void Sleeper() {
  while (!stop) {
    const timespec nap = {0, 3'000'000};
    if (nanosleep(&nap, nullptr) != 0 && errno != EINTR) Fail("nanosleep failed");
    if (poll(nullptr, 0, 1) != 0) Fail("poll was broken off");
    DoPiece(2);
  }
}

// Sends itself signals; each must arrive once.
void Signaler() {
  while (!stop) {
    ++signals_sent;
    if (raise(SIGUSR1) != 0) Fail("raise failed");
    DoPiece(3);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 1;
  const int threads = argc > 2 ? std::atoi(argv[2]) : 3;
  struct sigaction action = {};
  action.sa_handler = [](int) { ++signals_handled; };
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  DoPiece(0);
  std::printf("ready\n");
  std::fflush(stdout);

  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i)
    workers.emplace_back(i % 3 == 0 ? BirthsAndDeaths : i % 3 == 1 ? Sleeper : Signaler);
  // The program ends after SECONDS, or when its input ends.
  pollfd input = {STDIN_FILENO, POLLIN | POLLHUP, 0};
  poll(&input, 1, static_cast<int>(seconds * 1000));
  stop = true;
  for (std::thread& worker : workers) worker.join();
  if (signals_sent != signals_handled) Fail("a signal was lost");
  std::printf("sum %.6f\n", Work(5));
  return kExpectedExit;
}
