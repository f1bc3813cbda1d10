// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/client.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <atomic>

#include "injector/core/coverage.h"
#include "injector/core/driver_sight.h"
#include "injector/core/elf_image.h"
#include "injector/core/locked.h"
#include "injector/core/options.h"
#include "injector/core/session.h"
#include "injector/cupti/activity.h"
#include "injector/cupti/callbacks.h"
#include "injector/cupti/library.h"

#define VRAMSCOPE_API extern "C" __attribute__((visibility("default")))

namespace vramscope::injector::cupti {
namespace {

constexpr char kHook[] = "CUPTI";
constexpr char kComparison[] = "CUPTI and the driver's hooks";

constinit pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// Under the lock.
struct Client {
  const Functions* cupti;
  Subscriber subscriber;
  bool subscribed;
  bool wanted;  // a subscription was decided on
  bool with_activity;
  bool activity_runs;
  bool foreign_buffers;  // another client registered buffers for activity records: ours would take them away
  unsigned others;       // subscriptions of other clients
  unsigned yielded;
};
constinit Client client = {};
constinit std::atomic<bool> decided = false;
constinit std::atomic<uint64_t> considered = 0;  // number of libraries loaded at the last check

void Say(trace::CoverageState state, const char* text) { RecordCoverage(kHook, state, text); }

void SayWhatRuns(uint32_t version, unsigned enabled) {
  char detail[256];
  const char* const activity = client.activity_runs     ? ", activity records read"
                               : client.foreign_buffers ? ", activity records left to another client"
                               : !client.with_activity  ? ""
                               : version < kFirstVersion || version > kLastVersion
                                   ? ", activity records of this version not known and not read"
                                   : ", activity records refused";
  snprintf(detail, sizeof detail, "version %u, callbacks of %u driver functions%s; yielded %u times", version,
           enabled, activity, client.yielded);
  Say(trace::CoverageState::kHooked, detail);
}

void SayRefused(Result result) {
  char detail[160];
  if (result == kMultipleSubscribers) {
    snprintf(detail, sizeof detail, "another client holds CUPTI's one subscription (error %d)", result);
  } else {
    snprintf(detail, sizeof detail,
             "CUPTI cannot start here: no driver, or one that is older than it (error %d)", result);
  }
  Say(trace::CoverageState::kMissing, detail);
}

void StopOwnActivity() {
  if (client.activity_runs) StopActivity(*client.cupti);
  client.activity_runs = false;
}

void Yield() {
  if (!client.subscribed) return;
  StopOwnActivity();
  client.cupti->unsubscribe(client.subscriber);
  client.subscribed = false;
  ++client.yielded;
}

int Print(char* to, size_t room, const char* who, const DriverSight& sight) {
  return snprintf(to, room, "%s: %llu allocations of %llu bytes, %llu frees", who,
                  static_cast<unsigned long long>(sight.allocations.load()),
                  static_cast<unsigned long long>(sight.bytes.load()),
                  static_cast<unsigned long long>(sight.frees.load()));
}

// At exit, while CUPTI still answers: records the device memory seen by callbacks, hooks and activity
// records.
void CompareAtExit() {
  const Locked locked(lock);
  StopOwnActivity();
  char text[512];
  int length = Print(text, sizeof text, "callbacks", seen_by_callbacks);
  const auto add = [&](const char* who, const DriverSight& sight) {
    length += snprintf(text + length, sizeof text - static_cast<size_t>(length), "; ");
    length += Print(text + length, sizeof text - static_cast<size_t>(length), who, sight);
    const auto difference = static_cast<int64_t>(sight.bytes.load() - seen_by_callbacks.bytes.load());
    length += snprintf(text + length, sizeof text - static_cast<size_t>(length), ", %+lld bytes",
                       static_cast<long long>(difference));
  };
  if (seen_by_hooks.lookups.load() != 0) add("hooks", seen_by_hooks);
  if (seen_by_activity.allocations.load() != 0) add("activity records", seen_by_activity);
  RecordCoverage(kComparison, trace::CoverageState::kProven, text);
}

void Subscribe() {
  if (!client.wanted || client.subscribed || client.others != 0) return;
  const Functions& cupti = *client.cupti;
  const Result result = cupti.subscribe(&client.subscriber, OnDriverCall, const_cast<Functions*>(&cupti));
  if (result != kSuccess) return SayRefused(result);
  client.subscribed = true;
  if (client.yielded == 0) atexit(CompareAtExit);
  unsigned enabled = 0;
  for (const Function function : WatchedFunctions()) {
    enabled += cupti.enable_callback(1, client.subscriber, kDriverApi, function) == kSuccess;
  }
  const uint32_t version = CuptiVersion(cupti);
  const bool readable = version >= kFirstVersion && version <= kLastVersion;
  client.activity_runs = client.with_activity && readable && !client.foreign_buffers && StartActivity(cupti);
  SayWhatRuns(version, enabled);
}

void Start(bool with_activity) {
  if (client.wanted) return;
  client.cupti = OpenCupti();
  if (client.cupti == nullptr) return Say(trace::CoverageState::kMissing, "no libcupti.so can be loaded");
  client.wanted = true;
  client.with_activity = with_activity;
  Subscribe();
}

bool DriverIsLoaded() { return dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD) != nullptr; }

bool HooksWerePassedBy() {
  return seen_by_hooks.installed.load(std::memory_order_relaxed) &&
         seen_by_hooks.lookups.load(std::memory_order_relaxed) == 0 && DriverIsLoaded();
}

// Under the lock. True if there is nothing left to decide.
bool Decide() {
  if (!StartSession() || !(OptionIs("cupti", "on") || OptionIs("cupti", "auto"))) return true;
  if (OptionIs("cupti", "on")) return Start(true), true;
  if (seen_by_hooks.lookups.load(std::memory_order_relaxed) != 0) return true;
  if (!HooksWerePassedBy()) return false;
  return Start(false), true;
}

// The number of libraries loaded so far, including those that were unloaded.
uint64_t LibrariesLoaded() {
  uint64_t loaded = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* count) {
        *static_cast<uint64_t*>(count) = info->dlpi_adds;
        return 1;  // every library reports the same number
      },
      &loaded);
  return loaded;
}

