// SPDX-License-Identifier: Apache-2.0
// The memory that recorded processes took from the GPU driver, compared with the used memory that the driver
// reports.
//
//   driver's used memory ─┬─ PyTorch's segments       the caching allocator's: its blocks lie in them
//                         ├─ NCCL, cuBLAS, cuDNN, ... each library's own cudaMalloc
//                         ├─ context and code         measured by the recorder: free memory before and after
//                         ├─ user code                by library
//                         ├─ pools, rounding          held by the driver for the rows above, not handed out
//                         └─ unattributed             counted by the driver, but taken by no recorded call
//
// Each row is a curve over time. Reading it at any moment takes at most 256 additions, or N if there are N >
// 256 rows.
//
// If the driver's figure does not follow from the recorded calls, only `unattributed` changes. The sample
// counts as a mismatch.
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
  kGraphs,         // allocation nodes of CUDA graphs. PyTorch's memory for a graph is kPyTorch
  kContext,        // contexts, code and its globals
  kUser,           // everybody else; DriverDevice::Row::library names the library
  kManaged,        // cuMemAllocManaged by any caller: only the resident bytes
  kPools,          // reserved by stream-ordered pools but free inside them
  kRounding,       // the unrequested part of the 2 MiB pages that hold cuMemAlloc's memory
};
inline constexpr size_t kDriverOwnerCount = 12;

// `library`: a file name ("libnccl.so.2"), with or without folders.
[[nodiscard]] DriverOwner OwnerOfLibrary(std::string_view library);

// One successful call that returned memory, addresses or a handle.
struct DriverAllocation {
  uint64_t address = 0;  // or the handle
  uint64_t size = 0;
  uint64_t stream = 0;
  uint64_t pool = 0;  // of a kPoolBlock
  EventIndex begin = 0;
  EventIndex end = kNever;  // kPhysical: when its last handle and its last mapping are gone
  ProcessIndex process = 0;
  uint32_t api = 0;      // trace::StringId
  uint32_t library = 0;  // trace::StringId of the caller
  uint32_t stack = 0;    // trace::StackId of the Python line that made the call; 0 = unknown
  uint16_t device_code = 0;
  trace::DriverMemory kind{};
  DriverOwner owner{};

  [[nodiscard]] bool AliveAfter(EventIndex at) const { return begin <= at && at < end; }
};

// Device memory that libc10_cuda took with one cudaMalloc, or one mapping of virtual memory. A PyTorch
// expandable segment is several adjacent Segments.
struct Segment {
  uint64_t address = 0;
  uint64_t size = 0;
  EventIndex begin = 0;
  EventIndex end = kNever;
  // Into DriverLevel::allocations; kNone: the creation of the handle was not seen.
  uint32_t allocation = kNone;
  ProcessIndex process = 0;
  uint16_t device_code = 0;
  bool mapped = false;
};

struct DriverChange {
  EventIndex event = 0;
  uint32_t row = 0;  // into DriverDevice::rows
  int64_t bytes = 0;
};

struct DriverSample {
  EventIndex event = 0;
  ProcessIndex process = 0;  // the process that asked
  uint64_t used = 0;
  uint64_t capacity = 0;
  int64_t unattributed = 0;  // `used` minus the sum of the rows after this event
};

struct DriverUse {
  int64_t owners[kDriverOwnerCount] = {};  // of the process in question
  int64_t other_processes = 0;             // other recorded processes on the same device
  // `used` minus all members above. Negative if they add up to more. 0 before the first sample.
  int64_t unattributed = 0;
  // Used memory of the whole device: the sum of all members above. Empty before the first sample.
  std::optional<uint64_t> used;
  std::optional<uint64_t> capacity;

  [[nodiscard]] int64_t Of(DriverOwner owner) const { return owners[static_cast<size_t>(owner)]; }
};

// Devices per process. The last one also counts all further devices (c10::DeviceIndex has 8 bits).
inline constexpr size_t kMostDriverDevices = 256;

// One device, for all recorded processes.
class DriverDevice {
 public:
  struct Row {
    ProcessIndex process = 0;
    DriverOwner owner{};
    uint32_t library = 0;  // trace::StringId; 0 where the owner identifies the library
  };
  struct RowBytes {
    Row row;
    int64_t bytes = 0;
  };

  DriverDevice(uint16_t device_code, std::vector<ProcessIndex> sharing)
      : code(device_code), processes(std::move(sharing)) {}

  // Add changes and samples in event order. A sample counts after the changes of its own event.
  uint32_t FindRow(const Row& row);
  void AddChange(const DriverChange& change);
  void AddSample(DriverSample sample);

  // All rows that are not 0 after event `at` (kNever: at the end). O(256 + rows).
  [[nodiscard]] std::vector<RowBytes> RowsAfter(EventIndex at) const;
  // Like RowsAfter, summed by owner, as one process sees the device.
  [[nodiscard]] DriverUse UseAfter(EventIndex at, ProcessIndex process) const;
  // The device's used memory: the driver's last figure at or before `at`, plus or minus the calls since.
  [[nodiscard]] std::optional<uint64_t> UsedAfter(EventIndex at) const;
  // The highest UsedAfter at any event; 0 if the driver was never asked.
  [[nodiscard]] uint64_t peak_used() const { return peak_used_; }
  [[nodiscard]] EventIndex peak_event() const { return peak_event_; }
  // mismatches(): samples that contradict the calls since the previous sample. below_rows(): samples below
  // the sum of the rows.
  [[nodiscard]] uint64_t mismatches() const { return mismatches_; }
  [[nodiscard]] uint64_t below_rows() const { return below_rows_; }

  uint16_t code = 0;                    // trace::DeviceCode
  std::vector<ProcessIndex> processes;  // processes that used it; ascending
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
    size_t changes = 0;            // number of changes before
    std::vector<int64_t> of_rows;  // of the rows known at that point
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
  std::vector<Since> by_pytorch;  // the part that PyTorch's caching host allocator holds
};

struct DriverLevel {
  Chunked<DriverAllocation, 10> allocations;
  std::vector<Segment> segments;  // in order of their begin
  std::vector<DriverDevice> devices;
  std::vector<PinnedMemory> pinned;  // of the processes that have any
  // The segment that each block begins in, by BlockId; kNone for none. May be shorter than Run::blocks:
  // missing entries are kNone.
  Chunked<uint32_t> segment_of_block;
  uint64_t calls = 0;   // recorded driver calls, failed ones included
  uint64_t failed = 0;  // the calls among them that failed and allocated nothing

  [[nodiscard]] uint32_t SegmentOf(BlockId block) const {
    return block < segment_of_block.size() ? segment_of_block[block] : kNone;
  }
  // nullptr if nothing is known about that device in that process.
  [[nodiscard]] const DriverDevice* Find(ProcessIndex process, uint16_t code) const;
};

}  // namespace vramscope::model
