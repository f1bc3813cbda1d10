// SPDX-License-Identifier: Apache-2.0
// A program that uses all NVTX functions we listen to, through NVIDIA's own headers, and prints the results.
// It also compares our declarations of the ABI with those headers.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtMem.h>

#include <cstdio>
#include <cstring>
#include <thread>

#include "injector/nvtx/abi.h"

namespace abi = vramscope::injector::nvtx;

#define SAME_FIELD(ours, our_field, theirs, their_field)                      \
  static_assert(offsetof(ours, our_field) == offsetof(theirs, their_field) && \
                sizeof(ours::our_field) == sizeof(theirs::their_field))
#define SAME_VALUE(ours, theirs) static_assert(static_cast<int64_t>(ours) == static_cast<int64_t>(theirs))

static_assert(sizeof(abi::EventAttributes) == sizeof(nvtxEventAttributes_t));
SAME_FIELD(abi::EventAttributes, size, nvtxEventAttributes_t, size);
SAME_FIELD(abi::EventAttributes, payload_type, nvtxEventAttributes_t, payloadType);
SAME_FIELD(abi::EventAttributes, payload, nvtxEventAttributes_t, payload);
SAME_FIELD(abi::EventAttributes, message_type, nvtxEventAttributes_t, messageType);
SAME_FIELD(abi::EventAttributes, message, nvtxEventAttributes_t, message);
SAME_VALUE(abi::kFloat, NVTX_PAYLOAD_TYPE_FLOAT);
SAME_VALUE(abi::kSigned32, NVTX_PAYLOAD_TYPE_INT32);
SAME_VALUE(abi::kUnsigned32, NVTX_PAYLOAD_TYPE_UNSIGNED_INT32);
SAME_VALUE(abi::kDouble, NVTX_PAYLOAD_TYPE_DOUBLE);
SAME_VALUE(abi::kSigned64, NVTX_PAYLOAD_TYPE_INT64);
SAME_VALUE(abi::kUnsigned64, NVTX_PAYLOAD_TYPE_UNSIGNED_INT64);
SAME_VALUE(abi::kAscii, NVTX_MESSAGE_TYPE_ASCII);
SAME_VALUE(abi::kWide, NVTX_MESSAGE_TYPE_UNICODE);
SAME_VALUE(abi::kRegistered, NVTX_MESSAGE_TYPE_REGISTERED);
static_assert(sizeof(abi::CallbackTables) == sizeof(NvtxExportTableCallbacks));
SAME_VALUE(abi::kCallbacks, NVTX_ETID_CALLBACKS);
SAME_VALUE(abi::kCore, NVTX_CB_MODULE_CORE);
SAME_VALUE(abi::kCore2, NVTX_CB_MODULE_CORE2);
SAME_VALUE(abi::kMarkEx, NVTX_CBID_CORE_MarkEx);
SAME_VALUE(abi::kRangePop, NVTX_CBID_CORE_RangePop);
SAME_VALUE(abi::kRangeEnd, NVTX_CBID_CORE_RangeEnd);
SAME_VALUE(abi::kRangePushW, NVTX_CBID_CORE_RangePushW);
SAME_VALUE(abi::kCoreSize, NVTX_CBID_CORE_SIZE);
SAME_VALUE(abi::kDomainMarkEx, NVTX_CBID_CORE2_DomainMarkEx);
SAME_VALUE(abi::kDomainRangePop, NVTX_CBID_CORE2_DomainRangePop);
SAME_VALUE(abi::kDomainRegisterStringA, NVTX_CBID_CORE2_DomainRegisterStringA);
SAME_VALUE(abi::kDomainCreateW, NVTX_CBID_CORE2_DomainCreateW);
SAME_VALUE(abi::kCore2Size, NVTX_CBID_CORE2_SIZE);
static_assert(sizeof(abi::ExtensionModule) == sizeof(nvtxExtModuleInfo_t) &&
              sizeof(abi::ExtensionSegment) == sizeof(nvtxExtModuleSegment_t));
