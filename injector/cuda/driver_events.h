// SPDX-License-Identifier: Apache-2.0
// driver_functions.def lists the driver functions that the recorder replaces. Each function has an event: one
// of the structs below.
//
// Before() runs before the driver call and may save values in DriverCall::note. After() runs after the call.
// Each overload takes the parameters of the driver functions that have this event in driver_functions.def.
// trace::DriverMemory lists the kinds of memory.
#pragma once

#include "injector/cuda/driver_call.h"
#include "injector/cuda/loaded_functions.h"
#include "trace_format/event.h"

namespace vramscope::injector::driver {

struct DriverEvent {
  template <typename... Parameters>
  static void Before(DriverCall&, Parameters...) {}
  template <typename... Parameters>
  static void After(DriverCall&, Parameters...) {}
};

// Allocations are recorded after the call.
struct TakesDevice : DriverEvent {
  static void After(DriverCall& call, const DevicePtr* pointer, size_t bytes);
  static void After(DriverCall& call, const DevicePtr* pointer, const size_t* pitch, size_t width,
                    size_t height, unsigned element);
};
struct TakesManaged : DriverEvent {
  static void After(DriverCall& call, const DevicePtr* pointer, size_t bytes, unsigned flags);
};
struct TakesArray : DriverEvent {
  static void After(DriverCall& call, const Handle* array, const ArrayDescriptor* descriptor);
  static void After(DriverCall& call, const Handle* array, const Array3dDescriptor* descriptor,
                    unsigned levels = 1);
};
struct TakesHost : DriverEvent {
  static void After(DriverCall& call, void* const* memory, size_t bytes, unsigned flags = 0);
};
struct Registers : DriverEvent {
  static void After(DriverCall& call, const void* memory, size_t bytes, unsigned flags);
};
struct MapsForeign : DriverEvent {
  static void After(DriverCall& call, const DevicePtr* pointer, const IpcHandle& handle, unsigned flags);
  static void After(DriverCall& call, const DevicePtr* pointer, Handle memory, const ExternalBuffer* buffer);
  static void After(DriverCall& call, const DevicePtr* pointer, Handle pool, const void* exported);
};
struct ImportsMemory : DriverEvent {
  static void After(DriverCall& call, const Handle* memory, const ExternalMemory* descriptor);
};

// Frees are recorded before the call. If the call fails, a second record with the error follows
// (driver_records.h).
struct GivesBack : DriverEvent {
  static void Note(DriverCall& call, trace::DriverMemory kind, uint64_t address, uint64_t bytes = 0);
  static void Finish(const DriverCall& call, trace::DriverMemory kind, uint64_t address);
};
struct GivesDevice : GivesBack {
  static void Before(DriverCall& call, DevicePtr pointer);
  static void After(DriverCall& call, DevicePtr pointer);
};
struct GivesHandle : GivesBack {
  static void Before(DriverCall& call, PhysicalHandle handle);
  static void After(DriverCall& call, PhysicalHandle handle);
};
#define VRAMSCOPE_GIVES(event, kind, type)                                                                 \
  struct event : GivesBack {                                                                               \
    static void Before(DriverCall& call, type it) { Note(call, kind, uint64_t(it)); }                      \
    static void After(DriverCall& call, type it) { Finish(call, kind, uint64_t(it)); }                     \
    static void Before(DriverCall& call, type it, size_t bytes) { Note(call, kind, uint64_t(it), bytes); } \
    static void After(DriverCall& call, type it, size_t) { Finish(call, kind, uint64_t(it)); }             \
  };
VRAMSCOPE_GIVES(GivesArray, trace::DriverMemory::kArray, Handle)
VRAMSCOPE_GIVES(GivesReservation, trace::DriverMemory::kReservation, DevicePtr)
VRAMSCOPE_GIVES(GivesHost, trace::DriverMemory::kHostPinned, void*)
VRAMSCOPE_GIVES(Unregisters, trace::DriverMemory::kHostRegistered, void*)
VRAMSCOPE_GIVES(UnmapsForeign, trace::DriverMemory::kImported, DevicePtr)
VRAMSCOPE_GIVES(EndsImport, trace::DriverMemory::kReference, Handle)
#undef VRAMSCOPE_GIVES

// Pools.
struct TakesFromPool : DriverEvent {
  static void After(DriverCall& call, const DevicePtr* pointer, size_t bytes, Handle stream);
  static void After(DriverCall& call, const DevicePtr* pointer, size_t bytes, Handle pool, Handle stream);
};
struct GivesToPool : GivesBack {
  static void Before(DriverCall& call, DevicePtr pointer, Handle stream);
  static void After(DriverCall& call, DevicePtr pointer, Handle stream);
};
struct MakesPool : DriverEvent {
  static void After(DriverCall& call, const Handle* pool, const PoolProperties* properties);
};
struct EndsPool : DriverEvent {
  static void After(DriverCall& call, Handle pool);
};
struct ChangesPool : DriverEvent {
  static void After(DriverCall& call, Handle pool, size_t keep);
  static void After(DriverCall& call, Handle pool, int attribute, const void* value);
};

// Virtual memory.
struct Reserves : DriverEvent {
  static void After(DriverCall& call, const DevicePtr* pointer, size_t bytes, size_t alignment,
                    DevicePtr wanted, unsigned long long flags);
};
struct TakesPhysical : DriverEvent {
  static void After(DriverCall& call, const PhysicalHandle* handle, size_t bytes,
                    const AllocationProperties* properties, unsigned long long flags);
};
struct TakesReference : DriverEvent {
  static void After(DriverCall& call, const PhysicalHandle* handle, const void* address);
  static void After(DriverCall& call, const PhysicalHandle* handle, const void* shareable, int type);
};
struct MakesMulticast : DriverEvent {
  static void After(DriverCall& call, const PhysicalHandle* handle, const MulticastProperties* properties);
};
struct Maps : DriverEvent {
  static void After(DriverCall& call, DevicePtr pointer, size_t bytes, size_t offset, PhysicalHandle handle,
                    unsigned long long flags);
};
struct Unmaps : DriverEvent {
  static void Before(DriverCall& call, DevicePtr pointer, size_t bytes);
  static void After(DriverCall& call, DevicePtr pointer, size_t bytes);
};

// Graphs. A node is recorded when the program adds the node. The memory of graphs is recorded after a launch,
// as the driver reports it.
struct AddsAllocationNode : DriverEvent {
  static void After(DriverCall& call, const Handle* node, Handle graph, const Handle* after, size_t count,
                    const AllocationNode* allocation);
};
struct AddsFreeNode : DriverEvent {
  static void After(DriverCall& call, const Handle* node, Handle graph, const Handle* after, size_t count,
                    DevicePtr pointer);
};
struct AddsNode : DriverEvent {
  static void After(DriverCall& call, const Handle* node, Handle graph, const Handle* after, size_t count,
                    const GraphNode* parameters);
  static void After(DriverCall& call, const Handle* node, Handle graph, const Handle* after,
                    const void* edges, size_t count, const GraphNode* parameters);
};
struct LaunchesGraph : DriverEvent {
  static void After(DriverCall& call, Handle graph, Handle stream);
};
struct TrimsGraphs : DriverEvent {
  static void After(DriverCall& call, int device);
};

// Contexts and code. The size of a context or of code is the change of the device's used memory during the
// call.
struct MakesPrimaryContext : DriverEvent {
  static void Before(DriverCall& call, const Handle* context, int device);
  static void After(DriverCall& call, const Handle* context, int device);
};
struct EndsPrimaryContext : DriverEvent {
  static void Before(DriverCall& call, int device);
  static void After(DriverCall& call, int device);
};
struct MakesContext : DriverEvent {
  static void Before(DriverCall& call, const Handle* context, unsigned flags, int device);
  static void Before(DriverCall& call, const Handle* context, const void* affinity, int count, unsigned flags,
                     int device);
  static void Before(DriverCall& call, const Handle* context, const void* parameters, unsigned flags,
                     int device);
  static void Before(DriverCall& call, const Handle* context, const void* resources, int device,
                     unsigned flags);
  static void After(DriverCall& call, const Handle* context, unsigned flags, int device);
  static void After(DriverCall& call, const Handle* context, const void* affinity, int count, unsigned flags,
                    int device);
  static void After(DriverCall& call, const Handle* context, const void* parameters, unsigned flags,
                    int device);
  static void After(DriverCall& call, const Handle* context, const void* resources, int device,
                    unsigned flags);
};
struct EndsContext : GivesBack {
  static void Before(DriverCall& call, Handle context);
  static void After(DriverCall& call, Handle context);
};
struct LoadsCode : DriverEvent {
  static void NoteUse(DriverCall& call);
  static void RecordUse(const DriverCall& call, Handle module);
  // Returns true if the device's used memory grew, and records the difference as code without a module
  // handle.
  static bool RecordGrowth(const DriverCall& call);
  // If the device's used memory shrank, records the difference as freed code of `module` (nullptr: code
  // without a handle). For a module, a free of 0 bytes is recorded too, because the driver may reuse the
  // handle.
  static void RecordShrinkage(const DriverCall& call, Handle module);
  template <typename... Parameters>
  static void Before(DriverCall& call, Parameters...) {
    NoteUse(call);
  }
  template <typename... Parameters>
  static void After(DriverCall& call, const Handle* module, Parameters...) {
    RecordUse(call, *module);
  }
};
struct FindsCode : LoadsCode {
  template <typename... Parameters>
  static bool IsUsual(Parameters...) {
    return LookupsLoadNothing();
  }
  template <typename... Parameters>
  static void After(DriverCall& call, Parameters...) {
    NoteLookup(RecordGrowth(call));
  }
};
struct FindsVariable : FindsCode {};
// The used memory is queried only at the first use of each kernel. If IsUsual() returns true,
// driver_entries.cc passes the call directly to the driver.
struct UsesCode : LoadsCode {
  template <typename... Parameters>
  static bool IsUsual(Parameters... parameters) {
    return IsLoaded(FunctionOf(parameters...));
  }
  template <typename... Parameters>
  static void After(DriverCall& call, Parameters... parameters) {
    RecordGrowth(call);
    if (call.result == kSuccess) NoteLoaded(FunctionOf(parameters...));
  }

