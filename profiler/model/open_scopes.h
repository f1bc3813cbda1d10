// SPDX-License-Identifier: Apache-2.0
// The open scopes of each thread: ranges, modules, operators and autograd nodes. Open scopes are the context
// and the stack of each new block.
//
// The end of a range also closes everything that was opened inside it.
//
//   module "layers.0"          context  layers.0
//     op aten::linear          context  layers.0 / aten::linear
//       op aten::addmm         context  layers.0 / aten::linear / aten::addmm
//   end of module "layers.0"   context  as before the module; both operators are closed too
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

  // Each event's thread is one of the run's; `now` is the event's index.
  void BeginRange(const trace::Event& event, ProcessIndex process, EventIndex now);
  void EndRange(const trace::Event& event, ProcessIndex process, EventIndex now);
  void BeginNode(const trace::Event& event, ProcessIndex process);
  void EndNode(const trace::Event& event);
  void BeginOp(const trace::Event& event);
  void EndOp(const trace::Event& event);
  // Call when an autograd node is created. The node's allocations belong to the module that is open now.
  void NoteCreatedNode(const trace::Event& event, ProcessIndex process);

  [[nodiscard]] ContextId ContextOn(ThreadIndex thread) const { return threads_[thread].context; }
  // trace::StackId of the open program call: the Python stack of the outermost operator. 0: none.
  [[nodiscard]] uint32_t StackOn(ThreadIndex thread) const { return threads_[thread].stack; }
  // Like StackOn(thread), or `of_event` if no operator's stack is open.
  [[nodiscard]] uint32_t StackOn(ThreadIndex thread, uint64_t of_event) const {
    return StackOn(thread) != 0 ? StackOn(thread) : static_cast<uint32_t>(of_event);
  }
  // The id of the innermost open kCheckpoint range; 0: none.
  [[nodiscard]] uint64_t CheckpointOn(ThreadIndex thread) const {
    return threads_[thread].checkpoints.empty() ? 0 : threads_[thread].checkpoints.back();
  }

 private:
  struct OpenContext {
    ContextId before;       // the context to restore when it ends
    uint32_t stack_before;  // the Thread::stack to restore when it ends
  };
  struct Thread {
    ContextId context = 0;
    uint32_t stack = 0;
    OpenStack<OpenContext> open;
    OpenStack<uint32_t> ranges;       // into Run::ranges
    OpenStack<uint64_t> checkpoints;  // ids of the open kCheckpoint ranges
  };
  struct Process {
    // NVTX ranges of all threads, by the event that ends them.
    std::unordered_map<uint64_t, std::vector<uint32_t>> nvtx;
    // Sequence number + 1 of an autograd node -> the module path that was open when it was created.
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
