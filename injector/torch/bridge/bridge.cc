// SPDX-License-Identifier: Apache-2.0
// The deep recorder: what every operator and every autograd node of the process does, through
// at::RecordFunction.
//
//   vramscope_bridge_start(host)     once, when the library is loaded: 0 = it fits this process
//   vramscope_bridge_enable(1 | 0)   adds or removes one pair of callbacks; without it nothing of ours runs
//   vramscope_bridge_block_stack()   the Python stack of a block made outside operators, as by torch.load
//
//   an op              kOpBegin  kOpTensor (operands)  kOpScalar
//                          ... its inner ops and allocations ...
//                      kOpTensor (results)  kOpEnd
//   a node of the      kNodeBegin  kNodeEdge
//   autograd graph         ... the node's op and what follows from it ...
//                      kNodeEnd
//
// A Python dispatch mode would wrap gradients in Python objects. The engine would then accumulate out of
// place, which changes the allocations. RecordFunction holds copies of operands and results only while our
// callbacks run. At every other moment each tensor has its usual references. User scopes (record_function)
// are not recorded here: the injector records them as ranges, also in light steps.
#include <ATen/record_function.h>
#include <dlfcn.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "injector/torch/bridge/host.h"
#include "injector/torch/bridge/node_facts.h"
#include "injector/torch/bridge/op_facts.h"
#include "injector/torch/bridge/python_stack.h"
#include "injector/torch/bridge/text_cache.h"

// Release wheels are built with NDEBUG; without it, RecordFunction has one more member.
#ifndef NDEBUG
#error "compile the bridge with -DNDEBUG, as torch is"
#endif

