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
constexpr uint64_t kStepsToEvaluation = 256;
constexpr uint64_t kSegmentFlags = trace::DriverFlags(trace::DriverMemory::kDevice, 0);

// The texts of the run, as ids of the trace that interns them.
struct Names {
  std::vector<uint32_t> parameters;
  std::vector<uint32_t> state;
  std::vector<uint32_t> modules;
  std::vector<uint32_t> stacks;  // of each module's forward
  uint32_t linear = 0;
  uint32_t optimizer = 0;
  uint32_t malloc = 0;
  uint32_t allocator = 0;

  // Both traces, in memory and on disk, intern texts and stacks, with differently named functions.
  template <typename Text, typename Frames>
  Names(const TrainingShape& shape, Text intern, Frames intern_stack) {
    linear = intern("aten::linear");
    optimizer = intern("AdamW");
    malloc = intern("cuMemAlloc_v2");
    allocator = intern("/usr/lib/libc10_cuda.so");
    for (uint32_t layer = 0; layer < shape.layers; ++layer) {
      const std::string module = "layers." + std::to_string(layer);
      modules.push_back(intern(module));
      stacks.push_back(intern_stack({"train.py:12 in <module>", "model.py:40 in forward",
                                     "model.py:" + std::to_string(50 + layer) + " in forward"}));
      for (int i = 0; i < kParametersPerLayer; ++i) {
        const std::string name = module + ".weight" + std::to_string(i);
        parameters.push_back(intern(name));
        state.push_back(intern("exp_avg of " + name));
      }
    }
  }
};

