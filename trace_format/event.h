// SPDX-License-Identifier: Apache-2.0
// The events of a trace: every kind of recorded fact, and its fields.
//
// The recorder, encoder, decoder, docs/trace-format.md and the Python reader in tests/ all follow
// kEventSchema. A new fact is a new row, or a new field at the end of a row. Old readers skip unknown types
// and fields. On disk, every field is a column with its event type and field number.
//
//   Event    time_ns │ thread │ type │ field[0] field[1] ... field[7]
//                                      field[i] means kEventSchema[type].fields[i]
//
//   kFree    1500    │ 0      │ 2    │ 0x7f00 512 256 0 ...  field 0 = address, 1 = size, 2 = device (cuda:0)
//
// Events are facts: profiler/ derives categories, steps and phases. The target process includes this header:
// plain data, only <cstdint> and <cstddef>.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::trace {

// One line per value and row.
// clang-format off

enum class EventType : uint8_t {
  kNone = 0,
  kAlloc = 1,  // a block was handed out by a framework allocator
  // a block was given back (the request; a CUDA block may stay pending on other streams)
  kFree = 2,
  kOutOfMemory = 3,    // the framework allocator gave up
  kLabel = 4,          // the storage at an address plays a role: parameter, gradient, ...
  kSaved = 5,          // autograd keeps this storage for backward
  kSavedReleased = 6,  // autograd releases a storage that it kept (once per kSaved, if hooks see it)
  kRangeBegin = 7,     // a named interval on this thread: backward, optimizer step, module forward, ...
  kRangeEnd = 8,
  kMark = 9,      // a moment: see MarkKind
  kOpBegin = 10,  // deep: an operator call (nesting gives the parent composite op)
  kOpEnd = 11,
  // deep: an operand (before the op's inner events) or a result (before its kOpEnd) of the innermost open op
  kOpTensor = 12,
  kOpScalar = 13,     // deep: a scalar argument that carries shapes, dims or dtypes
  kNodeCreated = 14,  // deep: an autograd node was constructed inside the innermost open op
  kNodeEdge = 15,     // deep: an edge of the autograd graph
  kNodeBegin = 16,    // deep: the engine starts to run a node
  kNodeEnd = 17,
  kCounter = 18,      // a sampled quantity: RSS, pinned bytes, NVML used
  kLost = 19,         // the recorder dropped events of this thread between two times
  kCoverage = 20,     // a hook reports whether it works in this process
  kDriverAlloc = 21,  // device memory taken from the driver
  kDriverFree = 22,
  kDriverMap = 23,      // virtual memory mapped (1) or unmapped (0)
  kSegment = 24,        // caching allocator: a segment was allocated or freed; only in snapshots
  kFreeCompleted = 25,  // caching allocator: a pending free became reusable
  kDriverTotal = 26,    // memory in use at this moment, as the driver reports it
};
inline constexpr size_t kEventTypeCount = 27;

inline constexpr size_t kMaxEventFields = 8;

struct Event {
  uint64_t time_ns = 0;  // since the trace's start
  uint32_t thread = 0;   // index into the trace's threads; a thread belongs to one process
  EventType type = EventType::kNone;
  uint64_t field[kMaxEventFields] = {};
};

// kMark
enum class MarkKind : uint16_t {
  // value: number of steps of this optimizer; name: its class; tensor: its identity
  kOptimizerStepDone = 1,
  // from here on this process records deep facts; value: the step that begins (1 = first)
  kDeepBegin = 2,
  kDeepEnd = 3,
  // gradients were dropped or zeroed; value 1 = set to None. Python marks only a sample of the calls. Every
  // call has its RangeKind::kZeroGrad
  kZeroGrad = 4,
  kBatchReady = 5,  // a data loader returned a batch
  kFork = 6,        // value: pid of the child
  // the process ends by exec; the same pid continues as a new process of the trace
  kExec = 7,
  kExit = 8,  // value: exit status as waitpid gives it
  kUser = 9,  // `name` is the text
  // the last reference to the kCheckpoint ranges with id = value is gone; the memory of their hooks is freed
  kCheckpointFreed = 10,
  // 11 to 18: from earlier versions; readers skip them.

  // PyTorch's allocator adds `name` to its events from here on; 0 = nothing
  // (torch.cuda.memory._set_memory_metadata)
  kUserMetadata = 19,
};

// A kOpScalar position of earlier versions: the Python function that called the op. Readers skip it.
inline constexpr uint64_t kOpCaller = 0xFF;

// kLabel: the role of a storage, as observed by the hook `source`.
enum class Role : uint16_t {
  kParameter = 1,
  kBuffer = 2,
  kGradient = 3,
  kOptimizerState = 4,
  kInput = 5,
  kWorkspace = 6,
  kCommunication = 7,
  // a name that the program gave this memory; name 0 removes it. Independent of the category
  kNamed = 8,
  // 9 to 13: from earlier versions; readers skip them.
};

