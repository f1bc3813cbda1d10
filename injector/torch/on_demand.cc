// SPDX-License-Identifier: Apache-2.0
#include "injector/torch/on_demand.h"

#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "injector/core/api.h"
#include "injector/core/block_filter.h"
#include "injector/core/options.h"
#include "injector/core/session.h"
#include "injector/core/slot_patcher.h"
#include "injector/cuda/late_hooks.h"
#include "injector/torch/async_allocator_hooks.h"
#include "injector/torch/cuda_allocator_hooks.h"
#include "injector/torch/deep_window.h"
#include "injector/torch/hook_table.h"
#include "injector/torch/python_route.h"
#include "injector/torch/readiness.h"

namespace vramscope::injector {
namespace {

constexpr timespec kLookEvery = {0, 20'000'000};
constexpr int kLooksBetweenSearches = 25;  // a search of all objects for slots takes tens of milliseconds
constexpr int kPythonPatienceMs = 3000;
constexpr size_t kStackBytes = 512 << 10;

constexpr int kPythonTurnMs = 100;

struct Request {
  char folder[sizeof(Options::session)];
  char text[sizeof(Options::text)];
  int collector;
};
constinit Request request = {};
constinit std::atomic<bool> end_wanted = false;
// The pid of the process while its hooks are in place; a forked child has no recording thread.
constinit std::atomic<pid_t> in_place = 0;

//   kIdle ──► kRequested ──► kWaiting ──► kStarting ──► kRecording ──► kLeaving ──► kIdle
//                  ▲                                        │              │
//                  └────────────────────────────────────────┴──────────────┘
//                    a request that arrives when the previous recording is over, but not yet fully removed
//
// kRequested: the requesting thread writes `request`; from kWaiting on, the serving thread reads it. Stored
// in one word with the pid of the process, because a forked child has no such thread.
enum class Phase : uint8_t { kIdle, kRequested, kWaiting, kStarting, kRecording, kLeaving };
constinit std::atomic<uint64_t> phase_word = 0;

uint64_t WordOf(Phase phase) { return static_cast<uint64_t>(getpid()) << 8 | static_cast<uint8_t>(phase); }
Phase PhaseOf(uint64_t word) {
  return word >> 8 == static_cast<uint64_t>(getpid()) ? static_cast<Phase>(word & 0xFF) : Phase::kIdle;
}
void Enter(Phase phase) { phase_word.store(WordOf(phase), std::memory_order_release); }
// False when it was in another phase.
bool Advance(Phase from, Phase to) {
  uint64_t word = WordOf(from);
  return phase_word.compare_exchange_strong(word, WordOf(to), std::memory_order_acq_rel);
}

// The number of objects loaded so far in this process; grows when a library is loaded.
unsigned long long LoadedObjects() {
  unsigned long long count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* argument) {
        *static_cast<unsigned long long*>(argument) = info->dlpi_adds;
        return 1;
      },
      &count);
  return count;
}

// Resets state of an earlier recording that would be wrong in this one.
void ForgetEarlierRecording() {
  for (Hook& hook : torch_hooks) hook.proven.store(false, std::memory_order_relaxed);
  real_functions.Forget();
  block_filter.ready.store(0, std::memory_order_release);
  ForgetDeepWindows();
}

bool Ended() {
  if (end_wanted.load(std::memory_order_relaxed) || RecordingFile() == nullptr) return true;
  return CollectorGone();
}

// Calls of torch by objects that are loaded later bypass us until their slots are patched too.
void PatchWhatComes(unsigned long long& known, int& looks) {
  if (++looks % kLooksBetweenSearches != 0) return;
  const unsigned long long loaded = LoadedObjects();
  if (loaded == known) return;
  known = loaded;
  PatchSlots(torch_hooks, kHookCount);
  WatchAsyncAllocator();
  WatchCudaAllocator();
  PatchDriverLate();
}

void Record() {
  ForgetEarlierRecording();
  unsigned long long known = LoadedObjects();
  PatchDriverLate();
  TorchReady();
  if (PythonRuns()) StartShimInPython();
  in_place.store(getpid(), std::memory_order_release);
  int looks = 0;
  while (!Ended()) {
    nanosleep(&kLookEvery, nullptr);
    StartShimInPythonIfItWasNoMoment();
    PatchWhatComes(known, looks);
  }
}

