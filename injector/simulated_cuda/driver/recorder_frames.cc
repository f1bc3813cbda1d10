// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/driver/recorder_frames.h"

#include <dlfcn.h>
#include <link.h>
#include <unwind.h>

#include <cstdint>
#include <cstring>

namespace vramscope::simulated {
namespace {

constexpr char kRecorder[] = "libvramscope_injector.so";

const char* FileName(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

struct Range {
  uintptr_t begin = 0, end = 0;
};

int FindRecorder(dl_phdr_info* info, size_t, void* found) {
  if (std::strcmp(FileName(info->dlpi_name), kRecorder) != 0) return 0;
  auto& range = *static_cast<Range*>(found);
  for (size_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    const uintptr_t end = info->dlpi_addr + header.p_vaddr + header.p_memsz;
    if (header.p_type == PT_LOAD && end > range.end) range.end = end;
  }
  range.begin = info->dlpi_addr;
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
  static const Range recorder = [] {
    Range range;
    dl_iterate_phdr(FindRecorder, &range);
    return range;
  }();
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  return wanted >= recorder.begin && wanted < recorder.end;
}

const void* CallerBeyondRecorder() {
  const void* caller = nullptr;
  _Unwind_Backtrace(Visit, &caller);
  return caller;
}

}  // namespace vramscope::simulated
