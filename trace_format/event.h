// SPDX-License-Identifier: Apache-2.0
// The events of a trace: all event types, and the fields of each type.
//
// The recorder, encoder, decoder, docs/trace-format.md and the Python reader in tests/ all follow
// kEventSchema. To record a new fact, add a row to kEventSchema, or a field at the end of a row. Old readers
// skip unknown types and fields. On disk, every field is a column (column.h) with its event type and field
// number.
//
//   Event    time_ns │ thread │ type │ field[0] field[1] ... field[7]
//                                      the meaning of field[i] is in kEventSchema[type].fields[i]
//
//   kFree    1500    │ 0      │ 2    │ 0x7f00 512 256 0 ...  field 0 = address, 1 = size, 2 = device (cuda:0)
//
// Events contain only observed facts; profiler/ derives categories, steps and phases. The recorder inside the
// recorded process includes this header. Therefore it defines only plain data and includes only <cstdint> and
// <cstddef>.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::trace {

// In the comments, "deep" marks facts that are recorded only in deep steps.
// clang-format off

enum class EventType : uint8_t {
  kNone = 0,
  kAlloc = 1,  // a framework allocator has allocated a block
  // the program freed a block; the free may still wait for other streams (kFreeCompleted)
  kFree = 2,
  kOutOfMemory = 3,    // a request to the framework allocator failed
  kLabel = 4,          // the storage at an address has a role: parameter, gradient, ...
  kSaved = 5,          // autograd keeps this storage for backward
  kSavedReleased = 6,  // autograd releases a saved storage; once per kSaved, if the hooks see the release
  kRangeBegin = 7,     // a named interval on this thread: backward, optimizer step, module forward, ...
  kRangeEnd = 8,
  kMark = 9,      // something happened at this moment: see MarkKind
  kOpBegin = 10,  // deep: an operator call begins; operators nest
  kOpEnd = 11,
  // deep: an operand of the innermost open operator (before its inner events), or a result (before kOpEnd)
  kOpTensor = 12,
  kOpScalar = 13,     // deep: a scalar argument that affects shapes, dims or dtypes
  kNodeCreated = 14,  // deep: the innermost open operator has created an autograd node
  kNodeEdge = 15,     // deep: an edge of the autograd graph
  kNodeBegin = 16,    // deep: the autograd engine begins to run a node
  kNodeEnd = 17,
  kCounter = 18,      // a sampled value: RSS, pinned bytes, NVML used
  kLost = 19,         // the recorder dropped events of this thread
  kCoverage = 20,     // state of a hook in this process (CoverageState)
  kDriverAlloc = 21,  // the driver has allocated memory (DriverMemory)
  kDriverFree = 22,
  kDriverMap = 23,      // virtual memory was mapped or unmapped
  kSegment = 24,        // caching allocator: a segment was allocated or freed; only in snapshots
  kFreeCompleted = 25,  // caching allocator: a pending free has completed
  kDriverTotal = 26,    // memory in use at this moment, as the driver reports it
};
inline constexpr size_t kEventTypeCount = 27;

inline constexpr size_t kMaxEventFields = 8;

struct Event {
  uint64_t time_ns = 0;  // time since the start of the trace
  uint32_t thread = 0;   // index into the trace's threads; a thread belongs to one process
  EventType type = EventType::kNone;
  uint64_t field[kMaxEventFields] = {};
};

// The kinds of kMark events, and the meaning of their fields.
enum class MarkKind : uint16_t {
  // an optimizer has stepped; value: its number of steps; name: its class; tensor: its identity
  kOptimizerStepDone = 1,
  // deep steps begin in this process; value: 1-based number of the step that begins
  kDeepBegin = 2,
  kDeepEnd = 3,
  // gradients were zeroed (value 0) or set to None (value 1). Python marks only a sample of the calls. Every
  // call has a range RangeKind::kZeroGrad
  kZeroGrad = 4,
  kBatchReady = 5,  // a data loader returned a batch
  kFork = 6,        // value: pid of the child
  // the process ends by exec; the same pid continues as a new process of the trace
  kExec = 7,
  kExit = 8,  // value: exit status, as from waitpid()
  kUser = 9,  // `name` is the text
  // the last reference to the checkpoint with RangeKind::kCheckpoint id = value was deleted
  kCheckpointFreed = 10,
  // 11 to 18: from earlier versions; readers skip them.

