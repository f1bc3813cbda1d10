// SPDX-License-Identifier: Apache-2.0
#include "injector/jax/plugin.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

#include "injector/core/api.h"
#include "injector/core/coverage.h"
#include "injector/core/elf_image.h"
#include "injector/core/session.h"
#include "trace_format/event.h"

namespace vramscope::injector::jax {
namespace {

constexpr char kHookName[] = "JAX's table of functions (PJRT)";

struct Replacement {
  Entry entry;
  Function* ours;
};
constexpr Replacement kReplacements[] = {
    {Entry::kBufferFromHostBuffer, OnBufferFromHostBuffer},
    {Entry::kBufferCopyToDevice, OnBufferCopyToDevice},
    {Entry::kBufferCopyToMemory, OnBufferCopyToMemory},
    {Entry::kCreateViewOfDeviceBuffer, OnCreateViewOfDeviceBuffer},
    {Entry::kBufferDelete, OnBufferDelete},
    {Entry::kBufferDestroy, OnBufferDestroy},
    {Entry::kLoadedExecutableExecute, OnExecute},
    {Entry::kLoadedExecutableDestroy, OnLoadedExecutableDestroy},
    {Entry::kClientCompile, OnClientCompile},
};

constinit Function* real[kFunctionsNeeded] = {};
constinit std::atomic<bool> in_place = false;

// The plug-in's table, and why it cannot be used; nullptr if it can.
struct Found {
  Table* table = nullptr;
  const char* trouble = "JAX has loaded no plug-in for CUDA";
};

const char* TroubleWith(const Table* table, const ElfImage& image) {
  if (table == nullptr) return "the plug-in has no table";
  if (table->size < sizeof(Table) || table->major_version != kMajorVersion ||
      table->minor_version < kOldestMinorVersion)
    return "the plug-in's version of the interface is unknown";
  for (size_t i = 0; i < kFunctionsNeeded; ++i) {
    if (!image.Contains(reinterpret_cast<const void*>(table->functions[i])))
      return "another library has changed the plug-in's table";
  }
  return nullptr;
}

// A plug-in exports one function, GetPjrtApi. The CUDA ones are named xla_cuda_plugin.so.
Found Find() {
  struct Search {
    ElfImage image;
    Table* (*get)();
  } search = {{}, nullptr};
  ForEachImage(
      [](const ElfImage& image, void* argument) {
        auto& wanted = *static_cast<Search*>(argument);
        void* const get = image.Find("GetPjrtApi");
        const char* const slash = strrchr(image.name(), '/');
        if (get == nullptr || slash == nullptr || strstr(slash, "cuda") == nullptr) return true;
        wanted = {image, reinterpret_cast<Table* (*)()>(get)};
        return false;
      },
      &search);
  Found found;
  if (search.get == nullptr) return found;
  found.table = search.get();
  found.trouble = TroubleWith(found.table, search.image);
  return found;
}

bool MakeWritable(Table* table) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = reinterpret_cast<uintptr_t>(table) & ~(page - 1);
  const uintptr_t end = (reinterpret_cast<uintptr_t>(table + 1) + page - 1) & ~(page - 1);
  return mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE) == 0;
}

}  // namespace

Function* Real(Entry entry) { return real[static_cast<size_t>(entry)]; }

bool AskRaw(Entry entry, void* arguments) {
  Error* const error = Real(entry)(arguments);
  if (error == nullptr) return true;
  struct {
    Head head;
    Error* error;
  } destroy = {{sizeof destroy, nullptr}, error};
  Real(Entry::kErrorDestroy)(&destroy);
  return false;
}

bool HookPlugin() {
  if (in_place.load(std::memory_order_acquire)) return true;
  Found found = Find();
  if (found.trouble == nullptr && !MakeWritable(found.table))
    found.trouble = "the plug-in's table is read-only";
  if (found.trouble != nullptr) {
    RecordCoverage(kHookName, trace::CoverageState::kMissing, found.trouble);
    return false;
  }
  memcpy(static_cast<void*>(real), static_cast<const void*>(found.table->functions), sizeof real);
  in_place.store(true, std::memory_order_release);
  for (const Replacement& replacement : kReplacements) {
    __atomic_store_n(&found.table->functions[static_cast<size_t>(replacement.entry)], replacement.ours,
                     __ATOMIC_RELEASE);
  }
  RecordCoverage(kHookName, trace::CoverageState::kHooked, nullptr);
  return true;
}

}  // namespace vramscope::injector::jax

extern "C" __attribute__((visibility("default"))) int vramscope_jax_ready(void) {
  using namespace vramscope::injector;
  return StartSession() && jax::HookPlugin() ? 1 : 0;
}