void StepAside() {
  in_place.store(0, std::memory_order_release);
  CloseDeepWindow();
  RestoreSlots(torch_hooks, kHookCount);
  StopWatchingAsyncAllocator();
  StopWatchingCudaAllocator();
  RestoreDriverLate();
  StopShimInPython(kPythonPatienceMs);
  StopSession();
}

// Waits until everything is removed, or the next recording is requested. Returns true if the thread may end.
bool Leave() {
  const auto wanted = [] { return PhaseOf(phase_word.load(std::memory_order_acquire)) != Phase::kLeaving; };
  while (!wanted() && !StopShimInPython(kPythonTurnMs)) continue;
  return Advance(Phase::kLeaving, Phase::kIdle);
}

void RecordOnce() {
  while (!Advance(Phase::kWaiting, Phase::kStarting)) nanosleep(&kLookEvery, nullptr);
  end_wanted.store(false, std::memory_order_relaxed);
  StopSession();  // one whose collector has gone, if there is any
  const bool started = StartSessionIn(request.folder, request.text, request.collector);
  Enter(Phase::kRecording);
  if (started) {
    Record();
    StepAside();
  }
  Advance(Phase::kRecording, Phase::kLeaving);
}

void* Serve(void*) {
  prctl(PR_SET_NAME, "vramscope");
  do {
    RecordOnce();
  } while (!Leave());
  return nullptr;
}

// Starts the recording thread, which handles no signal of the program.
bool StartThread() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  int failed = pthread_create(&thread, &attributes, Serve, nullptr);
  if (failed == EINVAL) {  // the program has more thread-local memory than fits into that stack
    pthread_attr_setstacksize(&attributes, kStackBytes + (64 << 20));
    failed = pthread_create(&thread, &attributes, Serve, nullptr);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return failed == 0;
}

// Returns true if the caller may now write `request`.
bool TakeRequest(Phase& before) {
  uint64_t word = phase_word.load(std::memory_order_acquire);
  do {
    before = PhaseOf(word);
    if (before != Phase::kIdle && before != Phase::kRecording && before != Phase::kLeaving) return false;
  } while (!phase_word.compare_exchange_weak(word, WordOf(Phase::kRequested), std::memory_order_acq_rel));
  return true;
}

// Copies up to the end of the next line. Returns the start of the line after it, or nullptr if there is none
// or no room.
const char* TakeLine(const char* from, char* to, size_t capacity) {
  const char* const end = strchr(from, '\n');
  if (end == nullptr || static_cast<size_t>(end - from) >= capacity) return nullptr;
  memcpy(to, from, static_cast<size_t>(end - from));
  to[end - from] = 0;
  return end + 1;
}

}  // namespace

BeginResult BeginRecording(const char* folder, const char* text, int collector) {
  if (strlen(folder) >= sizeof request.folder || strlen(text) >= sizeof request.text || folder[0] == 0)
    return BeginResult::kBadRequest;
  Phase before = Phase::kIdle;
  if (RecordingFile() != nullptr || !TakeRequest(before)) return BeginResult::kBusy;
  memcpy(request.folder, folder, strlen(folder) + 1);
  memcpy(request.text, text, strlen(text) + 1);
  request.collector = collector;
  Enter(Phase::kWaiting);
  if (before != Phase::kIdle) return BeginResult::kBegun;  // by the existing thread
  const int error = errno;
  const bool started = StartThread();
  errno = error;
  if (started) return BeginResult::kBegun;
  Enter(Phase::kIdle);
  return BeginResult::kNoThread;
}

void EndRecording() { end_wanted.store(true, std::memory_order_relaxed); }

}  // namespace vramscope::injector

extern "C" __attribute__((visibility("default"))) int vramscope_in_place(void) {
  return vramscope::injector::in_place.load(std::memory_order_acquire) == getpid() ? 1 : 0;
}

// What `vramscope attach` calls: three lines, the session folder, the options, the collector's pid.
extern "C" __attribute__((visibility("default"))) int vramscope_attach(const char* request) {
  using namespace vramscope::injector;
  char folder[sizeof(Options::session)];
  char text[sizeof(Options::text)];
  const char* const second = TakeLine(request, folder, sizeof folder);
  const char* const third = second == nullptr ? nullptr : TakeLine(second, text, sizeof text);
  if (third == nullptr) return static_cast<int>(BeginResult::kBadRequest);
  return static_cast<int>(BeginRecording(folder, text, atoi(third)));
}
