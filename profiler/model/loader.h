// SPDX-License-Identifier: Apache-2.0
// Builds a Run from events, one at a time and in one pass.
//
// Why a class and not a loop in Load: a viewer that follows a growing file and an importer of other
// recordings feed events from elsewhere. The loader holds what is needed only while events come in: the live
// addresses of each process, and what each thread has open.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/model/driver_loader.h"
#include "profiler/model/flat_map.h"
#include "profiler/model/open_stack.h"
#include "profiler/model/run.h"

namespace vramscope::model {

class Loader {
 public:
  explicit Loader(std::shared_ptr<const Source> source);

  void Add(std::span<const trace::Event> events);
  // The run; the loader is empty afterwards.
  [[nodiscard]] Run Finish() &&;

 private:
  struct OpenContext {
    ContextId before;       // the context to restore when it ends
    uint32_t stack_before;  // of ThreadState::stack
  };
  struct ThreadState {
    ContextId context = 0;
    // trace::StackId of the program call that is open: the Python stack of the outermost operator.
    uint32_t stack = 0;
    OpenStack<OpenContext> open;
    OpenStack<uint32_t> open_ranges;
    OpenStack<uint64_t> checkpoints;  // ids of the open kCheckpoint ranges
    uint64_t accumulating = 0;        // the variable whose gradient autograd is about to label on this thread
  };
  struct DeviceState {
    uint64_t allocated = 0;  // sum of the live blocks
    int64_t unseen = 0;
    int64_t unseen_candidate = 0;
    uint32_t candidate_streak = 0;
    bool reports_totals = false;
    uint64_t reserved = 0;
  };
  struct ProcessState {
    // Of all threads, by the event that ends them.
    std::unordered_map<uint64_t, std::vector<uint32_t>> open_nvtx;
    FlatMap live;  // address -> BlockId
    std::optional<std::map<uint64_t, BlockId>>
        ordered;      // the same, built when an address inside a block is first looked up
    FlatMap created;  // sequence number + 1 of an autograd node -> the module path that was open when it was
                      // created
    ProcessIndex parent = kNone;
    std::unordered_map<uint64_t, std::vector<BlockId>> checkpoints;  // id -> blocks saved in its ranges
    bool save_noted = false;                                         // since last_edge
    EventIndex last_edge = 0;  // begin or end of a backward, optimizer or data range
  };

  void AddOne(const trace::Event& event);
  void AddAlloc(const trace::Event& event, ProcessIndex process);
  void AddFree(const trace::Event& event, ProcessIndex process);
  void AddLabel(const trace::Event& event, ProcessIndex process);
  void AddSaved(const trace::Event& event, ProcessIndex process);
  void AddReleased(const trace::Event& event, ProcessIndex process);
  void FreeCheckpoint(uint64_t id, ProcessIndex process);
  void ReleaseOne(BlockFacts& facts) const;
  void BeginRange(const trace::Event& event, ProcessIndex process);
  void StartForwardSearch(ProcessIndex process);
  void EndRange(const trace::Event& event, ProcessIndex process);
  void EndNvtxRange(const trace::Event& event, ProcessIndex process);
  void BeginNode(const trace::Event& event, ProcessIndex process);
  [[nodiscard]] static uint32_t StackOn(const ThreadState& thread, uint64_t of_event);
  void AddSegmentChange(const trace::Event& event, ProcessIndex process);
  void AddCoverage(const trace::Event& event, ProcessIndex process);

  DeviceIndex FindDevice(ProcessIndex process, uint64_t code);
  void EndBlock(BlockId id, DeviceIndex device);
  void CheckTotal(DeviceIndex device, bool allocation, uint64_t total_allocated, uint64_t total_reserved);
  static void NoteVariable(ThreadState& thread, Label& label);
  [[nodiscard]] BlockId BlockAround(uint64_t address, ProcessIndex process);
  BlockFacts& FactsOf(BlockId id);
  [[nodiscard]] bool AlreadySaid(const BlockFacts& facts, const Label& label);
  uint16_t FindStream(uint64_t stream);
  void OpenContextOn(ThreadState& thread, ContextKind kind, ContextId parent, uint32_t name, uint64_t id,
                     uint32_t stack = 0);
  void CloseContextOn(ThreadState& thread, ContextKind kind, uint64_t id, uint32_t name);
  [[nodiscard]] bool InheritedFromParent(ProcessIndex process, uint64_t address) const;

  Run run_;
  DriverLoader driver_;
  EventIndex now_ = 0;
  std::vector<ThreadState> threads_;
  std::vector<ProcessState> processes_;
  std::vector<DeviceState> devices_;
  std::map<std::pair<ProcessIndex, std::string_view>, size_t> coverage_;  // into Run::coverage
  FlatMap said_;  // (block, role, name, tensor) of labels on blocks that have many labels
};

}  // namespace vramscope::model
