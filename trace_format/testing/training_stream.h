// SPDX-License-Identifier: Apache-2.0
// Generates events like those of a training run, for tests and benchmarks. Equal seeds give equal events.
//
// The events imitate recordings of a small GPT on CPU tensors (PyTorch 2.15, AdamW). A step has about 850
// allocations and as many frees, and also saved tensors, gradient labels and ranges. The file size depends
// most on what is irregular. Therefore times vary by about ten percent, and one call in fifty takes long. One
// allocation in seven does not reuse the last freed address of its size.
//
//   step = data ─► forward:   layers x (allocations, kSaved)
//               ─► backward:  layers x (allocations, kSavedReleased, kLabel gradient)
//               ─► optimizer: parameters x temporaries ─► kMark
#pragma once

#include <cstdint>
#include <random>
#include <unordered_map>
#include <vector>

#include "trace_format/event.h"

namespace vramscope::trace::testing {

class TrainingStream {
 public:
  explicit TrainingStream(uint64_t seed) : random_(seed) {}

  // Appends the events of the next training step.
  void AppendStep(std::vector<Event>* events);

 private:
  struct Block {
    uint64_t address;
    uint64_t size;
  };

  Event& Emit(EventType type);
  Block Alloc(uint64_t size);
  void Free(Block block);
  void Save(Block block);
  void Release(Block block);
  void Label(Role role, LabelSource source, Block block, uint64_t name, uint64_t tensor);
  void Range(EventType type, RangeKind kind, uint64_t name);
  void MakeParameters();
  void Forward();
  void Backward();
  void Optimize();
  uint64_t TakeAddress(uint64_t size);
  uint64_t TensorAddress();

  std::mt19937_64 random_;
  std::vector<Event>* out_ = nullptr;
  uint64_t time_ns_ = 0;
  uint64_t total_ = 0;
  uint64_t heap_end_ = 0x7f2a'4000'0040;
  std::unordered_map<uint64_t, std::vector<uint64_t>> free_addresses_;  // by size
  std::vector<Block> parameters_;
  std::vector<uint64_t> parameter_tensors_;
  std::vector<Block> gradients_;
  std::vector<Block> saved_;
  uint64_t step_ = 0;
};

// Return the first `count` events of a stream, and the events of its first `steps` steps.
std::vector<Event> FirstEvents(uint64_t seed, size_t count);
std::vector<Event> FirstSteps(uint64_t seed, size_t steps);

}  // namespace vramscope::trace::testing