  // torch.cuda.memory._set_memory_metadata: PyTorch adds `name` to all later allocator events; 0 = no name
  kUserMetadata = 19,
};

// A kOpScalar position of earlier versions: the Python function that called the op. Readers skip it.
inline constexpr uint64_t kOpCaller = 0xFF;

// kLabel `role`: the role of a storage.
enum class Role : uint16_t {
  kParameter = 1,
  kBuffer = 2,
  kGradient = 3,
  kOptimizerState = 4,
  kInput = 5,
  kWorkspace = 6,
  kCommunication = 7,
  // the program has named this memory; name 0 removes the name. Does not change the category
  kNamed = 8,
  // 9 to 13: from earlier versions; readers skip them.
};

// kLabel `source`: the hook that observed the role.
enum class LabelSource : uint16_t {
  kAccumulateGrad = 1,  // AccumulateGrad::apply or its constructor
  kModuleRegistry = 2,  // parameters and buffers of nn.Module, with names
  kOptimizer = 3,       // optimizer.param_groups / optimizer.state
  kDataLoader = 4,
  kRegisterBuffer = 5,  // LibTorch Module::register_buffer / register_parameter
  kWorkspace = 6,       // the functions that allocate PyTorch's library workspaces
  kNvtx = 7,            // the memory extension of NVTX
  kVariable = 8,        // variables in Python frames; only in traces of earlier versions
  // passed to an NCCL collective; name: the collective. The address may be inside a block
  kCollective = 9,
  // allocated for communication: buckets of DDP, gathered parameters of FSDP
  kDataParallel = 10,
  kUserMetadata = 11,  // MarkKind::kUserMetadata was active when the block was allocated
  kAnnotation = 12,    // torch.cuda.memory._annotate_tensor
};

// The kinds of kRangeBegin and kRangeEnd events, and the meaning of their fields.
enum class RangeKind : uint16_t {
  kBackward = 1,    // Engine::execute
  kOptimizer = 2,   // optimizer.step(); name: class; id: identity of the optimizer object
  kDataLoader = 3,  // next(iter(loader))
  kModule = 4,      // module forward; name: dotted path
  kScope = 5,       // torch.profiler.record_function and other user scopes
  kAutocast = 6,    // name: dtype
  // torch.utils.checkpoint; name: "checkpoint" (forward) or "recomputation"; both have the same id; 0 =
  // unknown
  kCheckpoint = 7,
  // NVTX; name: "domain:message". A push/pop range has id 0. A start/end range has another id; its end event
  // has the id but no name, and may be on any thread
  kNvtx = 8,
  kZeroGrad = 9,
  // CUDAGraph::replay; id: identity of the graph. The replay uses memory that the graph owns
  kGraphReplay = 10,
};

// The state of a hook in a kCoverage event.
enum class CoverageState : uint16_t {
  kMissing = 0,   // the symbol does not exist, or could not be hooked
  kHooked = 1,    // the hook is installed
  kProven = 2,    // the hook is installed and was called
  kDisabled = 3,  // switched off by an option
};

// The kind of memory of kDriverAlloc and kDriverFree, in bits 0 to 7 of `flags`. "Takes nothing" means that
// the device's used memory does not change.
enum class DriverMemory : uint8_t {
  kUnknown = 0,
  kDevice = 1,   // cuMemAlloc, cuMemAllocPitch
  kManaged = 2,  // cuMemAllocManaged: pages move between host and device; used memory has only resident pages
  // cuMemAllocAsync: a block of the pool in bits 8 to 63 of `flags`. Takes nothing, because the pool has
  // reserved the memory (DriverTotalSource::kPool)
  kPoolBlock = 3,
  // cuMemCreate: address = the handle. Freed when all handles are released and all mappings removed
  kPhysical = 4,
  // cuMemRetainAllocationHandle, import: another handle to existing memory; takes nothing
  kReference = 5,
  kReservation = 6,  // cuMemAddressReserve: only addresses; takes nothing
  kArray = 7,        // CUDA arrays; size computed from the format, 0 = unknown
  kGraph = 8,        // allocation nodes of CUDA graphs
  kContext = 9,      // a context; size = growth of used memory; address = CUcontext
  // code, global variables, limits; size = growth of used memory. address = CUmodule or CUlibrary; 0 for code
  // that the driver loads at the first use of a kernel
  kModule = 10,
  // cuIpcOpenMemHandle, cuExternalMemoryGetMappedBuffer: memory of another owner; takes nothing
  kImported = 11,
  kMulticast = 12,       // cuMulticastCreate
  kHostPinned = 13,      // cuMemHostAlloc, cuMemAllocHost: host memory
  kHostRegistered = 14,  // cuMemHostRegister: existing host memory
};
constexpr uint64_t DriverFlags(DriverMemory kind, uint64_t pool) {
  return pool << 8 | static_cast<uint64_t>(kind);
}
constexpr DriverMemory DriverMemoryOf(uint64_t flags) { return static_cast<DriverMemory>(flags & 0xff); }
constexpr uint64_t DriverPoolOf(uint64_t flags) { return flags >> 8; }

