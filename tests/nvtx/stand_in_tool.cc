// SPDX-License-Identifier: Apache-2.0
// Another profiler's NVTX injection, for tests. It counts the calls that reach it, returns handles and levels
// of its own, checks that handles come back to it, and writes what it saw to the file STAND_IN_TOOL_OUTPUT at
// exit. It uses our declarations of the ABI; client.cc checks them.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "injector/nvtx/abi.h"

namespace {

using namespace vramscope::injector::nvtx;

std::mutex lock;
std::map<std::string, long> calls;
std::map<const void*, size_t> heaps, regions;
std::map<Handle, const void*> heap_of_handle;
int errors = 0;
char domain_handle, string_handle;

void Count(const char* call) {
  const std::lock_guard locked(lock);
  ++calls[call];
}
void Check(bool fine, const char* what) {
  const std::lock_guard locked(lock);
  if (!fine && errors++ < 20) std::fprintf(stderr, "stand-in tool: %s\n", what);
}

int PushA(const char*) { return Count("push"), 100; }
int PushEx(const EventAttributes*) { return Count("push"), 100; }
int Pop() { return Count("pop"), 200; }
RangeId StartA(const char*) { return Count("start"), 0x5000 + static_cast<RangeId>(calls["start"]); }
void End(RangeId id) {
  Count("end");
  Check(id == 0 || id >> 12 == 5, "the end of a range that was not started here");
}
size_t BytesOf(const std::map<const void*, size_t>& pieces) {
  size_t bytes = 0;
  for (const auto& [address, size] : pieces) bytes += size;
  return bytes;
}

void MarkA(const char*) {
  Count("mark");
  const std::lock_guard locked(lock);
  calls["at mark: heaps"] = static_cast<long>(heaps.size());
  calls["at mark: regions"] = static_cast<long>(regions.size());
  calls["at mark: bytes"] = static_cast<long>(BytesOf(regions));
}
Domain CreateDomain(const char*) { return Count("domain"), &domain_handle; }
Handle RegisterString(Domain domain, const char*) {
  Check(domain == &domain_handle, "a string of a foreign domain");
  return Count("string"), &string_handle;
}
int DomainPushEx(Domain domain, const EventAttributes* attributes) {
  Check(domain == &domain_handle, "a range of a foreign domain");
  Check(attributes->message.registered == &string_handle, "a foreign string");
  return Count("domain push"), 300;
}

Handle RegisterHeap(Domain, const HeapDescription* heap) {
  const auto& range = *static_cast<const VirtualRange*>(heap->type_specific);
  Count("heap");
  const std::lock_guard locked(lock);
  heaps[range.address] = range.size;
  auto* const handle = new char;
  heap_of_handle[handle] = range.address;
  return handle;
}
void UnregisterHeap(Domain, Handle heap) {
  Count("heap gone");
  Check(heap_of_handle.count(heap) == 1, "a foreign heap goes");
  heaps.erase(heap_of_handle[heap]);
}
void RegisterRegions(Domain, const RegionsRegister* batch) {
  for (size_t i = 0; i < batch->count; ++i) {
    const auto& range = *reinterpret_cast<const VirtualRange*>(static_cast<const char*>(batch->elements) +
                                                               i * batch->element_size);
    Count("region");
    if (batch->handles != nullptr)
      batch->handles[i] = static_cast<const char*>(range.address) + 1;  // not the address
    Check(regions.count(range.address) == 0, "a region that is there already");
    regions[range.address] = range.size;
    if (batch->heap == kProcessWideHeap) {
      Count("region outside of heaps");
      continue;
    }
    Check(heap_of_handle.count(batch->heap) == 1, "a region in a foreign heap");
    const auto* const heap = static_cast<const char*>(heap_of_handle[batch->heap]);
    const auto* const begin = static_cast<const char*>(range.address);
    Check(begin >= heap && begin + range.size <= heap + heaps[heap], "a region that leaves its heap");
  }
}
void UnregisterRegions(Domain, const RegionsUnregister* batch) {
  for (size_t i = 0; i < batch->count; ++i) {
    Count("region gone");
    if (batch->reference_type == kByPointer)
      Check(regions.erase(batch->elements[i]) == 1, "an unknown region goes");
  }
}

template <typename Function>
void Put(AnyFunction** table, unsigned position, Function* function) {
  *table[position] = reinterpret_cast<AnyFunction>(function);
}
template <typename Function>
void Put(intptr_t* slots, unsigned position, Function* function) {
  slots[position] = reinterpret_cast<intptr_t>(function);
}

struct AtExit {
  ~AtExit() {
    const char* const path = getenv("STAND_IN_TOOL_OUTPUT");
    std::FILE* const file = path == nullptr ? nullptr : std::fopen(path, "w");
    if (file == nullptr) return;
    for (const auto& [call, count] : calls) std::fprintf(file, "%s: %ld\n", call.c_str(), count);
    std::fprintf(file, "errors: %d\n", errors);
    std::fclose(file);
  }
} at_exit;

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    GetExportTable get_export_table) {
  if (getenv("STAND_IN_TOOL_FAILS") != nullptr) return 0;
  const auto* const tables = static_cast<const CallbackTables*>(get_export_table(kCallbacks));
  AnyFunction** table = nullptr;
  unsigned size = 0;
  tables->get_module_function_table(kCore, &table, &size);
  Put(table, kRangePushA, PushA);
  Put(table, kRangePushEx, PushEx);
  Put(table, kRangePop, Pop);
  Put(table, kRangeStartA, StartA);
  Put(table, kRangeEnd, End);
  Put(table, kMarkA, MarkA);
  tables->get_module_function_table(kCore2, &table, &size);
  Put(table, kDomainCreateA, CreateDomain);
  Put(table, kDomainRegisterStringA, RegisterString);
  Put(table, kDomainRangePushEx, DomainPushEx);
  return 1;
}

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(
    ExtensionModule* module) {
  if (module->module != kMemoryModule) return 0;
  intptr_t* const slots = module->segments[0].slots;
  Put(slots, kHeapRegister, RegisterHeap);
  Put(slots, kHeapUnregister, UnregisterHeap);
  Put(slots, kRegionsRegister, RegisterRegions);
  Put(slots, kRegionsUnregister, UnregisterRegions);
  return 1;
}