// kLabel: the hook that observed the role.
enum class LabelSource : uint16_t {
  kAccumulateGrad = 1,  // AccumulateGrad::apply or its constructor
  kModuleRegistry = 2,  // names from nn.Module
  kOptimizer = 3,       // optimizer.param_groups / optimizer.state
  kDataLoader = 4,
  kRegisterBuffer = 5,  // LibTorch Module::register_buffer / register_parameter
  kWorkspace = 6,       // the functions that allocate PyTorch's library workspaces
  kNvtx = 7,            // the memory extension of NVTX
  kVariable = 8,        // frames of the Python interpreter; written by earlier versions
  // passed to a collective of NCCL; the address may lie inside a block; name: which collective
  kCollective = 9,
  // allocated for communication: buckets of DDP, gathered parameters of FSDP
  kDataParallel = 10,
  kUserMetadata = 11,  // MarkKind::kUserMetadata was active when the block was allocated
  kAnnotation = 12,    // torch.cuda.memory._annotate_tensor
};

// kRangeBegin / kRangeEnd
enum class RangeKind : uint16_t {
  kBackward = 1,    // Engine::execute
  kOptimizer = 2,   // optimizer.step(); name: class; id: identity of the optimizer object
  kDataLoader = 3,  // next(iter(loader))
  kModule = 4,      // module forward; name: dotted path
  kScope = 5,       // torch.profiler.record_function and other user scopes
  kAutocast = 6,    // name: dtype
  // torch.utils.checkpoint; name: "checkpoint" (forward) or "recomputation"; id: joins the two, 0 = not known
  kCheckpoint = 7,
  // NVTX; name: "domain:message". id 0 = a push/pop range. Otherwise a start/end range: its end has the id
  // but no name, and may be on any thread
  kNvtx = 8,
  kZeroGrad = 9,
  // CUDAGraph::replay: the captured work runs in memory that the graph keeps; id: identity of the graph
  kGraphReplay = 10,
};

// kCoverage
enum class CoverageState : uint16_t {
  kMissing = 0,   // the symbol does not exist here, or could not be reached
  kHooked = 1,    // in place
  kProven = 2,    // in place and has fired
  kDisabled = 3,  // switched off by an option
};