// The source of the values in a kDriverTotal event.
enum class DriverTotalSource : uint16_t {
  kMemGetInfo = 1,  // cuMemGetInfo: used = total - free, for all processes of the device
  kPool = 2,        // pool `id`: used = CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, total = USED_MEM_CURRENT
  kGraphs = 3,      // used = CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, total = USED_MEM_CURRENT
  kDevice = 4,      // NVML: memory of the whole device
  kProcess = 5,     // NVML: memory of the process with process id `id`
};

// Bits of kSaved `is_output`. First bit: autograd saved an output of the node.
inline constexpr uint64_t kSavedIsOutput = 1;
// Second bit: a saved-tensor hook (checkpointing, offloading) received the tensor. Autograd holds nothing,
// and no kSavedReleased follows.
inline constexpr uint64_t kSavedByHook = 2;

// The only stack frame of a kAlloc for a block that was allocated before the recording began. The time of the
// event is the time at which the recorder found the block.
inline constexpr char kHeldFrame[] = "before attach";

// Bits of kOpTensor `flags`.
inline constexpr uint64_t kTensorIsOutput = 1;
inline constexpr uint64_t kTensorRequiresGrad = 2;
inline constexpr uint64_t kTensorIsView = 4;
inline constexpr uint64_t kTensorIsLeaf = 8;

// kOpTensor `position`. Bits 0 to 15 are the number of the argument or result. For an element of a tensor
// list, the bits above are the element's index + 1. Example: element 2 of argument 1 is 3 << 16 | 1 =
// 0x30001.
constexpr uint64_t OperandPosition(uint32_t argument, uint32_t element_plus_one) {
  return uint64_t{element_plus_one} << 16 | (argument & 0xffff);
}

// A device as one number. Bits 8 to 15 are the c10::DeviceType (0 = CPU, 1 = CUDA). Bits 0 to 7 are the
// index; 0xff is the default device. Example: cuda:1 is 0x101.
constexpr uint64_t DeviceCode(uint8_t type, uint8_t index) { return uint64_t{type} << 8 | index; }
constexpr uint8_t DeviceTypeOf(uint64_t device) { return static_cast<uint8_t>(device >> 8); }
constexpr uint8_t DeviceIndexOf(uint64_t device) { return static_cast<uint8_t>(device); }

// The kind of a field's value. It determines how the collector converts the value, and how the value is
// printed.
enum class FieldKind : uint8_t {
  kNumber,   // a plain count, size or enum
  kAddress,  // an address in the process; stored as small differences
  kString,   // id of an interned string (0 = none)
  kStack,    // id of an interned stack (0 = none)
};

struct FieldSpec {
  const char* name;
  FieldKind kind;
};

struct EventSpec {
  const char* name;  // nullptr: unknown type
  uint8_t field_count;
  FieldSpec fields[kMaxEventFields];
};

