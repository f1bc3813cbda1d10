// SPDX-License-Identifier: Apache-2.0
// A training run that a test writes event by event. The run is the same as if the recorder had recorded it:
//
//   Script s;
//   s.Alloc("weight", 400).Parameter("weight", "fc.weight");
//   for (int step = 1; step <= 3; ++step) {
//     s.Data([&] { s.Alloc("batch", 64); });
//     s.Alloc("hidden", 128).Saved("hidden");
//     s.Backward([&] { s.Alloc("grad", 400).Gradient("grad", "weight").Released("hidden").Free("hidden"); });
//     s.Optimizer("SGD", [&] {});
//     s.Free("grad").Free("batch");
//   }
//   Run run = s.Load();
//   run.blocks[s.Id("hidden", 2)]        // the block that was called "hidden" the second time
//
// The test chooses the names of blocks. A name can be used again after Free. Each event is 10 ns after the
// previous one.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "profiler/model/run.h"
#include "profiler/model/testing/memory_trace.h"

namespace vramscope::model::testing {

inline constexpr uint64_t kCpuDevice = trace::DeviceCode(0, 0xff);
inline constexpr uint64_t kCuda0 = trace::DeviceCode(1, 0);
inline constexpr uint64_t kCuda1 = trace::DeviceCode(1, 1);

class Script {
 public:
  using Body = std::function<void()>;

  Script();  // process 100 with one thread "main"; allocations on kCpuDevice

  // Set the process, thread and device of the following events. They are created at first use.
  Script& Process(uint32_t pid, uint32_t parent_pid = 1, uint64_t end_ns = 0);
  Script& Thread(const std::string& name);
  Script& Device(uint64_t code);
  Script& At(uint64_t time_ns);
  Script& Stack(const std::vector<std::string>& frames);
  // The next allocation gets the last address of `block`.
  Script& Reusing(const std::string& block);

  // Allocates a block. `size`: bytes of the block; `requested`: bytes that the program requested, 0 =
  // unknown.
  Script& Alloc(const std::string& block, uint64_t size, uint64_t requested = 0);
  Script& Free(const std::string& block);
  // Sets the totals that the events of CUDA devices report from now on. The allocated total is the live bytes
  // of the script plus `extra`.
  Script& TotalsAre(uint64_t extra, uint64_t reserved);

  Script& Label(const std::string& block, trace::Role role, trace::LabelSource source,
                const std::string& name = "", uint64_t tensor = 0);
  // Labels a block as the Python shim labels a parameter.
  Script& Parameter(const std::string& block, const std::string& name);
  // Labels blocks as the AccumulateGrad hook does: the parameter without a name, then its gradient.
  Script& Gradient(const std::string& block, const std::string& parameter);
  Script& Saved(const std::string& block);  // autograd saves an input; call before the operator allocates
  // Autograd saves a result. Call after the operator allocated it.
  Script& SavedOutput(const std::string& block);
  Script& Released(const std::string& block);

  Script& Backward(const Body& body) { return Range(trace::RangeKind::kBackward, "", 0, body); }
  Script& Optimizer(const std::string& name, const Body& body, uint64_t id = 1) {
    return Range(trace::RangeKind::kOptimizer, name, id, body);
  }
  Script& Data(const Body& body) { return Range(trace::RangeKind::kDataLoader, "DataLoader", 0, body); }
  Script& Module(const std::string& path, const Body& body) {
    return Range(trace::RangeKind::kModule, path, 0, body);
  }
  Script& Autocast(const Body& body) { return Range(trace::RangeKind::kAutocast, "bfloat16", 0, body); }
  Script& Range(trace::RangeKind kind, const std::string& name, uint64_t id, const Body& body);
  // For ranges that do not nest.
  Script& RangeBegin(trace::RangeKind kind, const std::string& name, uint64_t id = 0);
  Script& RangeEnd(trace::RangeKind kind, const std::string& name, uint64_t id = 0);
  Script& Op(const std::string& name, const Body& body);
  // Creates an autograd node in the module that is running.
  Script& NodeCreated(uint64_t sequence);
  Script& Node(const std::string& name, uint64_t sequence, const Body& body);
  Script& Mark(trace::MarkKind kind, uint64_t value = 0, const std::string& name = "", uint64_t tensor = 0);
  Script& Lost(uint64_t count);
  Script& Coverage(const std::string& hook, trace::CoverageState state, const std::string& detail = "");
  // Adds any event. The fields are in the order of the event schema.
  Script& Event(trace::EventType type, const std::vector<uint64_t>& fields);

  // Returns the `occurrence`-th block with this name (1 = first, 0 = latest).
  [[nodiscard]] BlockId Id(const std::string& name, size_t occurrence = 0) const;
  // Returns the address of the latest block with this name.
  [[nodiscard]] uint64_t AddressOf(const std::string& name) const { return Find(name).address; }
  [[nodiscard]] EventIndex last_event() const { return static_cast<EventIndex>(trace_->events().size() - 1); }
  [[nodiscard]] MemoryTrace& trace() { return *trace_; }
  [[nodiscard]] std::shared_ptr<const Source> source() const { return trace_; }
  [[nodiscard]] Run Load() const;

 private:
  struct Known {
    uint64_t address = 0;
    uint64_t size = 0;
    std::vector<BlockId> ids;
  };
  [[nodiscard]] const Known& Find(const std::string& block) const;

  std::shared_ptr<MemoryTrace> trace_ = std::make_shared<MemoryTrace>();
  std::map<std::string, Known> blocks_;
  std::map<uint32_t, uint32_t> processes_;  // pid -> index
  std::map<std::pair<uint32_t, std::string>, uint32_t> threads_;
  uint32_t process_ = 0;
  uint32_t thread_ = 0;
  uint64_t device_ = kCpuDevice;
  uint64_t time_ns_ = 0;
  uint64_t next_address_ = 0x10000;
  uint64_t reuse_address_ = 0;
  uint32_t next_stack_ = 0;
  BlockId next_id_ = 0;
  bool totals_ = false;
  uint64_t extra_total_ = 0;
  uint64_t reserved_ = 0;
  uint64_t alive_bytes_ = 0;
};

}  // namespace vramscope::model::testing
