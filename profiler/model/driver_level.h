// SPDX-License-Identifier: Apache-2.0
// The memory that recorded processes took from the GPU driver, compared with the used memory that the driver
// reports.
//
//   driver's used memory ─┬─ PyTorch's segments       taken by the caching allocator
//                         ├─ NCCL, cuBLAS, cuDNN, ... taken by a library with its own cudaMalloc calls
//                         ├─ context and code         the recorder compares free memory before and after
//                         ├─ user code                one row per library
//                         ├─ pools, rounding          reserved by the driver, but not allocated by a call
//                         └─ unattributed             counted by the driver, but no recorded call took it
//
// Each row is a curve over time. Reading the curve at any moment takes at most 256 additions, or N additions
// if there are N > 256 rows.
//
// A sample is one answer of the driver to a query for its used memory. If a sample differs from the previous
// sample plus the recorded calls, only `unattributed` changes, and the sample counts as a mismatch.
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

enum class DriverOwner : uint8_t {
  kPyTorch,        // libc10_cuda: segments of the caching allocator, blocks of cudaMallocAsync
  kPyTorchBeside,  // libtorch_cuda and similar: memory that PyTorch takes outside its caching allocator
  kNccl,
  kCublas,  // cuBLAS and cuBLASLt
  kCudnn,
  kCudaLibraries,  // cuFFT, cuSOLVER, cuSPARSE, cuRAND, NVSHMEM, ...
  kGraphs,         // allocation nodes of CUDA graphs. Segments of PyTorch's graph pools are kPyTorch
  kContext,        // CUDA contexts, and kernel code with its global variables
  kUser,           // all other libraries; DriverDevice::Row::library names the library
  kManaged,        // cuMemAllocManaged by any caller; only the bytes that are resident on the device
  kPools,          // reserved by stream-ordered memory pools, but free inside the pools
  kRounding,       // unrequested part of the 2 MiB pages of cuMemAlloc's memory
};
inline constexpr size_t kDriverOwnerCount = 12;

// Returns the owner of a library. `library` is a file name such as "libnccl.so.2", with or without folders.
[[nodiscard]] DriverOwner OwnerOfLibrary(std::string_view library);

// One successful driver call that returned memory, a range of addresses or a handle.
struct DriverAllocation {
  uint64_t address = 0;  // or the handle, if the call returned a handle
  uint64_t size = 0;
  uint64_t stream = 0;
  uint64_t pool = 0;  // for kPoolBlock: the memory pool
  EventIndex begin = 0;
  EventIndex end = kNever;  // for kPhysical: when the last handle and the last mapping are released
  ProcessIndex process = 0;
  uint32_t api = 0;      // trace::StringId
  uint32_t library = 0;  // trace::StringId of the calling library
  uint32_t stack = 0;    // trace::StackId of the Python line that made the call; 0 = unknown
  uint16_t device_code = 0;
  trace::DriverMemory kind{};
  DriverOwner owner{};

  [[nodiscard]] bool AliveAfter(EventIndex at) const { return begin <= at && at < end; }
};

// A segment: device memory that libc10_cuda took with one cudaMalloc, or one mapping of virtual memory. One
// expandable segment of PyTorch consists of several adjacent Segments.
struct Segment {
  uint64_t address = 0;
  uint64_t size = 0;
  EventIndex begin = 0;
  EventIndex end = kNever;
  // Index in DriverLevel::allocations; kNone if the creation of the handle was not recorded.
  uint32_t allocation = kNone;
  ProcessIndex process = 0;
  uint16_t device_code = 0;
  bool mapped = false;
};

struct DriverChange {
  EventIndex event = 0;
  uint32_t row = 0;  // index in DriverDevice::rows
  int64_t bytes = 0;
};

struct DriverSample {
  EventIndex event = 0;
  ProcessIndex process = 0;  // the process that queried the driver
  uint64_t used = 0;
  uint64_t capacity = 0;
  int64_t unattributed = 0;  // `used` minus the sum of all rows after this event
};