// clang-format off
inline constexpr EventSpec kEventSchema[kEventTypeCount] = {
    /* kNone */ {nullptr, 0, {}},
    /* kAlloc */
    {"alloc", 8,
     {{"address", FieldKind::kAddress}, {"size", FieldKind::kNumber}, {"device", FieldKind::kNumber},
      {"stream", FieldKind::kNumber}, {"stack", FieldKind::kStack}, {"requested", FieldKind::kNumber},
      {"total_allocated", FieldKind::kNumber}, {"total_reserved", FieldKind::kNumber}}},
    /* kFree: size 0 = the hook does not know the size */
    {"free", 6,
     {{"address", FieldKind::kAddress}, {"size", FieldKind::kNumber}, {"device", FieldKind::kNumber},
      {"stack", FieldKind::kStack}, {"total_allocated", FieldKind::kNumber},
      {"total_reserved", FieldKind::kNumber}}},
    /* kOutOfMemory */
    {"out_of_memory", 5,
     {{"requested", FieldKind::kNumber}, {"total_allocated", FieldKind::kNumber},
      {"total_reserved", FieldKind::kNumber}, {"device", FieldKind::kNumber}, {"stack", FieldKind::kStack}}},
    /* kLabel: bytes = size of the storage; tensor = TensorImpl address, stable while the tensor object
       lives */
    {"label", 6,
     {{"address", FieldKind::kAddress}, {"bytes", FieldKind::kNumber}, {"role", FieldKind::kNumber},
      {"source", FieldKind::kNumber}, {"name", FieldKind::kString}, {"tensor", FieldKind::kAddress}}},
    /* kSaved */
    {"saved", 4,
     {{"address", FieldKind::kAddress}, {"bytes", FieldKind::kNumber}, {"tensor", FieldKind::kAddress},
      {"is_output", FieldKind::kNumber}}},
    /* kSavedReleased */
    {"saved_released", 2, {{"address", FieldKind::kAddress}, {"bytes", FieldKind::kNumber}}},
    /* kRangeBegin */
    {"range_begin", 3,
     {{"kind", FieldKind::kNumber}, {"name", FieldKind::kString}, {"id", FieldKind::kAddress}}},
    /* kRangeEnd */
    {"range_end", 3,
     {{"kind", FieldKind::kNumber}, {"name", FieldKind::kString}, {"id", FieldKind::kAddress}}},
    /* kMark */
    {"mark", 4,
     {{"kind", FieldKind::kNumber}, {"value", FieldKind::kNumber}, {"name", FieldKind::kString},
      {"tensor", FieldKind::kAddress}}},
    /* kOpBegin: sequence = autograd sequence number (all ones = none); scope = at::RecordScope; stack = only
       for outermost operators */
    {"op_begin", 5,
     {{"name", FieldKind::kString}, {"sequence", FieldKind::kNumber}, {"forward_thread", FieldKind::kNumber},
      {"scope", FieldKind::kNumber}, {"stack", FieldKind::kStack}}},
    /* kOpEnd */
    {"op_end", 0, {}},
    /* kOpTensor: shape and strides are text "8,128,256" ("" for a scalar, no string if unknown);
       dtype = c10::ScalarType; offset in elements; position = OperandPosition(). For an autograd node, the
       operands of the next nodes are its results */
    {"op_tensor", 8,
     {{"flags", FieldKind::kNumber}, {"position", FieldKind::kNumber}, {"tensor", FieldKind::kAddress},
      {"storage", FieldKind::kAddress}, {"offset", FieldKind::kNumber}, {"shape", FieldKind::kString},
      {"strides", FieldKind::kString}, {"dtype", FieldKind::kNumber}}},
    /* kOpScalar: text = the argument as text ("[8,128,-1]", "True", "torch.bfloat16") */
    {"op_scalar", 2, {{"position", FieldKind::kNumber}, {"text", FieldKind::kString}}},
    /* kNodeCreated */
    {"node_created", 1, {{"sequence", FieldKind::kNumber}}},
    /* kNodeEdge: after each kNodeBegin, one event per output of the node, in order. node and next are Node
       addresses; next 0 = no edge; tensor = TensorImpl of the variable if next is an AccumulateGrad */
    {"node_edge", 4,
     {{"node", FieldKind::kAddress}, {"next", FieldKind::kAddress}, {"input", FieldKind::kNumber},
      {"tensor", FieldKind::kAddress}}},
    /* kNodeBegin */
    {"node_begin", 3,
     {{"node", FieldKind::kAddress}, {"name", FieldKind::kString}, {"sequence", FieldKind::kNumber}}},
    /* kNodeEnd */
    {"node_end", 1, {{"node", FieldKind::kAddress}}},
    /* kCounter */
    {"counter", 3,
     {{"name", FieldKind::kString}, {"value", FieldKind::kNumber}, {"device", FieldKind::kNumber}}},
    /* kLost: count events were dropped between first_ns and last_ns, both from the start of the trace */
    {"lost", 3,
     {{"count", FieldKind::kNumber}, {"first_ns", FieldKind::kNumber}, {"last_ns", FieldKind::kNumber}}},
    /* kCoverage */
    {"coverage", 3,
     {{"hook", FieldKind::kString}, {"state", FieldKind::kNumber}, {"detail", FieldKind::kString}}},
    /* kDriverAlloc: api = name of the driver call; library = the library that made the call; result = CUresult;
       if result is not 0, no memory was allocated */
    {"driver_alloc", 8,
     {{"address", FieldKind::kAddress}, {"size", FieldKind::kNumber}, {"device", FieldKind::kNumber},
      {"stream", FieldKind::kNumber}, {"api", FieldKind::kString}, {"library", FieldKind::kString},
      {"flags", FieldKind::kNumber}, {"result", FieldKind::kNumber}}},
    /* kDriverFree: size 0 = the call has no size argument */
    {"driver_free", 7,
     {{"address", FieldKind::kAddress}, {"size", FieldKind::kNumber}, {"device", FieldKind::kNumber},
      {"api", FieldKind::kString}, {"library", FieldKind::kString}, {"result", FieldKind::kNumber},
      {"flags", FieldKind::kNumber}}},
    /* kDriverMap: mapped = 1 or 0; handle = handle of the physical memory, 0 if unmapped */
    {"driver_map", 7,
     {{"address", FieldKind::kAddress}, {"size", FieldKind::kNumber}, {"device", FieldKind::kNumber},
      {"mapped", FieldKind::kNumber}, {"handle", FieldKind::kAddress}, {"result", FieldKind::kNumber},
      {"library", FieldKind::kString}}},
    /* kSegment */
    {"segment", 6,
     {{"address", FieldKind::kAddress}, {"size", FieldKind::kNumber}, {"device", FieldKind::kNumber},
      {"stream", FieldKind::kNumber}, {"came", FieldKind::kNumber}, {"pool", FieldKind::kNumber}}},
    /* kFreeCompleted */
    {"free_completed", 2, {{"address", FieldKind::kAddress}, {"device", FieldKind::kNumber}}},
    /* kDriverTotal */
    {"driver_total", 5,
     {{"device", FieldKind::kNumber}, {"source", FieldKind::kNumber}, {"used", FieldKind::kNumber},
      {"total", FieldKind::kNumber}, {"id", FieldKind::kAddress}}},
};

