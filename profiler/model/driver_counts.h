// SPDX-License-Identifier: Apache-2.0
// Counts the bytes of each device by row while driver calls come in. A row is one owner in one
// process.
//
// The driver hands out whole pages. An allocation of 3 MiB takes 4 MiB: 3 MiB for its owner, 1 MiB for the
// row "rounding". Pools and graphs also reserve more than their blocks.
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

  // Sets the event at which the following calls count.
  void At(EventIndex now) { now_ = now; }

  // `sign`: +1 if the memory was taken, -1 if it was given back.
  void Count(const DriverAllocation& allocation, int64_t sign);
  void Change(ProcessIndex process, uint16_t code, DriverOwner owner, uint32_t library, int64_t bytes);
  // Memory of a process that is not recorded.
  void ChangeOfOthers(uint16_t code, int64_t bytes);
  void SetPool(ProcessIndex process, uint16_t code, uint64_t pool, uint64_t reserved);
  void SetGraphs(ProcessIndex process, uint16_t code, uint64_t reserved);
  void AddSample(uint16_t code, uint64_t used, uint64_t capacity, ProcessIndex process);
  // Call if the process uses the device, even without holding memory there.
  void NoteUse(ProcessIndex process, uint16_t code) { (void)DeviceOf(process, code); }

  // Adds `bytes` to the live segments of the caching allocator on one device.
  void ChangeSegments(ProcessIndex process, uint16_t code, int64_t bytes);
  // Bytes of the live segments; nullopt if the process never had a segment there.
  [[nodiscard]] std::optional<uint64_t> SegmentBytes(ProcessIndex process, uint16_t code) const;

  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  // In event order; DriverChange::row is an index into rows().
  [[nodiscard]] const Chunked<DriverChange, 10>& changes() const { return changes_; }
  [[nodiscard]] const std::vector<Sample>& samples() const { return samples_; }
  // The processes that used each device, ascending.
  [[nodiscard]] std::map<uint16_t, std::vector<ProcessIndex>> UsersOfDevices() const;
  [[nodiscard]] std::vector<PinnedMemory> TakePinned() && { return std::move(pinned_); }

 private:
  struct Pool {
    uint64_t reserved = 0;  // as the driver reported, but at least the bytes of the blocks
    uint64_t blocks = 0;
  };
  struct Device {
    uint16_t code = 0;
    uint64_t graphs_reserved = 0;
    std::optional<uint64_t> segments;    // bytes alive
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
