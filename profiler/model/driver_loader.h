// SPDX-License-Identifier: Apache-2.0
// Builds the driver level of a run: the memory that was allocated with calls of the CUDA driver. Loader calls
// Add() for every driver event, and JoinBlock() for every new block.
#pragma once

#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/model/driver_counts.h"
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

  // Adds a kDriverAlloc, kDriverFree, kDriverMap or kDriverTotal. Contradictions are counted in `anomalies`.
  // `stack`: the Python stack of the event's thread.
  void Add(const trace::Event& event, EventIndex now, ProcessIndex process, uint32_t stack,
           Anomalies& anomalies);

  // Call when a block is allocated: finds the segment that contains the block. `reserved`: the bytes that the
  // allocator reports as reserved; 0 = not reported.
  void JoinBlock(BlockId block, ProcessIndex process, uint16_t device_code, uint64_t address,
                 uint64_t reserved, Anomalies& anomalies) {
    if (process < processes_.size() && processes_[process].had_segments)
      JoinBlockOf(process, block, device_code, address, reserved, anomalies);
  }

  // Returns the result and empties the loader. Memory that a process still holds counts as freed when the
  // process ends.
  [[nodiscard]] DriverLevel Finish(const std::vector<trace::ProcessInfo>& processes, const TimeIndex& times,
                                   Anomalies& anomalies) &&;

 private:
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
  struct ProcessState {
    bool had_segments = false;
    FlatMap live;     // KeyOf(kind, address) -> DriverLevel::allocations
    FlatMap handles;  // KeyOf(kPhysical, handle) -> physical
    std::vector<Physical> physical;
    std::map<uint64_t, Mapping> mappings;
    std::map<uint64_t, uint32_t> segments;  // alive, by address
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
  uint32_t BeginSegment(const DriverAllocation& from, uint64_t address, uint64_t size, uint32_t allocation,
                        bool mapped);
  void EndSegment(uint32_t segment);
  void JoinBlockOf(ProcessIndex process, BlockId block, uint16_t device_code, uint64_t address,
                   uint64_t reserved, Anomalies& anomalies);
  DriverOwner OwnerOf(uint32_t library);

  const Source& source_;
  DriverLevel level_;
  DriverCounts counts_;
  std::vector<ProcessState> processes_;
  std::unordered_map<uint32_t, DriverOwner> owners_;  // by library
  // (device, pid) -> bytes of processes that are not recorded.
  std::map<std::pair<uint16_t, uint64_t>, uint64_t> others_;
  EventIndex now_ = 0;
  uint32_t stack_ = 0;              // of the event being processed
  Anomalies* anomalies_ = nullptr;  // of the event being processed
};

}  // namespace vramscope::model