 private:
  // The overloads return the kernel that a call uses. This overload is for cuLaunchKernel, cuFuncLoad and
  // others.
  template <typename... Rest>
  static Handle FunctionOf(Handle function, Rest...) {
    return function;
  }
  template <typename... Rest>
  static Handle FunctionOf(const LaunchConfiguration*, Handle function, Rest...) {
    return function;
  }
  // For the cuOccupancy functions.
  template <typename... Rest>
  static Handle FunctionOf(const int*, Handle function, Rest...) {
    return function;
  }
  // For cuFuncGetAttribute, cuKernelGetAttribute and cuKernelSetAttribute.
  template <typename Value, typename... Rest>
  static Handle FunctionOf(Value, int, Handle function, Rest...) {
    return function;
  }
  static Handle FunctionOf(const Handle*, Handle kernel) { return kernel; }
};
struct UnloadsCode : LoadsCode {
  static void After(DriverCall& call, Handle module);
};
// The driver allocates memory for a limit either in the call or at the next launch.
struct SetsLimit : LoadsCode {
  static void After(DriverCall& call, int limit, size_t value);
};

// Records the result of the program's own cuMemGetInfo call.
struct TellsUse : DriverEvent {
  static void After(DriverCall& call, const size_t* free_bytes, const size_t* total);
};

struct FindsFunction : DriverEvent {
  static void After(DriverCall& call, const char* name, void** function, int version, uint64_t flags,
                    int* status = nullptr);
};

}  // namespace vramscope::injector::driver
