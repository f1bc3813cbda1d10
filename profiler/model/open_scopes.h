// SPDX-License-Identifier: Apache-2.0
// Follows which scopes each thread has open: ranges, modules, operators and autograd nodes. A new block gets
// the context and the Python stack of the scopes that are open at its allocation.
//
// The end of a scope also closes all scopes that were opened inside it.
//
//   module "layers.0"          context  layers.0
//     op aten::linear          context  layers.0 / aten::linear
//       op aten::addmm         context  layers.0 / aten::linear / aten::addmm
//   end of module "layers.0"   context  same as before the module; both operators are closed too
#pragma once

#include <unordered_map>
#include <vector>

#include "profiler/model/flat_map.h"
#include "profiler/model/open_stack.h"
#include "profiler/model/run.h"

namespace vramscope::model {

class OpenScopes {
 public:
  // `run` must already have all its threads and processes.
  explicit OpenScopes(Run& run);

  // In all functions, the thread of `event` must be in Run::threads. `now`: index of the event.
  void BeginRange(const trace::Event& event, ProcessIndex process, EventIndex now);
  void EndRange(const trace::Event& event, ProcessIndex process, EventIndex now);
  void BeginNode(const trace::Event& event, ProcessIndex process);
  void EndNode(const trace::Event& event);
  void BeginOp(const trace::Event& event);
  void EndOp(const trace::Event& event);
  // Call when an autograd node is created. Allocations of this node in backward later belong to the module
  // that is open now.
  void NoteCreatedNode(const trace::Event& event, ProcessIndex process);

  [[nodiscard]] ContextId ContextOn(ThreadIndex thread) const { return threads_[thread].context; }
  // Returns the trace::StackId of the innermost open operator that has a recorded Python stack; 0 if there is
  // none.
  [[nodiscard]] uint32_t StackOn(ThreadIndex thread) const { return threads_[thread].stack; }
  // Like StackOn(thread), but returns `of_event` if there is none.
  [[nodiscard]] uint32_t StackOn(ThreadIndex thread, uint64_t of_event) const {
    return StackOn(thread) != 0 ? StackOn(thread) : static_cast<uint32_t>(of_event);
  }
  // Returns the id of the innermost open kCheckpoint range; 0 if there is none.
  [[nodiscard]] uint64_t CheckpointOn(ThreadIndex thread) const {
    return threads_[thread].checkpoints.empty() ? 0 : threads_[thread].checkpoints.back();
  }

 private:
  struct OpenContext {
    ContextId before;       // Thread::context before this scope; restored at its end
    uint32_t stack_before;  // Thread::stack before this scope; restored at its end
  };
  struct Thread {
    ContextId context = 0;
    uint32_t stack = 0;
    OpenStack<OpenContext> open;
    OpenStack<uint32_t> ranges;       // into Run::ranges
    OpenStack<uint64_t> checkpoints;  // ids of the open kCheckpoint ranges
  };
  struct Process {
    // Open NVTX ranges of all threads. Key: computed from the fields that the range's begin and end share.
    std::unordered_map<uint64_t, std::vector<uint32_t>> nvtx;
    // Sequence number + 1 of an autograd node -> the module path that was open when the node was created.
    FlatMap created;
  };

  void EndNvtxRange(const trace::Event& event, ProcessIndex process, EventIndex now);
  void Open(Thread& thread, ContextKind kind, ContextId parent, uint32_t name, uint64_t id,
            uint32_t stack = 0);
  static void Close(Thread& thread, ContextKind kind, uint64_t id, uint32_t name);

  Run& run_;
  std::vector<Thread> threads_;
  std::vector<Process> processes_;
};

}  // namespace vramscope::model
