// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/ipc_memory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "injector/simulated_cuda/device/device.h"

namespace vramscope::simulated {
namespace {

constexpr Origin kTest = {"cudaMalloc", nullptr};
constexpr uint64_t kMebibyte = 1 << 20;

volatile uint32_t& At(uint64_t address) { return *reinterpret_cast<volatile uint32_t*>(address); }

void Write(uint64_t address, uint32_t value) {
  DeviceNumber(0).region().MarkWritten(address, sizeof(value));
  At(address) = value;
}

// Another process, which has made handles for two allocations, the second of them a granule in. On request it
// writes `7` at the end of the first, and returns the value at its beginning as its exit code.
class Owner {
 public:
  Owner() {
    EXPECT_EQ(pipe(to_), 0);
    EXPECT_EQ(pipe(from_), 0);
    pid_ = fork();
    if (pid_ == 0) Live();
    EXPECT_EQ(read(from_[0], handles, sizeof(handles)), static_cast<ssize_t>(sizeof(handles)));
  }
  // Returns once it has written.
  void GoOn() {
    char word = 0;
    EXPECT_EQ(write(to_[1], &word, 1), 1);
    EXPECT_EQ(read(from_[0], &word, 1), 1);
  }
  int End() {
    const char word = 0;
    EXPECT_EQ(write(to_[1], &word, 1), 1);
    int status = 0;
    waitpid(pid_, &status, 0);
    for (const int end : {to_[0], to_[1], from_[0], from_[1]}) close(end);
    return WEXITSTATUS(status);
  }

  IpcHandle handles[2] = {};

 private:
  [[noreturn]] void Live() {
    uint64_t first = 0, second = 0;
    char word = 0;
    DeviceNumber(0).Allocate(5 * kMebibyte, kTest, &first);
    DeviceNumber(0).Allocate(kMebibyte, kTest, &second);
    Write(first + 4 * kMebibyte, 41);
    Write(second, 42);
    if (TheIpcMemory().Export(first + kMebibyte, &handles[0]) != kSuccess) _exit(100);
    if (TheIpcMemory().Export(second, &handles[1]) != kSuccess) _exit(101);
    if (write(from_[1], handles, sizeof(handles)) < 0 || read(to_[0], &word, 1) != 1) _exit(102);
    Write(first + 4 * kMebibyte, 7);
    if (write(from_[1], &word, 1) != 1 || read(to_[0], &word, 1) != 1) _exit(103);
    _exit(static_cast<int>(At(first)));
  }
  int to_[2], from_[2];
  pid_t pid_;
};

TEST(IpcMemoryTest, BothProcessesSeeWhatEitherWrites) {
  Owner owner;
  const uint64_t before = DeviceNumber(0).free_bytes();
  uint64_t first = 0, second = 0;
  ASSERT_EQ(TheIpcMemory().Open(owner.handles[0], &first), kSuccess);
  ASSERT_EQ(TheIpcMemory().Open(owner.handles[1], &second), kSuccess);
  EXPECT_EQ(DeviceOf(first), 0);
  EXPECT_EQ(DeviceNumber(0).free_bytes(), before) << "the owner's, and counted there";
  EXPECT_EQ(At(first + 4 * kMebibyte), 41u);
  EXPECT_EQ(At(second), 42u);
  owner.GoOn();
  EXPECT_EQ(At(first + 4 * kMebibyte), 7u);
  Write(first, 99);
  EXPECT_EQ(owner.End(), 99);
  EXPECT_EQ(At(first), 99u) << "mapped until it is closed, whatever became of the owner";
  TheIpcMemory().Close(first);
  TheIpcMemory().Close(second);
}

TEST(IpcMemoryTest, OpenedTwiceItIsClosedTwice) {
  Owner owner;
  uint64_t address = 0, again = 0, begin = 0, bytes = 0;
  ASSERT_EQ(TheIpcMemory().Open(owner.handles[0], &address), kSuccess);
  ASSERT_EQ(TheIpcMemory().Open(owner.handles[0], &again), kSuccess);
  EXPECT_EQ(address, again);
  EXPECT_EQ(TheIpcMemory().Close(address), kSuccess);
  EXPECT_TRUE(TheIpcMemory().Find(address + 5, &begin, &bytes));
  EXPECT_EQ(bytes, 6 * kMebibyte);
  EXPECT_EQ(TheIpcMemory().Close(address), kSuccess);
  EXPECT_EQ(TheIpcMemory().Close(address), kInvalidValue);
  EXPECT_EQ(At(address + 4 * kMebibyte), 0u) << "free addresses, which read as zeros";
  owner.GoOn();
  owner.End();
}

TEST(IpcMemoryTest, ClearingSharedMemoryClearsItForBoth) {
  Owner owner;
  uint64_t address = 0;
  ASSERT_EQ(TheIpcMemory().Open(owner.handles[0], &address), kSuccess);
  owner.GoOn();
  DeviceNumber(0).region().Clear(address + 512, 5 * kMebibyte - 512);
  EXPECT_EQ(At(address + 4 * kMebibyte), 0u);
  TheIpcMemory().Close(address);
  ASSERT_EQ(TheIpcMemory().Open(owner.handles[0], &address), kSuccess);
  EXPECT_EQ(At(address + 4 * kMebibyte), 0u);
  TheIpcMemory().Close(address);
  owner.End();
}

TEST(IpcMemoryTest, RefusesWhatIsNoHandleOrIsOfNobodyOrOfItself) {
  uint64_t address = 0;
  IpcHandle handle = {};
  EXPECT_EQ(TheIpcMemory().Open(handle, &address), kInvalidHandle);
  EXPECT_EQ(TheIpcMemory().Export(0x1234, &handle), kInvalidValue);
  ASSERT_EQ(DeviceNumber(0).Allocate(kMebibyte, kTest, &address), kSuccess);
  ASSERT_EQ(TheIpcMemory().Export(address, &handle), kSuccess);
  uint64_t other = 0;
  EXPECT_EQ(TheIpcMemory().Open(handle, &other), kInvalidContext);
  TheIpcMemory().Forget(address);
  DeviceNumber(0).Free(address);
  Owner owner;
  owner.GoOn();
  owner.End();
  EXPECT_EQ(TheIpcMemory().Open(owner.handles[0], &other), kInvalidHandle);
}

}  // namespace
}  // namespace vramscope::simulated