// Field numbers by name, so that code reads event.field[alloc::kSize].
namespace alloc {
enum : size_t { kAddress, kSize, kDevice, kStream, kStack, kRequested, kTotalAllocated, kTotalReserved };
}
namespace free_ { enum : size_t { kAddress, kSize, kDevice, kStack, kTotalAllocated, kTotalReserved }; }
namespace oom { enum : size_t { kRequested, kTotalAllocated, kTotalReserved, kDevice, kStack }; }
namespace label { enum : size_t { kAddress, kBytes, kRole, kSource, kName, kTensor }; }
namespace saved { enum : size_t { kAddress, kBytes, kTensor, kIsOutput }; }
namespace range { enum : size_t { kKind, kName, kId }; }
namespace mark { enum : size_t { kKind, kValue, kName, kTensor }; }
namespace op { enum : size_t { kName, kSequence, kForwardThread, kScope, kStack }; }
namespace op_tensor {
enum : size_t { kFlags, kPosition, kTensor, kStorage, kOffset, kShape, kStrides, kDtype };
}
namespace op_scalar { enum : size_t { kPosition, kText }; }
namespace node {
enum : size_t { kNode, kName, kSequence };
inline constexpr uint64_t kNoSequence = ~uint64_t{0};  // the node has no sequence number
}
namespace edge { enum : size_t { kNode, kNext, kInput, kTensor }; }
namespace counter { enum : size_t { kName, kValue, kDevice }; }
namespace lost { enum : size_t { kCount, kFirstNs, kLastNs }; }
namespace driver_alloc {
enum : size_t { kAddress, kSize, kDevice, kStream, kApi, kLibrary, kFlags, kResult };
}
namespace driver_free { enum : size_t { kAddress, kSize, kDevice, kApi, kLibrary, kResult, kFlags }; }
namespace driver_map { enum : size_t { kAddress, kSize, kDevice, kMapped, kHandle, kResult, kLibrary }; }
namespace segment {
enum : size_t { kAddress, kSize, kDevice, kStream, kChange, kPool };
inline constexpr uint64_t kCame = 1;    // the segment was allocated; without this bit: freed
inline constexpr uint64_t kMapped = 2;  // pages of an expandable segment
}
namespace driver_total { enum : size_t { kDevice, kSource, kUsed, kTotal, kId }; }
namespace coverage { enum : size_t { kHook, kState, kDetail }; }
// clang-format on

// clang-format on

}  // namespace vramscope::trace