SAME_FIELD(abi::ExtensionModule, segments, nvtxExtModuleInfo_t, segments);
SAME_VALUE(abi::kMemoryModule, NVTX_EXT_MODULEID_MEM);
SAME_VALUE(abi::kMemoryCompatibility, NVTX_EXT_COMPATID_MEM);
SAME_VALUE(abi::kHeapRegister, NVTX3EXT_CBID_nvtxMemHeapRegister);
SAME_VALUE(abi::kHeapUnregister, NVTX3EXT_CBID_nvtxMemHeapUnregister);
SAME_VALUE(abi::kRegionsRegister, NVTX3EXT_CBID_nvtxMemRegionsRegister);
SAME_VALUE(abi::kRegionsUnregister, NVTX3EXT_CBID_nvtxMemRegionsUnregister);
SAME_VALUE(abi::kRegionsName, NVTX3EXT_CBID_nvtxMemRegionsName);
static_assert(sizeof(abi::HeapDescription) == sizeof(nvtxMemHeapDesc_t) &&
              sizeof(abi::RegionsRegister) == sizeof(nvtxMemRegionsRegisterBatch_t) &&
              sizeof(abi::RegionsUnregister) == sizeof(nvtxMemRegionsUnregisterBatch_t) &&
              sizeof(abi::RegionName) == sizeof(nvtxMemRegionNameDesc_t) &&
              sizeof(abi::RegionsName) == sizeof(nvtxMemRegionsNameBatch_t) &&
              sizeof(abi::VirtualRange) == sizeof(nvtxMemVirtualRangeDesc_t));
SAME_FIELD(abi::HeapDescription, type_specific, nvtxMemHeapDesc_t, typeSpecificDesc);
SAME_FIELD(abi::HeapDescription, message, nvtxMemHeapDesc_t, message);
SAME_FIELD(abi::RegionsRegister, handles, nvtxMemRegionsRegisterBatch_t, regionHandleElementsOut);
SAME_FIELD(abi::RegionsUnregister, elements, nvtxMemRegionsUnregisterBatch_t, refElements);
SAME_FIELD(abi::RegionName, name, nvtxMemRegionNameDesc_t, name);
SAME_FIELD(abi::RegionsName, elements, nvtxMemRegionsNameBatch_t, regionElements);
SAME_VALUE(abi::kSubAllocator, NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR);
SAME_VALUE(abi::kVirtualAddress, NVTX_MEM_TYPE_VIRTUAL_ADDRESS);
SAME_VALUE(abi::kByPointer, NVTX_MEM_REGION_REF_TYPE_POINTER);
SAME_VALUE(abi::kByHandle, NVTX_MEM_REGION_REF_TYPE_HANDLE);

