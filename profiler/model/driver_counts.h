// SPDX-License-Identifier: Apache-2.0
// Counts who uses the memory of each device, from the recorded driver calls. The counts are kept in rows; a
// row is one owner (such as NCCL) in one process.
//
// The driver allocates whole pages of 2 MiB. An allocation of 3 MiB takes 4 MiB: 3 MiB count for its owner, 1
// MiB for the row "rounding". Memory pools and CUDA graphs also reserve more memory than their blocks need.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "profiler/model/driver_level.h"

namespace vramscope::model {

class DriverCounts {
 public:
  static int64_t Signed(uint64_t bytes) { return static_cast<int64_t>(bytes); }

  struct Row {
    uint16_t code;
    DriverDevice::Row row;
  };
  struct Sample {
    uint16_t code;
    DriverSample sample;
  };

  // Sets the event to which the following calls of this object belong.
  void At(EventIndex now) { now_ = now; }

  // Adds or removes an allocation. `sign`: +1 if it was allocated, -1 if it was freed.
  void Count(const DriverAllocation& allocation, int64_t sign);
  // Adds `bytes` (may be negative) to one row. `code`: a trace::DeviceCode.
  void Change(ProcessIndex process, uint16_t code, DriverOwner owner, uint32_t library, int64_t bytes);
  // Adds `bytes` (may be negative) to the memory of processes that are not recorded.
  void ChangeOfOthers(uint16_t code, int64_t bytes);
  // Set the bytes that the driver reports as reserved for a memory pool, and for CUDA graphs.
  void SetPool(ProcessIndex process, uint16_t code, uint64_t pool, uint64_t reserved);
  void SetGraphs(ProcessIndex process, uint16_t code, uint64_t reserved);
  // Adds what the driver reported to `process` about the whole device: used bytes and capacity.
  void AddSample(uint16_t code, uint64_t used, uint64_t capacity, ProcessIndex process);
  // Call if the process uses the device, even if it has no memory there.
  void NoteUse(ProcessIndex process, uint16_t code) { (void)DeviceOf(process, code); }

  // Adds `bytes` to the live segments of the caching allocator on one device.
  void ChangeSegments(ProcessIndex process, uint16_t code, int64_t bytes);
  // Returns the bytes of the live segments; nullopt if the process never had a segment on the device.
  [[nodiscard]] std::optional<uint64_t> SegmentBytes(ProcessIndex process, uint16_t code) const;

  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  // In event order; DriverChange::row is an index into rows().
  [[nodiscard]] const Chunked<DriverChange, 10>& changes() const { return changes_; }
  [[nodiscard]] const std::vector<Sample>& samples() const { return samples_; }
  // Returns the processes that used each device, in ascending order.
  [[nodiscard]] std::map<uint16_t, std::vector<ProcessIndex>> UsersOfDevices() const;
  [[nodiscard]] std::vector<PinnedMemory> TakePinned() && { return std::move(pinned_); }

 private:
  struct Pool {
    uint64_t reserved = 0;  // bytes that the driver reported, but at least `blocks`
    uint64_t blocks = 0;    // bytes of the pool's live blocks
  };
  struct Device {
    uint16_t code = 0;
    uint64_t graphs_reserved = 0;
    std::optional<uint64_t> segments;    // bytes of the live segments
    std::map<uint64_t, uint64_t> pages;  // number of a partly requested page -> requested bytes
    std::map<uint64_t, Pool> pools;
  };
  struct Process {
    std::map<uint16_t, Device> devices;  // by code
    uint64_t pinned = 0;
    uint64_t pinned_by_pytorch = 0;
    uint32_t pinned_index = kNone;  // into pinned_
  };

  Process& ProcessOf(ProcessIndex process);
  Device& DeviceOf(ProcessIndex process, uint16_t code);
  uint32_t RowOf(const Row& wanted);
  void CountInPages(const DriverAllocation& allocation, int64_t sign, DriverOwner owner, uint32_t library);
  void CountPages(Device& device, const DriverAllocation& allocation, bool taken);
  void CountPage(Device& device, const DriverAllocation& allocation, uint64_t page, uint64_t bytes,
                 bool taken);
  void CountInPool(const DriverAllocation& allocation, int64_t sign, uint32_t library);
  void SetPoolOf(Device& device, ProcessIndex process, uint64_t pool, uint64_t reserved, uint64_t blocks);
  void CountPinned(const DriverAllocation& allocation, int64_t sign);

  EventIndex now_ = 0;
  std::vector<Process> processes_;
  std::vector<Row> rows_;
  std::map<std::tuple<uint16_t, ProcessIndex, DriverOwner, uint32_t>, uint32_t> row_of_;  // into rows_
  Chunked<DriverChange, 10> changes_;
  std::vector<Sample> samples_;
  std::vector<PinnedMemory> pinned_;
};

}  // namespace vramscope::model
