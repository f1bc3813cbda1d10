// SPDX-License-Identifier: Apache-2.0
// Tests the look-up of driver functions: exact names, versions and streams, and no lock or allocation.
#include "injector/cuda/function_lookup.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "injector/core/test_session.h"
#include "injector/cuda/driver_call.h"
#include "injector/cuda/driver_entries.h"
#include "injector/cuda/loaded_functions.h"

extern "C" void* vramscope_real_dlsym;

#if !defined(__has_feature)  // of clang; GCC defines the other two
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || __has_feature(address_sanitizer) || \
    __has_feature(thread_sanitizer)
#define VRAMSCOPE_COUNTS_CALLS 0  // the sanitizer has these functions
#else
#define VRAMSCOPE_COUNTS_CALLS 1
namespace {
std::atomic<int> locks = 0;
std::atomic<int> allocations = 0;
}  // namespace
extern "C" void* __libc_malloc(size_t bytes);
extern "C" void* malloc(size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(bytes);
}
extern "C" void* __libc_calloc(size_t count, size_t bytes);
extern "C" void* calloc(size_t count, size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_calloc(count, bytes);
}
extern "C" void* __libc_realloc(void* memory, size_t bytes);
extern "C" void* realloc(void* memory, size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_realloc(memory, bytes);
}
extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) {
  locks.fetch_add(1, std::memory_order_relaxed);
#if defined(__aarch64__)
  constexpr char kFirstGlibc[] = "GLIBC_2.17";
#else
  constexpr char kFirstGlibc[] = "GLIBC_2.2.5";
#endif
  static const auto real =
      reinterpret_cast<int (*)(pthread_mutex_t*)>(dlvsym(RTLD_NEXT, "pthread_mutex_lock", kFirstGlibc));
  return real(mutex);
}
#endif

namespace vramscope::injector {
namespace {

int driver_calls = 0;
int Driver() {
  ++driver_calls;
  return driver::kSuccess;
}
int SecondDriver() { return driver::kSuccess; }
void* const kReal = reinterpret_cast<void*>(&Driver);

void* AnswerReal(void*, const char* name) { return strncmp(name, "cuNothing", 9) == 0 ? nullptr : kReal; }

class FunctionLookupTest : public testing::Test {
 protected:
  FunctionLookupTest() {
    FreshCollector();
    DecideDriverHooks();
    vramscope_real_dlsym = reinterpret_cast<void*>(&AnswerReal);
    for (std::atomic<void*>& real : real_driver) real = nullptr;
  }