// kDriverAlloc and kDriverFree `flags`, low 8 bits: the kind of memory. "Takes nothing": the device's used
// memory does not change.
enum class DriverMemory : uint8_t {
  kUnknown = 0,
  kDevice = 1,   // cuMemAlloc, cuMemAllocPitch
  kManaged = 2,  // cuMemAllocManaged: moves between host and device; the driver counts resident pages
  // cuMemAllocAsync: lies in the pool named by bits 8 to 63. Takes nothing itself, see
  // DriverTotalSource::kPool
  kPoolBlock = 3,
  // cuMemCreate: address = the handle. Freed when all handles are released and all mappings removed
  kPhysical = 4,
  // cuMemRetainAllocationHandle, import: another handle to existing memory; takes nothing
  kReference = 5,
  kReservation = 6,  // cuMemAddressReserve: addresses; takes nothing
  kArray = 7,        // cuArrayCreate and mipmapped arrays: size computed from the format, 0 = not known
  kGraph = 8,        // allocation nodes of graphs
  kContext = 9,      // a context, measured as the difference of free memory; address = CUcontext
  // code, its globals, limits: measured as the difference of used memory. address = CUmodule, CUlibrary, or 0
  // for kernels at first use
  kModule = 10,
  // cuIpcOpenMemHandle, cuExternalMemoryGetMappedBuffer: another owner's memory; takes nothing
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

// kDriverTotal
enum class DriverTotalSource : uint16_t {
  kMemGetInfo = 1,  // cuMemGetInfo: used = total - free, for all processes of the device
  kPool = 2,        // pool `id`: used = CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, total = USED_MEM_CURRENT
  kGraphs = 3,      // used = CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, total = USED_MEM_CURRENT
  kDevice = 4,      // NVML: the device as a whole
  kProcess = 5,     // NVML: the process `id` (its pid)
};

// kSaved `is_output`: two facts about how autograd saved the tensor.
inline constexpr uint64_t kSavedIsOutput = 1;
// a saved-tensor hook (checkpointing, offloading) took it: autograd holds nothing, and no release follows
inline constexpr uint64_t kSavedByHook = 2;

// The only stack frame of a kAlloc for a block from before recording (attach). The time is when the block was
// found.
inline constexpr char kHeldFrame[] = "before attach";

// kOpTensor `flags`
inline constexpr uint64_t kTensorIsOutput = 1;
inline constexpr uint64_t kTensorRequiresGrad = 2;
inline constexpr uint64_t kTensorIsView = 4;
inline constexpr uint64_t kTensorIsLeaf = 8;

// kOpTensor `position`: number of the argument (or result) in bits 0 to 15. For an element of a tensor list:
// its index + 1 in the bits above. Element 2 of argument 1: 3 << 16 | 1 = 0x30001.
constexpr uint64_t OperandPosition(uint32_t argument, uint32_t element_plus_one) {
  return uint64_t{element_plus_one} << 16 | (argument & 0xffff);
}

// A device as one number. Bits 8 to 15: type (c10::DeviceType: 0 CPU, 1 CUDA, ...). Bits 0 to 7: index (0xff
// = the default device). cuda:1 = 0x101.
constexpr uint64_t DeviceCode(uint8_t type, uint8_t index) { return uint64_t{type} << 8 | index; }
constexpr uint8_t DeviceTypeOf(uint64_t device) { return static_cast<uint8_t>(device >> 8); }
constexpr uint8_t DeviceIndexOf(uint64_t device) { return static_cast<uint8_t>(device); }

// The kind of a field's value. The kind decides remapping and printing.
enum class FieldKind : uint8_t {
  kNumber,   // a plain count, size or enum
  kAddress,  // an address in the process; neighbors are close, so deltas are small
  kString,   // id of an interned string (0 = none)
  kStack,    // id of an interned stack (0 = none)
};

struct FieldSpec {
  const char* name;
  FieldKind kind;
};

struct EventSpec {
  const char* name;  // nullptr: not a known type
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
    /* kFree: size 0 = unknown to the hook */
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
    /* kOpBegin: sequence = autograd sequence number (all ones = none); scope = at::RecordScope; stack only on
       outermost ops */
    {"op_begin", 5,
     {{"name", FieldKind::kString}, {"sequence", FieldKind::kNumber}, {"forward_thread", FieldKind::kNumber},
      {"scope", FieldKind::kNumber}, {"stack", FieldKind::kStack}}},
    /* kOpEnd */
    {"op_end", 0, {}},
    /* kOpTensor: shape and strides are text "8,128,256" ("" for a scalar, no string if unknown);
       dtype = c10::ScalarType; offset in elements; position = OperandPosition(). Results of an autograd node
       are the operands of the next nodes */
    {"op_tensor", 8,
     {{"flags", FieldKind::kNumber}, {"position", FieldKind::kNumber}, {"tensor", FieldKind::kAddress},
      {"storage", FieldKind::kAddress}, {"offset", FieldKind::kNumber}, {"shape", FieldKind::kString},
      {"strides", FieldKind::kString}, {"dtype", FieldKind::kNumber}}},
    /* kOpScalar: text = the argument as text ("[8,128,-1]", "True", "torch.bfloat16") */
    {"op_scalar", 2, {{"position", FieldKind::kNumber}, {"text", FieldKind::kString}}},
    /* kNodeCreated */
    {"node_created", 1, {{"sequence", FieldKind::kNumber}}},
    /* kNodeEdge: after each kNodeBegin, one per output of the node in order (next 0 = leads nowhere). node
       and next are Node addresses; tensor = TensorImpl of the variable if next is an AccumulateGrad */
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
    /* kLost: times are since the trace's start */
    {"lost", 3,
     {{"count", FieldKind::kNumber}, {"first_ns", FieldKind::kNumber}, {"last_ns", FieldKind::kNumber}}},
    /* kCoverage */
    {"coverage", 3,
     {{"hook", FieldKind::kString}, {"state", FieldKind::kNumber}, {"detail", FieldKind::kString}}},
    /* kDriverAlloc: api = name of the driver call; library = its caller; result = CUresult; if it is not 0,
       nothing was taken */
    {"driver_alloc", 8,
     {{"address", FieldKind::kAddress}, {"size", FieldKind::kNumber}, {"device", FieldKind::kNumber},
      {"stream", FieldKind::kNumber}, {"api", FieldKind::kString}, {"library", FieldKind::kString},
      {"flags", FieldKind::kNumber}, {"result", FieldKind::kNumber}}},
    /* kDriverFree: size 0 = unknown to the call */
    {"driver_free", 7,
     {{"address", FieldKind::kAddress}, {"size", FieldKind::kNumber}, {"device", FieldKind::kNumber},
      {"api", FieldKind::kString}, {"library", FieldKind::kString}, {"result", FieldKind::kNumber},
      {"flags", FieldKind::kNumber}}},
    /* kDriverMap: handle 0 if unmapped */
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
inline constexpr uint64_t kNoSequence = ~uint64_t{0};  // the node got no sequence number
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
