// SPDX-License-Identifier: Apache-2.0
// Stream-ordered memory, virtual memory and graphs: memory that is managed separately from the addresses at
// which it is used.
#include "injector/cuda/driver_events.h"
#include "injector/cuda/driver_questions.h"
#include "injector/cuda/driver_records.h"
#include "injector/cuda/driver_totals.h"

namespace vramscope::injector::driver {
namespace {

using trace::DriverMemory;

constexpr int kOnDevice = 1;  // CU_MEM_LOCATION_TYPE_DEVICE

uint64_t Number(const void* handle) { return reinterpret_cast<uint64_t>(handle); }

void TakenFrom(const DriverCall& call, Handle pool, DevicePtr pointer, size_t bytes, Handle stream) {
  RecordTaken(call, {.kind = DriverMemory::kPoolBlock,
                     .address = pointer,
                     .bytes = bytes,
                     .device = DeviceCodeOfPool(pool),
                     .stream = Number(stream),
                     .pool = Number(pool)});
  RecordPoolTotal(pool);
}

void AddedNode(const DriverCall& call, DriverMemory kind, DevicePtr pointer, size_t bytes) {
  RecordTaken(call, {.kind = kind, .address = pointer, .bytes = bytes, .device = CurrentDeviceCode()});
  if (call.result == kSuccess) NoteAllocationNode();
}

}  // namespace

void TakesFromPool::After(DriverCall& call, const DevicePtr* pointer, size_t bytes, Handle stream) {
  const int device = CurrentDevice();
  Handle const pool = CurrentPoolOf(device);
  if (pool != nullptr) NotePoolDevice(pool, device);
  TakenFrom(call, pool, *pointer, bytes, stream);
}

void TakesFromPool::After(DriverCall& call, const DevicePtr* pointer, size_t bytes, Handle pool,
                          Handle stream) {
  TakenFrom(call, pool, *pointer, bytes, stream);
}

void GivesToPool::Before(DriverCall& call, DevicePtr pointer, Handle) {
  call.note[0] = Number(PoolOfPointer(pointer));
  Note(call, DriverMemory::kPoolBlock, pointer);
}

void GivesToPool::After(DriverCall& call, DevicePtr pointer, Handle) {
  Finish(call, DriverMemory::kPoolBlock, pointer);
  RecordPoolTotal(reinterpret_cast<Handle>(call.note[0]));
}

void MakesPool::After(DriverCall& call, const Handle* pool, const PoolProperties* properties) {
  call.api();  // proves the hook
  if (call.result == kSuccess && properties->location.type == kOnDevice)
    NotePoolDevice(*pool, properties->location.id);
}

void EndsPool::After(DriverCall& call, Handle pool) {
  call.api();
  RecordPoolTotal(pool);
}

void ChangesPool::After(DriverCall& call, Handle pool, size_t) {
  call.api();
  RecordPoolTotal(pool);
}

void ChangesPool::After(DriverCall& call, Handle pool, int, const void*) {
  call.api();
  RecordPoolTotal(pool);
}

void Reserves::After(DriverCall& call, const DevicePtr* pointer, size_t bytes, size_t, DevicePtr,
                     unsigned long long) {
  RecordTaken(call, {.kind = DriverMemory::kReservation,
                     .address = *pointer,
                     .bytes = bytes,
                     .device = CurrentDeviceCode()});
}

// Physical memory may also be the host's (NUMA nodes): that is not device memory.
void TakesPhysical::After(DriverCall& call, const PhysicalHandle* handle, size_t bytes,
                          const AllocationProperties* properties, unsigned long long) {
  const bool on_device = properties->location.type == kOnDevice;
  RecordTaken(call, {.kind = on_device ? DriverMemory::kPhysical : DriverMemory::kReference,
                     .address = *handle,
                     .bytes = bytes,
                     .device = on_device ? CodeOfDevice(properties->location.id) : CurrentDeviceCode()});
  RecordDeviceTotalSometimes();
}

void TakesReference::After(DriverCall& call, const PhysicalHandle* handle, const void*) {
  RecordTaken(
      call,
      {.kind = DriverMemory::kReference, .address = *handle, .bytes = 0, .device = CurrentDeviceCode()});
}

void TakesReference::After(DriverCall& call, const PhysicalHandle* handle, const void* shareable, int) {
  After(call, handle, shareable);
}

void MakesMulticast::After(DriverCall& call, const PhysicalHandle* handle,
                           const MulticastProperties* properties) {
  RecordTaken(call, {.kind = DriverMemory::kMulticast,
                     .address = *handle,
                     .bytes = properties->bytes,
                     .device = CurrentDeviceCode()});
}

void Maps::After(DriverCall& call, DevicePtr pointer, size_t bytes, size_t, PhysicalHandle handle,
                 unsigned long long) {
  RecordMapping(call, pointer, bytes, true, handle);
}

void Unmaps::Before(DriverCall& call, DevicePtr pointer, size_t bytes) {
  RecordMapping(call, pointer, bytes, false, 0);
}

void Unmaps::After(DriverCall& call, DevicePtr pointer, size_t bytes) {
  if (call.result != kSuccess) RecordMapping(call, pointer, bytes, false, 0);
}

void GivesHandle::Before(DriverCall& call, PhysicalHandle handle) {
  Note(call, DriverMemory::kPhysical, handle);
}

// The driver's total is queried here and not after the unmapping. Memory from before an attach is recorded as
// freed when it is unmapped. But the device holds it until its handle is released, and that handle is not
// known.
void GivesHandle::After(DriverCall& call, PhysicalHandle handle) {
  Finish(call, DriverMemory::kPhysical, handle);
  RecordDeviceTotalSometimes();
}

void AddsAllocationNode::After(DriverCall& call, const Handle*, Handle, const Handle*, size_t,
                               const AllocationNode* allocation) {
  AddedNode(call, DriverMemory::kGraph, allocation->pointer, allocation->bytes);
}

void AddsFreeNode::After(DriverCall& call, const Handle*, Handle, const Handle*, size_t, DevicePtr pointer) {
  RecordGiven(call, DriverMemory::kGraph, pointer);
}

void AddsNode::After(DriverCall& call, const Handle*, Handle, const Handle*, size_t,
                     const GraphNode* parameters) {
  if (parameters->type == kAllocationNode)
    AddedNode(call, DriverMemory::kGraph, parameters->allocation.pointer, parameters->allocation.bytes);
  if (parameters->type == kFreeNode) RecordGiven(call, DriverMemory::kGraph, parameters->freed);
}

void AddsNode::After(DriverCall& call, const Handle* node, Handle graph, const Handle* after, const void*,
                     size_t count, const GraphNode* parameters) {
  After(call, node, graph, after, count, parameters);
}

void LaunchesGraph::After(DriverCall& call, Handle, Handle) {
  if (!AnyAllocationNode()) return;
  call.api();
  RecordGraphTotal(CurrentDevice());
}

void TrimsGraphs::After(DriverCall& call, int device) {
  call.api();
  RecordGraphTotal(device);
}

}  // namespace vramscope::injector::driver