namespace {

nvtxEventAttributes_t Attributes(const char* text) {
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = text;
  return attributes;
}

void Levels() {
  std::printf("push %d", nvtxRangePushA("outer"));
  std::printf(" %d", nvtxRangePushW(L"inner \u00e4"));
  std::printf(" pop %d", nvtxRangePop());
  std::printf(" %d", nvtxRangePop());
  std::printf(" %d\n", nvtxRangePop());
}

void Payloads() {
  auto attributes = Attributes("payload range");
  attributes.payloadType = NVTX_PAYLOAD_TYPE_INT32;
  attributes.payload.iValue = -7;
  nvtxRangePushEx(&attributes);
  nvtxRangePop();
  attributes = Attributes("payload mark");
  attributes.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  attributes.payload.ullValue = 1ull << 40;
  nvtxMarkEx(&attributes);
  attributes = Attributes("loss");
  attributes.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
  attributes.payload.dValue = 0.125;
  nvtxMarkEx(&attributes);
  nvtxMarkA("plain mark");
  nvtxMarkW(L"wide mark");
}

void StartHereEndThere() {
  const nvtxRangeId_t first = nvtxRangeStartA("started");
  const nvtxRangeId_t second = nvtxRangeStartW(L"started too");
  std::thread([first] { nvtxRangeEnd(first); }).join();
  nvtxRangeEnd(second);
  std::printf("started %s\n", first != second ? "apart" : "alike");
}

void Domains() {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("MyDomain");
  const nvtxStringHandle_t string = nvtxDomainRegisterStringA(domain, "registered");
  auto attributes = Attributes(nullptr);
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = string;
  std::printf("domain push %d", nvtxDomainRangePushEx(domain, &attributes));
  nvtxRangePushA("across");  // the default domain is another stack
  std::printf(" pop %d", nvtxDomainRangePop(domain));
  std::printf(" default pop %d\n", nvtxRangePop());
  nvtxDomainMarkEx(domain, &attributes);
  nvtxDomainRangeEnd(domain, nvtxDomainRangeStartEx(domain, &attributes));
  std::printf("handles %s\n", domain != nullptr && string != nullptr ? "given" : "none");
  nvtxDomainDestroy(domain);
}

alignas(4096) char heap_memory[1 << 16];

void Memory() {
  nvtxMemVirtualRangeDesc_t range = {sizeof heap_memory, heap_memory};
  nvtxMemHeapDesc_t heap = {};
  heap.extCompatID = NVTX_EXT_COMPATID_MEM;
  heap.structSize = sizeof heap;
  heap.usage = NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR;
  heap.type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
  heap.typeSpecificDescSize = sizeof range;
  heap.typeSpecificDesc = &range;
  heap.messageType = NVTX_MESSAGE_TYPE_ASCII;
  heap.message.ascii = "my heap";
  const nvtxMemHeapHandle_t handle = nvtxMemHeapRegister(nullptr, &heap);

  nvtxMemVirtualRangeDesc_t pieces[2] = {{256, heap_memory}, {512, heap_memory + 1024}};
  nvtxMemRegionHandle_t regions[2] = {};
  nvtxMemRegionsRegisterBatch_t batch = {};
  batch.extCompatID = NVTX_EXT_COMPATID_MEM;
  batch.structSize = sizeof batch;
  batch.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
  batch.heap = handle;
  batch.regionCount = 2;
  batch.regionDescElementSize = sizeof pieces[0];
  batch.regionDescElements = pieces;
  batch.regionHandleElementsOut = regions;
  nvtxMemRegionsRegister(nullptr, &batch);

  nvtxMemRegionNameDesc_t name = {};
  name.regionRefType = NVTX_MEM_REGION_REF_TYPE_HANDLE;
  name.nameType = NVTX_MESSAGE_TYPE_ASCII;
  name.region.handle = regions[1];
  name.name.ascii = "second piece";
  nvtxMemRegionsNameBatch_t names = {};
  names.extCompatID = NVTX_EXT_COMPATID_MEM;
  names.structSize = sizeof names;
  names.regionCount = 1;
  names.regionElementSize = sizeof name;
  names.regionElements = &name;
  nvtxMemRegionsName(nullptr, &names);

  nvtxMemRegionRef_t reference = {};
  reference.pointer = heap_memory;
  nvtxMemRegionsUnregisterBatch_t gone = {};
  gone.extCompatID = NVTX_EXT_COMPATID_MEM;
  gone.structSize = sizeof gone;
  gone.refType = NVTX_MEM_REGION_REF_TYPE_POINTER;
  gone.refCount = 1;
  gone.refElementSize = sizeof reference;
  gone.refElements = &reference;
  nvtxMemRegionsUnregister(nullptr, &gone);
  nvtxMemHeapUnregister(nullptr, handle);
}

}  // namespace

int main() {
  Levels();
  Payloads();
  StartHereEndThere();
  Domains();
  Memory();
  return 0;
}
