// SPDX-License-Identifier: Apache-2.0
// What the recorded processes took from the GPU's driver, and how that adds up to what the driver says is in
// use.
//
//   driver's used memory ─┬─ PyTorch's segments       the caching allocator's: its blocks lie in them
//                         ├─ NCCL, cuBLAS, cuDNN, ... each library's own cudaMalloc
//                         ├─ context and code         measured by the recorder: free memory before and after
//                         ├─ user code                by library
//                         ├─ pools, rounding          held by the driver for the above, handed to nobody
//                         └─ unattributed             what the driver counts and nobody was seen to take
//
// Why a curve for each row and not a list of allocations: "what made up the 21 GiB at this moment" is asked
// for any moment, and the answer must add up there. Totals of all rows are kept every 256 changes (or as many
// as there are rows), so a moment costs at most as many additions, as timeline::DeviceCurve does it for
// blocks.
//
// A row never takes up a difference. Where the driver's own figure does not follow from the recorded calls,
// the row `unattributed` changes at that sample and the sample counts as a mismatch.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "profiler/model/chunked.h"
#include "profiler/model/ids.h"
#include "trace_format/event.h"

namespace vramscope::model {

// Who holds device memory.
enum class DriverOwner : uint8_t {
  kPyTorch,        // libc10_cuda: segments of the caching allocator, blocks of its cudaMallocAsync backend
  kPyTorchBeside,  // libtorch_cuda and the like: memory that PyTorch takes beside its caching allocator
  kNccl,
  kCublas,  // cuBLAS and cuBLASLt
  kCudnn,
  kCudaLibraries,  // cuFFT, cuSOLVER, cuSPARSE, cuRAND, NVSHMEM, ...
  kGraphs,   // allocation nodes of CUDA graphs. Memory that PyTorch's allocator keeps for a graph is kPyTorch
  kContext,  // contexts, code and its globals
  kUser,     // everybody else; DriverDevice::Row::library tells whom
  kManaged,  // cuMemAllocManaged, whoever took it: the driver counts only what is resident
  kPools,    // reserved by stream-ordered pools and free inside them
  kRounding,  // of pages of 2 MiB that cuMemAlloc's memory lies in, what was not asked for
};
inline constexpr size_t kDriverOwnerCount = 12;

// The owner that memory taken by this library has, by its file name ("libnccl.so.2", with or without
// folders).
[[nodiscard]] DriverOwner OwnerOfLibrary(std::string_view library);

// One successful call that gave memory, addresses or a handle.
struct DriverAllocation {
  uint64_t address = 0;  // or the handle
  uint64_t size = 0;
  uint64_t stream = 0;
  uint64_t pool = 0;  // of a kPoolBlock
  EventIndex begin = 0;
  EventIndex end = kNever;  // of kPhysical: when its last handle and its last mapping were gone
  ProcessIndex process = 0;
  uint32_t api = 0;      // trace::StringId
  uint32_t library = 0;  // trace::StringId of the caller
  uint32_t stack = 0;    // trace::StackId of the line of Python that called; 0 = not known
  uint16_t device_code = 0;
  trace::DriverMemory kind{};
  DriverOwner owner{};

  [[nodiscard]] bool AliveAfter(EventIndex at) const { return begin <= at && at < end; }
};

// Device memory that lies at an address and that libc10_cuda took: cudaMalloc's, or one mapping of virtual
// memory. An expandable segment of PyTorch is several of these side by side.
struct Segment {
  uint64_t address = 0;
  uint64_t size = 0;
  EventIndex begin = 0;
  EventIndex end = kNever;
  uint32_t allocation =
      kNone;  // into DriverLevel::allocations; kNone: a mapping of a handle that was not seen
  ProcessIndex process = 0;
  uint16_t device_code = 0;
  bool mapped = false;
};

struct DriverChange {
  EventIndex event = 0;
  uint32_t row = 0;  // into DriverDevice::rows
  int64_t bytes = 0;
};

// The driver's figure for the whole device.
struct DriverSample {
  EventIndex event = 0;
  ProcessIndex process = 0;  // that asked
  uint64_t used = 0;
  uint64_t capacity = 0;
  int64_t unattributed = 0;  // used minus all rows after this event
};

// Bytes by owner, in the order of DriverOwner; the rest apart.
struct DriverUse {
  int64_t owners[kDriverOwnerCount] = {};  // of the process that it is about
  int64_t other_processes = 0;             // recorded ones on the same device
  // Used minus everything above; negative where the rows claim more than the driver counts. 0 before the
  // driver was asked first.
  int64_t unattributed = 0;
  std::optional<uint64_t>
      used;  // by the whole device; the sum of all of the above. Empty before the first sample
  std::optional<uint64_t> capacity;

