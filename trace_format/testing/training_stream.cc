// SPDX-License-Identifier: Apache-2.0
#include "trace_format/testing/training_stream.h"

#include <array>

namespace vramscope::trace::testing {
namespace {

constexpr size_t kLayers = 8;
constexpr uint64_t kCpu = DeviceCode(0, 0);
constexpr uint64_t kFirstName = 1;  // string ids: parameter names from here on

// Sizes of a layer's activations and parameters, in bytes, for a GPT with d = 64.
constexpr std::array<uint64_t, 14> kActivations = {65536, 1024,  1024,  196608, 65536,  65536,  4096,
                                                   65536, 65536, 65536, 1024,   262144, 262144, 65536};
constexpr std::array<uint64_t, 12> kParameters = {256, 256, 49152, 768,  16384, 256,
                                                  256, 256, 65536, 1024, 65536, 256};

}  // namespace

void TrainingStream::AppendStep(std::vector<Event>* events) {
  out_ = events;
  if (parameters_.empty()) MakeParameters();
  ++step_;
  Range(EventType::kRangeBegin, RangeKind::kDataLoader, 0);
  const Block input = Alloc(2080);
  Range(EventType::kRangeEnd, RangeKind::kDataLoader, 0);
  Forward();
  Backward();
  Optimize();
  Free(input);
}

Event& TrainingStream::Emit(EventType type) {
  // Mostly half a microsecond to some microseconds, depending on the op, plus or minus ten percent; sometimes
  // a long kernel.
  const uint64_t usual = 400 + (out_->size() * 2654435761u >> 8) % 6000;
  const uint64_t jitter = usual / 10;
  time_ns_ += usual - jitter + random_() % (2 * jitter + 1) + (random_() % 50 == 0 ? random_() % 300000 : 0);
  out_->push_back({time_ns_, 0, type, {}});
  return out_->back();
}

uint64_t TrainingStream::TakeAddress(uint64_t size) {
  std::vector<uint64_t>& free = free_addresses_[size];
  if (free.empty() || random_() % 60 == 0) {
    const uint64_t address = heap_end_;
    heap_end_ += (size + 127) & ~uint64_t{63};
    return address;
  }
  const size_t back = random_() % 7 == 0 ? random_() % free.size() : 0;
  const uint64_t address = free[free.size() - 1 - back];
  free.erase(free.end() - 1 - static_cast<ptrdiff_t>(back));
  return address;
}

// Tensor objects come from a small, busy part of the heap.
uint64_t TrainingStream::TensorAddress() { return 0x55d0'1200'0000 + (random_() % 600) * 208; }

TrainingStream::Block TrainingStream::Alloc(uint64_t size) {
  const Block block = {TakeAddress(size), size};
  total_ += size;
  Event& event = Emit(EventType::kAlloc);
  event.field[alloc::kAddress] = block.address;
  event.field[alloc::kSize] = size;
  event.field[alloc::kDevice] = kCpu;
  event.field[alloc::kTotalAllocated] = total_;
  return block;
}

void TrainingStream::Free(Block block) {
  total_ -= block.size;
  free_addresses_[block.size].push_back(block.address);
  Event& event = Emit(EventType::kFree);
  event.field[free_::kAddress] = block.address;
  event.field[free_::kSize] = block.size;
  event.field[free_::kDevice] = kCpu;
  event.field[free_::kTotalAllocated] = total_;
}

void TrainingStream::Save(Block block) {
  Event& event = Emit(EventType::kSaved);
  event.field[saved::kAddress] = block.address;
  event.field[saved::kBytes] = block.size;
  event.field[saved::kTensor] = TensorAddress();
}

void TrainingStream::Release(Block block) {
  Event& event = Emit(EventType::kSavedReleased);
  event.field[saved::kAddress] = block.address;
  event.field[saved::kBytes] = block.size;
}

void TrainingStream::Label(Role role, LabelSource source, Block block, uint64_t name, uint64_t tensor) {
  Event& event = Emit(EventType::kLabel);
  event.field[label::kAddress] = block.address;
  event.field[label::kBytes] = block.size;
  event.field[label::kRole] = static_cast<uint64_t>(role);
  event.field[label::kSource] = static_cast<uint64_t>(source);
  event.field[label::kName] = name;
  event.field[label::kTensor] = tensor;
}

void TrainingStream::Range(EventType type, RangeKind kind, uint64_t name) {
  Event& event = Emit(type);
  event.field[range::kKind] = static_cast<uint64_t>(kind);
  event.field[range::kName] = name;
}

void TrainingStream::MakeParameters() {
  for (size_t layer = 0; layer < kLayers; ++layer) {
    for (const uint64_t size : kParameters) {
      parameters_.push_back(Alloc(size));
      parameter_tensors_.push_back(0x55d0'1300'0000 + parameters_.size() * 208);
      Label(Role::kParameter, LabelSource::kModuleRegistry, parameters_.back(),
            kFirstName + parameters_.size(), parameter_tensors_.back());
    }
  }
}

void TrainingStream::Forward() {
  for (size_t layer = 0; layer < kLayers; ++layer) {
    for (size_t i = 0; i < kActivations.size(); ++i) {
      const Block block = Alloc(kActivations[i]);
      if (i % 3 == 1) {
        Free(block);  // a temporary
      } else {
        Save(block);
        saved_.push_back(block);
      }
    }
  }
}

void TrainingStream::Backward() {
  Range(EventType::kRangeBegin, RangeKind::kBackward, 0);
  size_t parameter = parameters_.size();
  for (size_t layer = 0; layer < kLayers; ++layer) {
    Block flowing = Alloc(kActivations[0]);
    for (size_t i = kActivations.size(); i-- > 0;) {
      const Block next = Alloc(kActivations[i]);
      Free(flowing);
      flowing = next;
      if (i % 3 == 1) continue;
      Release(saved_.back());
      Free(saved_.back());
      saved_.pop_back();
    }
    Free(flowing);
    for (size_t i = 0; i < kParameters.size(); ++i) {
      --parameter;
      gradients_.push_back(Alloc(parameters_[parameter].size));
      Label(Role::kParameter, LabelSource::kAccumulateGrad, parameters_[parameter], 0,
            parameter_tensors_[parameter]);
      Label(Role::kGradient, LabelSource::kAccumulateGrad, gradients_.back(), 0, TensorAddress());
    }
  }
  Range(EventType::kRangeEnd, RangeKind::kBackward, 0);
}

void TrainingStream::Optimize() {
  Range(EventType::kRangeBegin, RangeKind::kOptimizer, kFirstName);
  for (const Block& parameter : parameters_) {
    for (int temporary = 0; temporary < 6; ++temporary) Free(Alloc(temporary % 3 == 0 ? 4 : parameter.size));
  }
  Range(EventType::kRangeEnd, RangeKind::kOptimizer, kFirstName);
  Event& done = Emit(EventType::kMark);
  done.field[mark::kKind] = static_cast<uint64_t>(MarkKind::kOptimizerStepDone);
  done.field[mark::kValue] = step_;
  for (const Block& gradient : gradients_) Free(gradient);
  gradients_.clear();
}

std::vector<Event> FirstEvents(uint64_t seed, size_t count) {
  std::vector<Event> events;
  TrainingStream stream(seed);
  while (events.size() < count) stream.AppendStep(&events);
  events.resize(count);
  return events;
}

std::vector<Event> FirstSteps(uint64_t seed, size_t steps) {
  std::vector<Event> events;
  TrainingStream stream(seed);
  for (size_t i = 0; i < steps; ++i) stream.AppendStep(&events);
  return events;
}

}  // namespace vramscope::trace::testing