struct DriverUse {
  int64_t owners[kDriverOwnerCount] = {};  // bytes of the process that the caller named
  int64_t other_processes = 0;             // bytes of other recorded processes on the same device
  // `used` minus all members above; negative if the members above add up to more than `used`. The value is 0
  // before the first sample.
  int64_t unattributed = 0;
  // Used memory of the whole device, which is the sum of all members above. The value is absent before the
  // first sample.
  std::optional<uint64_t> used;
  std::optional<uint64_t> capacity;

  [[nodiscard]] int64_t Of(DriverOwner owner) const { return owners[static_cast<size_t>(owner)]; }
};

// Maximum number of devices per process. The last entry also counts all further devices (c10::DeviceIndex has
// 8 bits).
inline constexpr size_t kMostDriverDevices = 256;

// The driver's memory on one device, for all recorded processes.
class DriverDevice {
 public:
  struct Row {
    ProcessIndex process = 0;
    DriverOwner owner{};
    uint32_t library = 0;  // trace::StringId; 0 if the owner already identifies the library
  };
  struct RowBytes {
    Row row;
    int64_t bytes = 0;
  };

  DriverDevice(uint16_t device_code, std::vector<ProcessIndex> sharing)
      : code(device_code), processes(std::move(sharing)) {}

  // Changes and samples must be added in event order. For one event, add the changes before the sample.
  uint32_t FindRow(const Row& row);
  void AddChange(const DriverChange& change);
  void AddSample(DriverSample sample);

  // Returns all rows that are not 0 after event `at`; kNever = the end of the trace. O(256 + rows).
  [[nodiscard]] std::vector<RowBytes> RowsAfter(EventIndex at) const;
  // Like RowsAfter, but summed by owner, from the point of view of one process.
  [[nodiscard]] DriverUse UseAfter(EventIndex at, ProcessIndex process) const;
  // Returns the device's used memory: the driver's last figure at or before `at`, corrected by the calls
  // recorded since then.
  [[nodiscard]] std::optional<uint64_t> UsedAfter(EventIndex at) const;
  // The highest UsedAfter at any event; 0 if there is no sample.
  [[nodiscard]] uint64_t peak_used() const { return peak_used_; }
  [[nodiscard]] EventIndex peak_event() const { return peak_event_; }
  // mismatches() counts samples that contradict the calls since the previous sample. below_rows() counts
  // samples that are lower than the sum of the rows.
  [[nodiscard]] uint64_t mismatches() const { return mismatches_; }
  [[nodiscard]] uint64_t below_rows() const { return below_rows_; }

  uint16_t code = 0;                    // trace::DeviceCode
  std::vector<ProcessIndex> processes;  // processes that used the device, in ascending order
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
    size_t changes = 0;            // number of changes included
    std::vector<int64_t> of_rows;  // bytes of each row that existed after these changes
  };

  std::vector<Totals> totals_;
  std::map<std::tuple<ProcessIndex, DriverOwner, uint32_t>, uint32_t> row_of_;
  std::vector<int64_t> now_;  // bytes of each row after the last change
  int64_t sum_ = 0;
  uint64_t peak_used_ = 0;
  EventIndex peak_event_ = 0;
  uint64_t mismatches_ = 0;
  uint64_t below_rows_ = 0;
};

// Page-locked host memory of one process.
struct PinnedMemory {
  ProcessIndex process = 0;
  std::vector<Since> bytes;       // bytes that all libraries hold
  std::vector<Since> by_pytorch;  // the part that PyTorch's caching host allocator holds
};

struct DriverLevel {
  Chunked<DriverAllocation, 10> allocations;
  std::vector<Segment> segments;  // sorted by begin
  std::vector<DriverDevice> devices;
  std::vector<PinnedMemory> pinned;  // only processes with pinned memory
  // For each BlockId, the index of the segment in which the block begins; kNone if there is none. May be
  // shorter than Run::blocks; missing entries count as kNone.
  Chunked<uint32_t> segment_of_block;
  uint64_t calls = 0;   // number of recorded driver calls, including failed calls
  uint64_t failed = 0;  // number of recorded calls that failed and allocated nothing

  [[nodiscard]] uint32_t SegmentOf(BlockId block) const {
    return block < segment_of_block.size() ? segment_of_block[block] : kNone;
  }
  // Returns nullptr if the trace has no data for this device in this process.
  [[nodiscard]] const DriverDevice* Find(ProcessIndex process, uint16_t code) const;
};

}  // namespace vramscope::model