  [[nodiscard]] int64_t Of(DriverOwner owner) const { return owners[static_cast<size_t>(owner)]; }
};

// One device, and all recorded processes that share it.
class DriverDevice {
 public:
  struct Row {
    ProcessIndex process = 0;
    DriverOwner owner{};
    uint32_t library = 0;  // trace::StringId; 0 where the owner says it all
  };
  struct RowBytes {
    Row row;
    int64_t bytes = 0;
  };

  DriverDevice(uint16_t device_code, std::vector<ProcessIndex> sharing)
      : code(device_code), processes(std::move(sharing)) {}

  // Changes come in order of their events, samples too; a sample counts after the changes of its event.
  uint32_t FindRow(const Row& row);
  void AddChange(const DriverChange& change);
  void AddSample(DriverSample sample);

  // All rows that are not 0 after event `at` (kNever: at the end). O(256 + rows).
  [[nodiscard]] std::vector<RowBytes> RowsAfter(EventIndex at) const;
  // The same by owner, seen from one of its processes.
  [[nodiscard]] DriverUse UseAfter(EventIndex at, ProcessIndex process) const;
  // What the driver would say: its last figure before, and what was taken and given back since.
  [[nodiscard]] std::optional<uint64_t> UsedAfter(EventIndex at) const;
  // The highest UsedAfter at any event; 0 when the driver was never asked.
  [[nodiscard]] uint64_t peak_used() const { return peak_used_; }
  [[nodiscard]] EventIndex peak_event() const { return peak_event_; }
  // Samples that differ from what the one before and the calls in between make of it, and those below the
  // rows' sum.
  [[nodiscard]] uint64_t mismatches() const { return mismatches_; }
  [[nodiscard]] uint64_t below_rows() const { return below_rows_; }

  uint16_t code = 0;                    // trace::DeviceCode
  std::vector<ProcessIndex> processes;  // that used it; ascending
  std::vector<Row> rows;
  Chunked<DriverChange, 10> changes;
  std::vector<DriverSample> samples;

 private:
  static constexpr size_t kStride = 256;

  [[nodiscard]] size_t ChangesUntil(EventIndex at) const;
  [[nodiscard]] int64_t SumAfter(size_t count) const;
  [[nodiscard]] const DriverSample* SampleBefore(EventIndex at) const;
  void NotePeak(EventIndex event, int64_t used);

  struct Totals {
    size_t changes = 0;            // before this change
    std::vector<int64_t> of_rows;  // that were then known
  };

  std::vector<Totals> totals_;
  std::map<std::tuple<ProcessIndex, DriverOwner, uint32_t>, uint32_t> row_of_;
  std::vector<int64_t> now_;  // after the last change
  int64_t sum_ = 0;
  uint64_t peak_used_ = 0;
  EventIndex peak_event_ = 0;
  uint64_t mismatches_ = 0;
  uint64_t below_rows_ = 0;
};

// Page-locked host memory of one process.
struct PinnedMemory {
  ProcessIndex process = 0;
  std::vector<Since> bytes;       // of all libraries
  std::vector<Since> by_pytorch;  // of those, its caching host allocator's
};

struct DriverLevel {
  Chunked<DriverAllocation, 10> allocations;
  std::vector<Segment> segments;  // in order of their begin
  std::vector<DriverDevice> devices;
  std::vector<PinnedMemory> pinned;  // of processes that have any
  // By BlockId, the segment that a block begins in, kNone for none; shorter than Run::blocks where no process
  // that allocated later had segments.
  Chunked<uint32_t> segment_of_block;
  uint64_t calls = 0;   // recorded driver calls, failed ones included
  uint64_t failed = 0;  // of those: nothing was taken

  [[nodiscard]] uint32_t SegmentOf(BlockId block) const {
    return block < segment_of_block.size() ? segment_of_block[block] : kNone;
  }
  // nullptr when nothing is known of that device in that process.
  [[nodiscard]] const DriverDevice* Find(ProcessIndex process, uint16_t code) const;
};

}  // namespace vramscope::model
