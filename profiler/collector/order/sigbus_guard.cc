// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/order/sigbus_guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <vector>

namespace vramscope::collector {
namespace {

struct Range {
  uintptr_t begin;
  uintptr_t end;
};

// The handler reads it in the thread that faulted, which is never inside the two functions that change it.
std::vector<Range>& Ranges() {
  static std::vector<Range> ranges;
  return ranges;
}

struct sigaction previous_action;

bool PutEmptyPage(uintptr_t address) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  void* at = reinterpret_cast<void*>(address & ~(page - 1));
  return mmap(at, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

void OnSigbus(int, siginfo_t* info, void*) {
  const int saved_errno = errno;
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  const bool guarded = std::any_of(Ranges().begin(), Ranges().end(),
                                   [&](const Range& r) { return address >= r.begin && address < r.end; });
  // Returning with the previous action restored repeats the faulting load, which then triggers that action.
  if (!guarded || !PutEmptyPage(address)) sigaction(SIGBUS, &previous_action, nullptr);
  errno = saved_errno;
}

void HandleSigbusOnce() {
  static const bool installed = [] {
    struct sigaction action {};
    action.sa_sigaction = OnSigbus;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    return sigaction(SIGBUS, &action, &previous_action) == 0;
  }();
  (void)installed;
}

}  // namespace

SigbusGuard::SigbusGuard(void* begin, size_t bytes) : begin_(begin) {
  const auto address = reinterpret_cast<uintptr_t>(begin);
  Ranges().push_back({address, address + bytes});
  HandleSigbusOnce();
}

SigbusGuard::~SigbusGuard() {
  std::erase_if(Ranges(), [&](const Range& r) { return r.begin == reinterpret_cast<uintptr_t>(begin_); });
}

}  // namespace vramscope::collector