namespace vramscope::bridge {
namespace {

std::atomic<bool> g_enabled{false};
bool g_python_stacks = false;

// A thread's caches and its position in the nesting.
struct ThreadState {
  OpTable ops;
  NameCache names;
  TextCache texts;
  int open_ops = 0;
  int open_nodes = 0;
};

thread_local ThreadState* t_current = nullptr;
thread_local bool t_ended = false;

// The calling thread's state; nullptr once the thread is ending: objects destroyed later may still run ops.
ThreadState* CurrentThread() {
  struct Owner {
    std::unique_ptr<ThreadState> state = std::make_unique<ThreadState>();
    Owner() { t_current = state.get(); }
    ~Owner() {
      t_current = nullptr;
      t_ended = true;
    }
  };
  if (t_current == nullptr && !t_ended) {
    static thread_local Owner owner;
    static_cast<void>(owner);
  }
  return t_current;
}

// Belongs to one call from begin to end. An op that ends on another thread (asynchronous communication) is
// left open: kOpEnd closes the innermost op of its own thread.
struct OpenScope : at::ObserverContext {
  explicit OpenScope(ThreadState* thread) : owner(thread) {}
  ThreadState* owner;
  const torch::autograd::Node* node = nullptr;  // set: this is the engine's scope around a node
};

// Only outermost ops outside autograd nodes have a stack. Inner ops share it. A node runs under a lock that
// Python code may wait for with the GIL held. Its forward op (same sequence number) shows where it comes
// from.
bool HasStack(const ThreadState& thread) { return thread.open_ops == 0 && thread.open_nodes == 0; }

uint32_t StackOfOp(const ThreadState& thread) {
  return g_python_stacks && HasStack(thread) ? CapturePythonStack() : 0;
}

void BeginOp(const at::RecordFunction& function, ThreadState& thread) {
  const bool backward = function.scope() == at::RecordScope::BACKWARD_FUNCTION;
  OpFacts node_op;
  if (backward) node_op.name_id = thread.names.Id(function.name());
  const OpFacts& facts = backward ? node_op : thread.ops.Find(function);
  Emit<trace::EventType::kOpBegin>(facts.name_id, function.seqNr(), function.forwardThreadId(),
                                   function.scope(), StackOfOp(thread));
  ++thread.open_ops;
  try {
    ArgumentWriter(facts, thread.texts).Write(function.inputs());
  } catch (...) {  // out of memory: the op is recorded without the rest of its operands
  }
}

bool BeginNode(const char* name, OpenScope& scope) {
  const auto node = torch::autograd::get_current_node();
  if (node.get() == nullptr) return false;
  EmitNodeBegin(*node, name, scope.owner->names);
  scope.node = node.get();
  ++scope.owner->open_nodes;
  return true;
}

std::unique_ptr<at::ObserverContext> OnBegin(const at::RecordFunction& function) noexcept {
  try {
    if (!g_enabled.load(std::memory_order_relaxed) || function.isAsync()) return nullptr;
    ThreadState* thread = CurrentThread();
    if (thread == nullptr) return nullptr;
    auto scope = std::make_unique<OpenScope>(thread);
    const char* node_name = EvaluatedNodeName(function.name());
    if (node_name == nullptr || !BeginNode(node_name, *scope)) BeginOp(function, *thread);
    return scope;
  } catch (...) {
    return nullptr;
  }
}

void EndOp(const at::RecordFunction& function, ThreadState& thread) {
  const OpFacts no_facts;
  ArgumentWriter writer(no_facts, thread.texts);
  for (size_t i = 0; i < function.outputs().size(); ++i)
    writer.WriteTensors(function.outputs()[i], i, trace::kTensorIsOutput);
}

void OnEnd(const at::RecordFunction& function, at::ObserverContext* context) noexcept {
  auto* scope = static_cast<OpenScope*>(context);
  if (scope == nullptr || scope->owner != CurrentThread()) return;
  ThreadState& thread = *scope->owner;
  if (scope->node != nullptr) {
    --thread.open_nodes;
    Emit<trace::EventType::kNodeEnd>(reinterpret_cast<uint64_t>(scope->node));
    return;
  }
  try {
    EndOp(function, thread);
  } catch (...) {
  }
  --thread.open_ops;
  Emit<trace::EventType::kOpEnd>();
}

// True if this process's libtorch_cpu.so is the one for which the recorder found this bridge. Its size
// differs between releases and CUDA builds.
bool FitsThisTorch(const VramscopeHost& host) {
  char expected[24] = "";
  Dl_info info;
  struct stat file;
  const auto add_callback = &at::addGlobalCallback;
  if (host.option("bridge_torch_bytes", expected, sizeof expected) == 0) return false;
  if (dladdr(reinterpret_cast<const void*>(add_callback), &info) == 0 || info.dli_fname == nullptr)
    return false;
  return stat(info.dli_fname, &file) == 0 &&
         static_cast<uint64_t>(file.st_size) == std::strtoull(expected, nullptr, 10);
}

bool PythonStacksWanted() {
  char value[16] = "";
  g_host->option("stacks", value, sizeof value);
  return std::strcmp(value, "python") == 0 || std::strcmp(value, "all") == 0;
}

void SetEnabled(bool on) {
  static std::mutex* const mutex = new std::mutex;
  static at::CallbackHandle handle = at::INVALID_CALLBACK_HANDLE;
  const std::lock_guard<std::mutex> lock(*mutex);
  g_enabled.store(on, std::memory_order_relaxed);
  if (on && handle == at::INVALID_CALLBACK_HANDLE) {
    handle =
        at::addGlobalCallback(at::RecordFunctionCallback(OnBegin, OnEnd)
                                  .needsInputs(true)
                                  .needsOutputs(true)
                                  .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
  } else if (!on && handle != at::INVALID_CALLBACK_HANDLE) {
    at::removeCallback(handle);
    handle = at::INVALID_CALLBACK_HANDLE;
  }
}

}  // namespace
}  // namespace vramscope::bridge

extern "C" __attribute__((visibility("default"))) int vramscope_bridge_start(const VramscopeHost* host) {
  using namespace vramscope::bridge;
  if (host == nullptr || host->api_version != VRAMSCOPE_API_VERSION || !FitsThisTorch(*host)) return 1;
  g_host = host;
  g_python_stacks = PythonStacksWanted() && PreparePythonStacks();
  return 0;
}

extern "C" __attribute__((visibility("default"))) void vramscope_bridge_enable(int on) {
  try {
    if (vramscope::bridge::g_host != nullptr) vramscope::bridge::SetEnabled(on != 0);
  } catch (...) {
  }
}

// Called in an allocator, whose lock may be held. Blocks of operators have the operator's stack.
extern "C" __attribute__((visibility("default"))) uint32_t vramscope_bridge_block_stack() {
  using namespace vramscope::bridge;
  try {
    if (!g_python_stacks || !g_enabled.load(std::memory_order_relaxed)) return 0;
    return t_current == nullptr || HasStack(*t_current) ? CapturePythonStackWithoutWaiting() : 0;
  } catch (...) {
    return 0;
  }
}