// Plays the run into `sink`, step by step. Blocks at the same place in the loop get the same address in every
// step. They are adjacent in segments that are taken from the driver when their first block is allocated.
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
  // Blocks with equal lifetimes share an area.
  static constexpr uint64_t kArea = 0x10'0000'0000;
  static constexpr uint64_t kHiddenArea = 4 * kArea;
  static constexpr uint64_t kBatch = 5 * kArea;
  static constexpr uint64_t kBlocksOfLayer = 16;
  static constexpr uint64_t kBlocksOfSegment = 32;
  [[nodiscard]] uint64_t Weight(uint64_t i) const { return kArea + i * shape_.hidden_bytes; }
  [[nodiscard]] uint64_t Gradient(uint64_t i) const { return 2 * kArea + i * shape_.hidden_bytes; }
  [[nodiscard]] uint64_t State(uint64_t i) const { return 3 * kArea + i * shape_.hidden_bytes * 2; }
  [[nodiscard]] uint64_t Hidden(uint64_t layer, uint64_t i) const {
    return kHiddenArea + (layer * kBlocksOfLayer + i) * shape_.hidden_bytes;
  }
  // Address of a block that lives for one line of the program.
  [[nodiscard]] uint64_t TemporaryOf(uint64_t layer, uint64_t i) const {
    return Hidden(layer, kSavedPerLayer + i % (kBlocksOfLayer - kSavedPerLayer));
  }

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
      Temporary(TemporaryOf(shape_.layers, i), shape_.hidden_bytes);
      if (step <= 2) {
        Label(State(i), trace::Role::kOptimizerState, trace::LabelSource::kOptimizer, names_.state[i], 0);
      }
    }
    Range(EventType::kRangeEnd, RangeKind::kOptimizer, names_.optimizer);
    Add(EventType::kMark,
        {static_cast<uint64_t>(trace::MarkKind::kOptimizerStepDone), step, names_.optimizer, 1});
    for (uint32_t i = 0; i < parameters_; ++i) Free(Gradient(i));
    Free(kBatch);
    if (step % kStepsToEvaluation == 0) EmptyCache();
  }

  // Gives segments without blocks back to the driver, as after an evaluation: those of the activations.
  void EmptyCache() {
    for (const uint64_t segment : hidden_segments_) {
      Add(EventType::kDriverFree, {segment, 0, kDevice, 0, names_.allocator, 0, kSegmentFlags});
      segments_.Erase(segment);
      reserved_ -= segment_bytes();
    }
    hidden_segments_.clear();
  }

  void Forward(uint32_t layer) {
    stack_ = names_.stacks[layer];
    if (deep_) Range(EventType::kRangeBegin, RangeKind::kModule, names_.modules[layer]);
    for (int i = 0; i < kSavedPerLayer; ++i) {
      if (deep_) Add(EventType::kOpBegin, {names_.linear, ~uint64_t{0}, 0, 0, 0});
      Alloc(Hidden(layer, i), shape_.hidden_bytes >> (i % 3));
      if (deep_) Add(EventType::kOpEnd, {});
      Add(EventType::kSaved, {Hidden(layer, i), 0, 0, 0});
      if (i < kTemporariesPerLayer) Temporary(TemporaryOf(layer, i), shape_.hidden_bytes);
    }
    if (deep_) Range(EventType::kRangeEnd, RangeKind::kModule, names_.modules[layer]);
    stack_ = 0;
  }

  void Backward(uint32_t layer) {
    for (int i = kSavedPerLayer; i-- > 0;) {
      Temporary(TemporaryOf(layer, i), shape_.hidden_bytes);
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

  [[nodiscard]] uint64_t segment_bytes() const { return kBlocksOfSegment * shape_.hidden_bytes; }
  void HaveSegment(uint64_t address) {
    const uint64_t in_area = address % kArea;
    const uint64_t segment = address - in_area % segment_bytes();
    if (segments_.Find(segment) != nullptr) return;
    segments_.Insert(segment, 1);
    if (segment - segment % kArea == kHiddenArea) hidden_segments_.push_back(segment);
    reserved_ += segment_bytes();
    Add(EventType::kDriverAlloc,
        {segment, segment_bytes(), kDevice, 0, names_.malloc, names_.allocator, kSegmentFlags, 0});
  }

  void Alloc(uint64_t address, uint64_t size) {
    HaveSegment(address);
    allocated_ += size;
    sizes_.Insert(address, static_cast<uint32_t>(size));
    Add(EventType::kAlloc, {address, size, kDevice, 0, stack_, size - 17, allocated_, reserved_});
  }
  void Free(uint64_t address) {
    const uint64_t size = *sizes_.Find(address);
    sizes_.Erase(address);
    allocated_ -= size;
    Add(EventType::kFree, {address, size, kDevice, 0, allocated_, reserved_});
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
    // Half a microsecond to one and a half, as irregular as in a real program.
    time_ns_ += 500 + (MixBits(made_) >> 54);
    event.time_ns = time_ns_;
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
  FlatMap segments_;  // held segments, by address
  std::vector<uint64_t> hidden_segments_;
  std::vector<Event> batch_;
  uint64_t made_ = 0;
  uint64_t time_ns_ = 0;
  uint64_t allocated_ = 0;
  uint64_t reserved_ = 0;
  uint32_t stack_ = 0;
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

// A MemoryTrace for the texts; the events are generated on the fly.
class TrainingTrace final : public Source {
 public:
  explicit TrainingTrace(const TrainingShape& shape)
      : shape_(shape),
        names_(
            shape, [this](const std::string& text) { return texts_.Intern(text); },
            [this](const std::vector<std::string>& frames) { return texts_.InternStack(frames); }) {
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
  std::vector<trace::StringId> Stack(trace::StackId id) const override { return texts_.Stack(id); }
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
  const auto intern = [&](const std::string& text) { return writer.InternString(text); };
  const auto intern_stack = [&](const std::vector<std::string>& frames) {
    trace::StackId stack = 0;
    for (const std::string& frame : frames) stack = writer.InternFrame(stack, intern(frame));
    return stack;
  };
  const Names names(shape, intern, intern_stack);
  writer.AddProcess(TheProcess());
  writer.AddThread(TheThread());
  Status status;
  TrainingLoop(shape, names, [&](std::span<const Event> events) {
    status = writer.Append(events);
    return status.ok();
  }).Run();
  VRAMSCOPE_TRY(status);
  return writer.Close();
}

Status WriteTrainingFile(const TrainingShape& shape, const std::string& path) {
  auto sink = VRAMSCOPE_TRY(trace::CreateFileSink(path));
  auto writer = VRAMSCOPE_TRY(trace::TraceWriter::Create(std::move(sink), trace::TraceClock{}));
  return WriteTrainingTrace(shape, *writer);
}

}  // namespace vramscope::model::testing
