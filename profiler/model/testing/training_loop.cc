// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/testing/training_loop.h"

#include <string>
#include <vector>

#include "profiler/model/flat_map.h"
#include "profiler/model/testing/memory_trace.h"

namespace vramscope::model::testing {
namespace {

using trace::Event;
using trace::EventType;
using trace::RangeKind;

constexpr uint64_t kDevice = trace::DeviceCode(1, 0);
constexpr int kParametersPerLayer = 6;
constexpr int kSavedPerLayer = 9;
constexpr int kTemporariesPerLayer = 4;

// The texts that the run uses, as ids of whatever trace they are interned in.
struct Names {
  std::vector<uint32_t> parameters;
  std::vector<uint32_t> state;
  std::vector<uint32_t> modules;
  uint32_t linear = 0;
  uint32_t optimizer = 0;

  template <typename Intern>
  Names(const TrainingShape& shape, Intern intern) {
    linear = intern("aten::linear");
    optimizer = intern("AdamW");
    for (uint32_t layer = 0; layer < shape.layers; ++layer) {
      const std::string module = "layers." + std::to_string(layer);
      modules.push_back(intern(module));
      for (int i = 0; i < kParametersPerLayer; ++i) {
        const std::string name = module + ".weight" + std::to_string(i);
        parameters.push_back(intern(name));
        state.push_back(intern("exp_avg of " + name));
      }
    }
  }
};

// Plays the run into `sink`, step by step. Blocks of the same place in the loop get the same address in every
// step.
class TrainingLoop {
 public:
  TrainingLoop(const TrainingShape& shape, const Names& names,
               std::function<bool(std::span<const Event>)> sink)
      : shape_(shape),
        names_(names),
        sink_(std::move(sink)),
        parameters_(shape.layers * kParametersPerLayer) {}

  void Run() {
    for (uint32_t i = 0; i < parameters_; ++i) {
      Alloc(Weight(i), shape_.hidden_bytes);
      Label(Weight(i), trace::Role::kParameter, trace::LabelSource::kModuleRegistry, names_.parameters[i], i);
    }
    for (uint64_t step = 1; made_ < shape_.events && !stopped_; ++step) Step(step);
    Hand();
  }