  void* Ask(const char* name, void* handle = this_handle()) {
    const Answer answer =
        vramscope_driver_function_for(handle, name, nullptr, reinterpret_cast<const void*>(&Driver));
    return answer.is_final ? answer.function : nullptr;
  }
  static void* this_handle() { return reinterpret_cast<void*>(&Driver); }
};

TEST_F(FunctionLookupTest, KnowsNamesOnlyWhole) {
  EXPECT_EQ(Ask("cuMemAlloc_v2"), reinterpret_cast<void*>(&driver::cuMemAlloc_v2));
  for (const char* name : {"cuMemAlloc", "cuMemAlloc_v", "cuMemAlloc_v22", "cuMemAlloc_v3", "cuInit", "cu",
                           "", "cublasCreate_v2", "cudnnCreate", "cudaMalloc", "cuMemAlloc_v2_ptsz"})
    EXPECT_EQ(Ask(name), nullptr) << name;
}

TEST_F(FunctionLookupTest, LeavesSearchesBehindTheCallerAlone) {
  EXPECT_EQ(Ask("cuMemAlloc_v2", RTLD_NEXT), nullptr);
}

TEST_F(FunctionLookupTest, CallsWhatWasFound) {
  Ask("cuMemFree_v2");
  EXPECT_EQ(real_driver[static_cast<size_t>(DriverFunction::cuMemFree_v2)].load(), kReal);
}

TEST_F(FunctionLookupTest, GivesTheFormOfTheVersionAndStream) {
  EXPECT_EQ(FindByBase("cuMemAlloc", 3020, 0), DriverFunction::cuMemAlloc_v2);
  EXPECT_EQ(FindByBase("cuMemAlloc", 2000, 0), DriverFunction::kCount);  // 32-bit sizes
  EXPECT_EQ(FindByBase("cuMemHostRegister", 6040, 0), DriverFunction::cuMemHostRegister);
  EXPECT_EQ(FindByBase("cuMemHostRegister", 12000, 0), DriverFunction::cuMemHostRegister_v2);
  EXPECT_EQ(FindByBase("cuCtxCreate", 11040, 0), DriverFunction::cuCtxCreate_v3);
  EXPECT_EQ(FindByBase("cuCtxCreate", 13000, 0), DriverFunction::cuCtxCreate_v4);
  EXPECT_EQ(FindByBase("cuMemAllocAsync", 12000, 1), DriverFunction::cuMemAllocAsync);
  EXPECT_EQ(FindByBase("cuMemAllocAsync", 12000, 2), DriverFunction::cuMemAllocAsync_ptsz);
  EXPECT_EQ(FindByBase("cuMemFree", 12000, 2), DriverFunction::cuMemFree_v2);  // has one form for both
  EXPECT_EQ(FindByBase("cuGetProcAddress", 11030, 0), DriverFunction::cuGetProcAddress);
  EXPECT_EQ(FindByBase("cuGetProcAddress", 12000, 0), DriverFunction::cuGetProcAddress_v2);
  EXPECT_EQ(FindByBase("cuMemAlloc_v2", 12000, 0), DriverFunction::kCount);
  EXPECT_EQ(FindByBase("", 12000, 0), DriverFunction::kCount);
}

// Two drivers in one process: the second one's functions must not lead to the first.
TEST_F(FunctionLookupTest, StandsForOneLibraryOnly) {
  EXPECT_NE(StandInFor(DriverFunction::cuMemMap, kReal), kReal);
  EXPECT_NE(StandInFor(DriverFunction::cuMemMap, reinterpret_cast<void*>(&SecondDriver)),
            reinterpret_cast<void*>(&SecondDriver));                       // of the same library
  void* const elsewhere = reinterpret_cast<void*>(&gnu_get_libc_version);  // no sanitizer replaces it
  EXPECT_EQ(StandInFor(DriverFunction::cuMemMap, elsewhere), elsewhere);
}

TEST_F(FunctionLookupTest, LookupsThatLoadNothingAreNotLookedAtForEver) {
  ForgetLoaded();
  for (int i = 0; i < 1023; ++i) NoteLookup(false);
  EXPECT_FALSE(LookupsLoadNothing());
  NoteLookup(false);
  EXPECT_TRUE(LookupsLoadNothing());
  ForgetLoaded();
  EXPECT_FALSE(LookupsLoadNothing());
}

#if VRAMSCOPE_COUNTS_CALLS
TEST_F(FunctionLookupTest, TakesNoLockAndAllocatesNothing) {
  const void* const mutex_lock_works = malloc(1);
  ASSERT_NE(mutex_lock_works, nullptr);
  free(const_cast<void*>(mutex_lock_works));
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  ASSERT_GT(allocations, 0) << "the test does not count allocations";
  ASSERT_GT(locks, 0) << "the test does not count locks";

  const int locks_before = locks, allocations_before = allocations, calls_before = driver_calls;
  void* function = kReal;
  for (int i = 0; i < 1000; ++i) {
    Ask("cuMemCreate");
    Ask("cuMemUnheardOf");
    function = kReal;
    StandInForAnswer(kReal, "cuMemMap", &function, 12000, 0);
  }
  EXPECT_EQ(locks, locks_before);
  EXPECT_EQ(allocations, allocations_before);
  EXPECT_EQ(driver_calls, calls_before) << "the driver is called while its functions are looked up";
  EXPECT_EQ(function, reinterpret_cast<void*>(&driver::cuMemMap));
}

int NoDriver(driver::DevicePtr) { return driver::kSuccess; }

// The hook itself, once the names of the function and the library are known.
TEST_F(FunctionLookupTest, RecordsCallsWithoutLockOrAllocation) {
  real_driver[static_cast<size_t>(DriverFunction::cuMemFree_v2)] = reinterpret_cast<void*>(&NoDriver);
  TestCollector& collector = FreshCollector();
  driver::cuMemFree_v2(1);
  const int locks_before = locks, allocations_before = allocations;
  for (int i = 0; i < 100; ++i) driver::cuMemFree_v2(1);
  EXPECT_EQ(locks, locks_before);
  EXPECT_EQ(allocations, allocations_before);
  collector.Drain();
  EXPECT_EQ(collector.Of(trace::EventType::kDriverFree).size(), 101u);
}

int launches = 0;
int Launch(driver::Handle, unsigned grid_x, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
           driver::Handle stream, void**, void** extra) {
  launches += grid_x == 7 && stream == kReal && extra == nullptr;
  return driver::kSuccess;
}

TEST_F(FunctionLookupTest, LaunchesOfALoadedKernelCostALookAndNothingElse) {
  real_driver[static_cast<size_t>(DriverFunction::cuLaunchKernel)] = reinterpret_cast<void*>(&Launch);
  static int kernels[2] = {};
  const auto launch = [](int kernel) {
    return driver::cuLaunchKernel(&kernels[kernel], 7, 1, 1, 32, 1, 1, 0, kReal, nullptr, nullptr);
  };
  TestCollector& collector = FreshCollector();
  EXPECT_FALSE(IsLoaded(&kernels[0]));
  launch(0);
  EXPECT_TRUE(IsLoaded(&kernels[0]));
  EXPECT_FALSE(IsLoaded(&kernels[1]));
  const int locks_before = locks, allocations_before = allocations;
  for (int i = 0; i < 1000; ++i) launch(0);
  EXPECT_EQ(locks, locks_before);
  EXPECT_EQ(allocations, allocations_before);
  EXPECT_EQ(launches, 1001) << "each reaches the driver with its arguments";
  collector.Drain();
  EXPECT_EQ(collector.Of(trace::EventType::kDriverAlloc).size(), 0u);
  ForgetLoaded();
  EXPECT_FALSE(IsLoaded(&kernels[0]));
}
#endif

}  // namespace
}  // namespace vramscope::injector
