// SPDX-License-Identifier: Apache-2.0
// Builds the driver level of a run while its events come in. The loader passes every driver event, and every
// block of a process that has segments.
//
// Why not in Loader: driver calls are few, and their bookkeeping (handle counts, mappings, pools, pages) has
// nothing to do with blocks. A trace without driver events pays one comparison per allocation.
#pragma once

#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/model/driver_level.h"
#include "profiler/model/flat_map.h"
#include "profiler/model/source.h"

namespace vramscope::model {

struct Anomalies;
class TimeIndex;

class DriverLoader {
 public:
  // `source` provides the library names and must outlive the loader.
  explicit DriverLoader(const Source& source);

  // `event` is a kDriverAlloc, kDriverFree, kDriverMap or kDriverTotal. Contradictions are counted in
  // `anomalies`. `stack`: the Python stack of the event's thread.
  void Add(const trace::Event& event, EventIndex now, ProcessIndex process, uint32_t stack,
           Anomalies& anomalies);

  // A block was allocated. `reserved`: the reserved bytes that its allocator reports (0: it reports none).
  void JoinBlock(BlockId block, ProcessIndex process, uint16_t device_code, uint64_t address,
                 uint64_t reserved, Anomalies& anomalies) {
    if (process < processes_.size() && !processes_[process].devices.empty())
      JoinBlockOf(processes_[process], block, device_code, address, reserved, anomalies);
  }

  // Whatever a process still holds when it ends is given back then. The loader is empty afterwards.
  [[nodiscard]] DriverLevel Finish(const std::vector<trace::ProcessInfo>& processes, const TimeIndex& times,
                                   Anomalies& anomalies) &&;

 private:
  static int64_t Signed(uint64_t bytes) { return static_cast<int64_t>(bytes); }

  struct Physical {
    uint32_t allocation = kNone;
    uint32_t handles = 0;
    uint32_t mappings = 0;
  };
  struct Mapping {
    uint64_t size = 0;
    uint32_t physical = kNone;
    uint32_t segment = kNone;
  };
  struct Pool {
    uint64_t reserved = 0;  // as the driver reported, but at least what its blocks need
    uint64_t blocks = 0;
  };
  // What one process holds on one device.
  struct ProcessDevice {
    uint16_t code = 0;
    uint64_t segment_bytes = 0;
    uint64_t graphs_reserved = 0;
    std::map<uint64_t, uint64_t> pages;  // number of a partly requested page -> requested bytes
    std::map<uint64_t, Pool> pools;
    bool had_segments = false;
  };
  struct ProcessState {
    std::vector<ProcessDevice> devices;
    FlatMap live;     // KeyOf(kind, address) -> DriverLevel::allocations
    FlatMap handles;  // KeyOf(kPhysical, handle) -> physical
    std::vector<Physical> physical;
    std::map<uint64_t, Mapping> mappings;
    std::map<uint64_t, uint32_t> segments;  // alive, by address
    uint64_t pinned = 0;
    uint64_t pinned_by_pytorch = 0;
    uint32_t pinned_index = kNone;  // into DriverLevel::pinned
  };
  struct RawRow {
    uint16_t code;
    DriverDevice::Row row;
  };
  struct RawSample {
    uint16_t code;
    DriverSample sample;
  };

  void AddAlloc(const trace::Event& event, ProcessIndex process);
  void AddFree(const trace::Event& event, ProcessIndex process);
  void UnloadCode(const trace::Event& event, ProcessIndex process);
  void AddMap(const trace::Event& event, ProcessIndex process);
  void AddTotal(const trace::Event& event, ProcessIndex process);
  void AddOtherProcess(uint16_t code, uint64_t pid, uint64_t used);
  void Take(uint32_t allocation);
  void GiveBack(uint32_t allocation);
  void ReleaseHandle(ProcessState& state, uint32_t physical);
  void GiveBackIfUnused(const Physical& physical);
  void Unmap(ProcessState& state, uint64_t address, uint64_t size);
  void Count(const DriverAllocation& allocation, int64_t sign);
  void CountInPages(const DriverAllocation& allocation, int64_t sign, DriverOwner owner, uint32_t library);
  void CountPages(ProcessDevice& device, const DriverAllocation& allocation, bool taken);
  void CountPage(ProcessDevice& device, const DriverAllocation& allocation, uint64_t page, uint64_t bytes,
                 bool taken);
  void CountPinned(const DriverAllocation& allocation, int64_t sign);
  void SetPool(ProcessDevice& device, ProcessIndex process, uint64_t pool, uint64_t reserved,
               uint64_t blocks);
  uint32_t BeginSegment(const DriverAllocation& from, uint64_t address, uint64_t size, uint32_t allocation,
                        bool mapped);
  void EndSegment(uint32_t segment);
  void Change(ProcessIndex process, uint16_t code, DriverOwner owner, uint32_t library, int64_t bytes);
  void JoinBlockOf(const ProcessState& state, BlockId block, uint16_t device_code, uint64_t address,
                   uint64_t reserved, Anomalies& anomalies);
  ProcessDevice& DeviceOf(ProcessIndex process, uint16_t code);
  DriverOwner OwnerOf(uint32_t library);
  uint32_t RowOf(const RawRow& wanted);

  void EndProcesses(const std::vector<trace::ProcessInfo>& processes, const TimeIndex& times);
  template <typename OnChange, typename OnSample>
  void Replay(const OnChange& on_change, const OnSample& on_sample) const;
  [[nodiscard]] std::vector<uint16_t> CodesOfSeveralDevices() const;
  void BuildDevices(Anomalies& anomalies);

  const Source& source_;
  DriverLevel level_;
  std::vector<ProcessState> processes_;
  std::unordered_map<uint32_t, DriverOwner> owners_;  // by library
  std::vector<RawRow> rows_;
  std::map<std::tuple<uint16_t, ProcessIndex, DriverOwner, uint32_t>, uint32_t> row_of_;  // into rows_
  Chunked<DriverChange, 10> changes_;                                                     // row: into rows_
  std::vector<DriverChange> endings_;  // what processes still held when they ended
  std::vector<RawSample> samples_;
  // (device, pid) -> bytes of processes that are not recorded.
  std::map<std::pair<uint16_t, uint64_t>, uint64_t> others_;
  EventIndex now_ = 0;
  uint32_t stack_ = 0;              // of the event
  Anomalies* anomalies_ = nullptr;  // of the event being processed
};

}  // namespace vramscope::model
