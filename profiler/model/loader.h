// SPDX-License-Identifier: Apache-2.0
// Builds a Run from the events of a trace, in one pass over the events.
//
// Each part of the loader fills its own tables of the run:
//
//   event ──► Loader ──┬── OpenScopes     ranges, modules and operators that are open on each thread
//                      ├── LiveBlocks     which block an address belongs to
//                      ├── SavedTensors   which blocks autograd keeps for backward
//                      ├── LabelLoader    the roles and names of blocks
//                      ├── DeviceTotals   the allocator's own totals, and bytes without a recorded allocation
//                      └── DriverLoader   calls of the CUDA driver
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/model/device_totals.h"
#include "profiler/model/driver_loader.h"
#include "profiler/model/label_loader.h"
#include "profiler/model/live_blocks.h"
#include "profiler/model/open_scopes.h"
#include "profiler/model/run.h"
#include "profiler/model/saved_tensors.h"

namespace vramscope::model {

class Loader {
 public:
  explicit Loader(std::shared_ptr<const Source> source);
  Loader(const Loader&) = delete;  // the parts refer to its run
  Loader& operator=(const Loader&) = delete;

  void Add(std::span<const trace::Event> events);
  // Returns the run. The loader is empty afterwards.
  [[nodiscard]] Run Finish() &&;

 private:
  struct ProcessState {
    LiveBlocks live;
    ProcessIndex parent = kNone;
  };

  void AddOne(const trace::Event& event);
  void AddAlloc(const trace::Event& event, ProcessIndex process);
  void AddFree(const trace::Event& event, ProcessIndex process);
  void AddMark(const trace::Event& event, ProcessIndex process);
  void AddSegmentChange(const trace::Event& event, ProcessIndex process);
  void AddCoverage(const trace::Event& event, ProcessIndex process);

  DeviceIndex FindDevice(ProcessIndex process, uint64_t code);
  void EndBlock(BlockId id, DeviceIndex device);
  uint16_t FindStream(uint64_t stream);
  // Returns the live block that begins at `address`; nullptr if there is none.
  [[nodiscard]] const BlockId* BlockAt(uint64_t address, ProcessIndex process) const;
  [[nodiscard]] bool InheritedFromParent(ProcessIndex process, uint64_t address) const;

  Run run_;
  DriverLoader driver_;
  OpenScopes scopes_;
  SavedTensors saved_;
  LabelLoader labels_;
  DeviceTotals totals_;
  EventIndex now_ = 0;
  std::vector<ProcessState> processes_;
  std::map<std::pair<ProcessIndex, std::string_view>, size_t> coverage_;  // into Run::coverage
};

}  // namespace vramscope::model