 private:
  static uint64_t Weight(uint64_t i) { return 0x10'0000'0000 + i * 0x100'0000; }
  static uint64_t Gradient(uint64_t i) { return 0x20'0000'0000 + i * 0x100'0000; }
  static uint64_t State(uint64_t i) { return 0x30'0000'0000 + i * 0x100'0000; }
  static uint64_t Hidden(uint64_t layer, uint64_t i) { return 0x40'0000'0000 + (layer * 64 + i) * 0x10'0000; }
  static constexpr uint64_t kBatch = 0x50'0000'0000;

  void Step(uint64_t step) {
    deep_ = step >= 2 && step <= 4;
    Range(EventType::kRangeBegin, RangeKind::kDataLoader, 0);
    Alloc(kBatch, 1 << 16);
    Range(EventType::kRangeEnd, RangeKind::kDataLoader, 0);
    for (uint32_t layer = 0; layer < shape_.layers; ++layer) Forward(layer);
    Range(EventType::kRangeBegin, RangeKind::kBackward, 0);
    for (uint32_t layer = shape_.layers; layer-- > 0;) Backward(layer);
    Range(EventType::kRangeEnd, RangeKind::kBackward, 0);
    Range(EventType::kRangeBegin, RangeKind::kOptimizer, names_.optimizer);
    for (uint32_t i = 0; i < parameters_; ++i) {
      if (step == 1) Alloc(State(i), shape_.hidden_bytes * 2);
      Temporary(Hidden(shape_.layers, i % 8), shape_.hidden_bytes);
      if (step <= 2) {
        Label(State(i), trace::Role::kOptimizerState, trace::LabelSource::kOptimizer, names_.state[i], 0);
      }
    }
    Range(EventType::kRangeEnd, RangeKind::kOptimizer, names_.optimizer);
    for (uint32_t i = 0; i < parameters_; ++i) Free(Gradient(i));
    Free(kBatch);
  }

  void Forward(uint32_t layer) {
    if (deep_) Range(EventType::kRangeBegin, RangeKind::kModule, names_.modules[layer]);
    for (int i = 0; i < kSavedPerLayer; ++i) {
      if (deep_) Add(EventType::kOpBegin, {names_.linear, ~uint64_t{0}, 0, 0, 0});
      Alloc(Hidden(layer, i), shape_.hidden_bytes >> (i % 3));
      if (deep_) Add(EventType::kOpEnd, {});
      Add(EventType::kSaved, {Hidden(layer, i), 0, 0, 0});
      if (i < kTemporariesPerLayer) Temporary(Hidden(layer, 32 + i), shape_.hidden_bytes);
    }
    if (deep_) Range(EventType::kRangeEnd, RangeKind::kModule, names_.modules[layer]);
  }

  void Backward(uint32_t layer) {
    for (int i = kSavedPerLayer; i-- > 0;) {
      Temporary(Hidden(layer, 40 + i), shape_.hidden_bytes);
      Add(EventType::kSavedReleased, {Hidden(layer, i), 0});
      Free(Hidden(layer, i));
    }
    for (int i = 0; i < kParametersPerLayer; ++i) {
      const uint64_t parameter = layer * kParametersPerLayer + i;
      Alloc(Gradient(parameter), shape_.hidden_bytes);
      Label(Weight(parameter), trace::Role::kParameter, trace::LabelSource::kAccumulateGrad, 0, parameter);
      Label(Gradient(parameter), trace::Role::kGradient, trace::LabelSource::kAccumulateGrad, 0, parameter);
    }
  }

  void Alloc(uint64_t address, uint64_t size) {
    allocated_ += size;
    sizes_.Insert(address, static_cast<uint32_t>(size));
    Add(EventType::kAlloc, {address, size, kDevice, 0, 0, size - 17, allocated_, 8ull << 30});
  }
  void Free(uint64_t address) {
    const uint64_t size = *sizes_.Find(address);
    sizes_.Erase(address);
    allocated_ -= size;
    Add(EventType::kFree, {address, size, kDevice, 0, allocated_, 8ull << 30});
  }
  void Temporary(uint64_t address, uint64_t size) {
    Alloc(address, size);
    Free(address);
  }
  void Label(uint64_t address, trace::Role role, trace::LabelSource source, uint32_t name,
             uint64_t parameter) {
    Add(EventType::kLabel, {address, 0, static_cast<uint64_t>(role), static_cast<uint64_t>(source), name,
                            0x7000'0000 + parameter * 256});
  }
  void Range(EventType edge, RangeKind kind, uint32_t name) {
    Add(edge, {static_cast<uint64_t>(kind), name, 1});
  }

  void Add(EventType type, std::initializer_list<uint64_t> fields) {
    Event event;
    event.time_ns = made_ * 1000;
    event.type = type;
    std::copy(fields.begin(), fields.end(), event.field);
    batch_.push_back(event);
    ++made_;
    if (batch_.size() == (1u << 14)) Hand();
  }
  void Hand() {
    if (!stopped_ && !batch_.empty()) stopped_ = !sink_(batch_);
    batch_.clear();
  }

  const TrainingShape& shape_;
  const Names& names_;
  std::function<bool(std::span<const Event>)> sink_;
  const uint32_t parameters_;
  FlatMap sizes_;
  std::vector<Event> batch_;
  uint64_t made_ = 0;
  uint64_t allocated_ = 0;
  bool deep_ = false;
  bool stopped_ = false;
};

trace::ProcessInfo TheProcess() {
  trace::ProcessInfo info;
  info.pid = 100;
  info.command_line = "python train.py";
  return info;
}

trace::ThreadInfo TheThread() {
  trace::ThreadInfo info;
  info.name = "python";
  return info;
}

// A MemoryTrace for the texts, with events made on the way.
class TrainingTrace final : public Source {
 public:
  explicit TrainingTrace(const TrainingShape& shape)
      : shape_(shape), names_(shape, [this](const std::string& text) { return texts_.Intern(text); }) {
    texts_.AddProcess(TheProcess());
    texts_.AddThread(TheThread());
  }
  const trace::TraceClock& clock() const override { return texts_.clock(); }
  const std::vector<trace::ProcessInfo>& processes() const override { return texts_.processes(); }
  const std::vector<trace::ThreadInfo>& threads() const override { return texts_.threads(); }
  const trace::Metadata& metadata() const override { return texts_.metadata(); }
  const trace::Damage& damage() const override { return texts_.damage(); }
  uint64_t event_count() const override { return shape_.events; }
  std::string_view String(trace::StringId id) const override { return texts_.String(id); }
  std::vector<trace::StringId> Stack(trace::StackId) const override { return {}; }
  Status ForEachBatch(const Visit& visit) const override {
    TrainingLoop(shape_, names_, visit).Run();
    return {};
  }

 private:
  TrainingShape shape_;
  MemoryTrace texts_;
  Names names_;
};

}  // namespace

std::shared_ptr<const Source> MakeTrainingTrace(const TrainingShape& shape) {
  return std::make_shared<TrainingTrace>(shape);
}

Status WriteTrainingTrace(const TrainingShape& shape, trace::TraceWriter& writer) {
  const Names names(shape, [&](const std::string& text) { return writer.InternString(text); });
  writer.AddProcess(TheProcess());
  writer.AddThread(TheThread());
  Status status;
  TrainingLoop(shape, names, [&](std::span<const Event> events) {
    status = writer.Append(events);
    return status.ok();
  }).Run();
  if (!status.ok()) return status;
  return writer.Close();
}

}  // namespace vramscope::model::testing
