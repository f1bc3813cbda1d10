// SPDX-License-Identifier: Apache-2.0
// The entry points for NVTX in the program. NVTX_INJECTION64_PATH names our library. Each library of the
// program that was compiled with NVTX calls these functions at its first NVTX call.
#include <pthread.h>

#include "injector/core/locked.h"
#include "injector/core/session.h"
#include "injector/nvtx/chain.h"
#include "injector/nvtx/handlers.h"

#define VRAMSCOPE_API extern "C" __attribute__((visibility("default")))

namespace vramscope::injector::nvtx {
namespace {

constinit pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool Recorded() { return RecordingFile() != nullptr || StartSession(); }

// One table of one instance of NVTX, and its pointers before the other injection was called.
class FunctionTable {
 public:
  FunctionTable(GetExportTable get_export_table, Module module) {
    const auto* const tables = static_cast<const CallbackTables*>(get_export_table(kCallbacks));
    if (tables == nullptr || tables->struct_size < sizeof(CallbackTables) ||
        tables->get_module_function_table(module, &functions_, &size_) == 0) {
      functions_ = nullptr;
    }
    if (functions_ == nullptr) size_ = 0;
    if (size_ > kMostFunctions) size_ = kMostFunctions;
    for (unsigned i = 1; i < size_; ++i) before_[i] = functions_[i] == nullptr ? nullptr : *functions_[i];
  }
  void Restore() const {
    for (unsigned i = 1; i < size_; ++i) {
      if (functions_[i] != nullptr) *functions_[i] = before_[i];
    }
  }
  void Install(std::span<Slot> slots) const {
    for (Slot& slot : slots) {
      if (slot.position >= size_ || functions_[slot.position] == nullptr) continue;
      AnyFunction& function = *functions_[slot.position];
      function = Installed(slot, before_[slot.position], function);
    }
  }

 private:
  static constexpr unsigned kMostFunctions = 64;
  AnyFunction** functions_ = nullptr;
  unsigned size_ = 0;
  AnyFunction before_[kMostFunctions] = {};
};

int InitializeCore(GetExportTable get_export_table) {
  const Locked locked(lock);
  const FunctionTable core(get_export_table, kCore);
  const FunctionTable core2(get_export_table, kCore2);
  const auto next = reinterpret_cast<InitializeInjection>(FindInNext("InitializeInjectionNvtx2"));
  const bool chained = next != nullptr && next(get_export_table) != 0;
  if (!Recorded()) return chained ? 1 : 0;
  if (!chained) {  // an injection that fails is not called, whatever it wrote
    core.Restore();
    core2.Restore();
  }
  core.Install(CoreSlots());
  core2.Install(Core2Slots());
  RecordNvtxCoverage("NVTX", chained);
  return 1;
}

ExtensionSegment* MemorySegmentOf(ExtensionModule& module) {
  if (module.module != kMemoryModule || module.compatibility != kMemoryCompatibility) return nullptr;
  for (size_t i = 0; i < module.segment_count; ++i) {
    if (module.segments[i].id == kMemorySegment) return &module.segments[i];
  }
  return nullptr;
}

AnyFunction FunctionIn(intptr_t slot) {
  const bool function = slot < 0 || slot > kLastStateOfSlot;
  return function ? reinterpret_cast<AnyFunction>(slot) : nullptr;
}

int InitializeExtensionModule(ExtensionModule* module) {
  if (module == nullptr) return 0;
  const Locked locked(lock);
  const auto next = reinterpret_cast<InitializeExtension>(FindInNext("InitializeInjectionNvtxExtension"));
  const bool chained = next != nullptr && next(module) != 0;
  ExtensionSegment* const segment = MemorySegmentOf(*module);
  if (segment == nullptr || !Recorded()) return chained ? 1 : 0;
  for (size_t i = 0; !chained && i < segment->slot_count; ++i) segment->slots[i] = kFreshSlot;
  for (Slot& slot : MemorySlots()) {
    if (slot.position >= segment->slot_count) continue;
    intptr_t& function = segment->slots[slot.position];
    const AnyFunction installed = Installed(slot, nullptr, FunctionIn(function));
    if (installed != nullptr) function = reinterpret_cast<intptr_t>(installed);
  }
  RecordNvtxCoverage("NVTX memory", chained);
  return 1;
}

}  // namespace
}  // namespace vramscope::injector::nvtx

VRAMSCOPE_API int InitializeInjectionNvtx2(vramscope::injector::nvtx::GetExportTable get_export_table) {
  return get_export_table == nullptr ? 0 : vramscope::injector::nvtx::InitializeCore(get_export_table);
}

VRAMSCOPE_API int InitializeInjectionNvtxExtension(vramscope::injector::nvtx::ExtensionModule* module) {
  return vramscope::injector::nvtx::InitializeExtensionModule(module);
}