// The real function behind one of our entry points.
template <typename Function>
Function* Real(std::atomic<void*>& found, const char* name) {
  void* function = found.load(std::memory_order_acquire);
  if (function == nullptr) {
    function = FindSymbol(name);
    found.store(function, std::memory_order_release);
  }
  return reinterpret_cast<Function*>(function);
}

template <typename Call>
Result SubscribeOther(Call call) {
  const Locked locked(lock);
  Yield();
  const Result result = call();
  if (result == kSuccess) ++client.others;
  Subscribe();
  return result;
}

}  // namespace

// Called after every step. A program without a GPU never loads the driver, and the search takes 40 us. So the
// search runs only if a library was loaded since.
void ConsiderCupti() {
  if (__builtin_expect(decided.load(std::memory_order_relaxed), 1)) return;
  const uint64_t situation =
      2 * LibrariesLoaded() + (seen_by_hooks.installed.load(std::memory_order_relaxed) ? 1 : 0);
  if (considered.exchange(situation, std::memory_order_relaxed) == situation) return;
  const Locked locked(lock);
  decided.store(Decide(), std::memory_order_relaxed);
}

// A subscription may itself start the driver, which then calls this on the thread that holds the lock.
void DriverStarts() {
  if (pthread_mutex_trylock(&lock) != 0) return;
  if (!decided.load(std::memory_order_relaxed)) decided.store(Decide(), std::memory_order_relaxed);
  pthread_mutex_unlock(&lock);
}

}  // namespace vramscope::injector::cupti

using namespace vramscope::injector::cupti;
using vramscope::injector::Locked;

VRAMSCOPE_API Result cuptiSubscribe(Subscriber* subscriber, Callback callback, void* user_data) {
  static constinit std::atomic<void*> found = nullptr;
  auto* const real = Real<Result(Subscriber*, Callback, void*)>(found, "cuptiSubscribe");
  if (real == nullptr) return kUnknownError;
  return SubscribeOther([&] { return real(subscriber, callback, user_data); });
}

VRAMSCOPE_API Result cuptiSubscribe_v2(Subscriber* subscriber, Callback callback, void* user_data,
                                       void* parameters) {
  static constinit std::atomic<void*> found = nullptr;
  auto* const real = Real<Result(Subscriber*, Callback, void*, void*)>(found, "cuptiSubscribe_v2");
  if (real == nullptr) return kUnknownError;
  return SubscribeOther([&] { return real(subscriber, callback, user_data, parameters); });
}

VRAMSCOPE_API Result cuptiUnsubscribe(Subscriber subscriber) {
  static constinit std::atomic<void*> found = nullptr;
  auto* const real = Real<Result(Subscriber)>(found, "cuptiUnsubscribe");
  if (real == nullptr) return kUnknownError;
  const Locked locked(lock);
  const Result result = real(subscriber);
  if (result == kSuccess && client.others > 0) --client.others;
  Subscribe();
  return result;
}

// Ends CUPTI for all clients.
VRAMSCOPE_API Result cuptiFinalize() {
  static constinit std::atomic<void*> found = nullptr;
  auto* const real = Real<Result()>(found, "cuptiFinalize");
  if (real == nullptr) return kUnknownError;
  const Locked locked(lock);
  Yield();
  const Result result = real();
  client.others = 0;
  Subscribe();
  return result;
}

VRAMSCOPE_API Result cuptiActivityRegisterCallbacks(BufferRequested requested, BufferCompleted completed) {
  static constinit std::atomic<void*> found = nullptr;
  auto* const real = Real<Result(BufferRequested, BufferCompleted)>(found, "cuptiActivityRegisterCallbacks");
  if (real == nullptr) return kUnknownError;
  const Locked locked(lock);
  StopOwnActivity();
  client.foreign_buffers = true;
  return real(requested, completed);
}

VRAMSCOPE_API int InitializeInjection() {
  DriverStarts();
  return 1;
}
