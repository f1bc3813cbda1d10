// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/driver/recorder_frames.h"

#include <dlfcn.h>
#include <link.h>
#include <unwind.h>

#include <atomic>
#include <cstdint>
#include <cstring>

namespace vramscope::simulated {
namespace {

constexpr char kRecorder[] = "libvramscope_injector.so";

const char* FileName(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

// The recorder may be loaded late (attach): until then, it is searched for after each newly loaded object.
constinit std::atomic<uintptr_t> recorder_begin = 0, recorder_end = 0;
constinit std::atomic<unsigned long long> objects_searched = 0;

int FindRecorder(dl_phdr_info* info, size_t, void* objects) {
  *static_cast<unsigned long long*>(objects) = info->dlpi_adds;
  if (info->dlpi_adds == objects_searched.load(std::memory_order_relaxed)) return 1;
  if (std::strcmp(FileName(info->dlpi_name), kRecorder) != 0) return 0;
  uintptr_t end = 0;
  for (size_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    const uintptr_t part_end = info->dlpi_addr + header.p_vaddr + header.p_memsz;
    if (header.p_type == PT_LOAD && part_end > end) end = part_end;
  }
  recorder_begin.store(info->dlpi_addr, std::memory_order_relaxed);
  recorder_end.store(end, std::memory_order_release);
  return 1;
}

bool IsOfCuda(const void* address) {
  Dl_info info;
  if (dladdr(address, &info) == 0) return false;
  const char* const name = FileName(info.dli_fname);
  return std::strncmp(name, "libcuda.so", 10) == 0 || std::strncmp(name, "libcudart.so", 12) == 0;
}

_Unwind_Reason_Code Visit(_Unwind_Context* context, void* found) {
  const auto* const address = reinterpret_cast<const void*>(_Unwind_GetIP(context));
  if (address == nullptr) return _URC_END_OF_STACK;
  if (IsOfRecorder(address) || IsOfCuda(address)) return _URC_NO_REASON;
  *static_cast<const void**>(found) = address;
  return _URC_END_OF_STACK;
}

}  // namespace

bool IsOfRecorder(const void* address) {
  if (recorder_end.load(std::memory_order_acquire) == 0) {
    unsigned long long objects = 0;
    dl_iterate_phdr(FindRecorder, &objects);
    objects_searched.store(objects, std::memory_order_relaxed);
  }
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  return wanted < recorder_end.load(std::memory_order_acquire) &&
         wanted >= recorder_begin.load(std::memory_order_relaxed);
}

const void* CallerBeyondRecorder() {
  const void* caller = nullptr;
  _Unwind_Backtrace(Visit, &caller);
  return caller;
}

}  // namespace vramscope::simulated
