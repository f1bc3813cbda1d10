// SPDX-License-Identifier: Apache-2.0
// Records the memory that executions of compiled programs take.
//
// XLA plans a program's memory when it compiles it: one block of temporaries, and a block for each result. A
// result may take over the memory of a donated argument. The time line of an execution, in the order of
// events:
//
//   before  temporaries begin                     peak = arguments + temporaries + results
//   call    the plug-in allocates and enqueues            - results in donated memory
//   after   results begin; one at the address of a donated argument ends that argument first
//           temporaries end; donated arguments whose memory no result took over end
//
// The address of the temporaries is not known. The trace uses an address in this library instead.
#include <string.h>
#include <sys/mman.h>

#include "injector/core/api.h"
#include "injector/core/intern.h"
#include "injector/core/thread_ring.h"
#include "injector/jax/allocator_use.h"
#include "injector/jax/buffers.h"
#include "injector/jax/plugin.h"
#include "injector/jax/programs.h"
#include "injector/jax/steps.h"
#include "trace_format/event.h"

namespace vramscope::injector::jax {
namespace {

using trace::EventType;

constexpr size_t kMostDevices = 64;
constexpr char kPhaseCounter[] = "step.phase";
constexpr auto kNoDevice = static_cast<uint16_t>(trace::DeviceCode(0, 0xff));

// Stands for the temporaries of the execution that this thread makes, one for each device. Executions on one
// thread do not overlap.
constinit thread_local char temporaries[kMostDevices] __attribute__((tls_model("initial-exec"))) = {};

// The donated arguments of one execution on one device, by address. Memory of its own: a program may have
// thousands of arguments.
class Donated {
 public:
  explicit Donated(size_t most) {
    while (capacity_ < most * 2) capacity_ *= 2;
    void* const memory =
        mmap(nullptr, capacity_ * sizeof(Block), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    blocks_ = memory == MAP_FAILED ? nullptr : static_cast<Block*>(memory);
  }
  ~Donated() {
    if (blocks_ != nullptr) munmap(static_cast<void*>(blocks_), capacity_ * sizeof(Block));
  }
  Donated(const Donated&) = delete;
  Donated& operator=(const Donated&) = delete;

  // False if there is no memory.
  bool Add(const Block& block) {
    if (blocks_ == nullptr) return false;
    Block* place = Place(block.address);
    *place = block;
    return true;
  }
  // Frees the block at this address, if there is one.
  void FreeAt(uint64_t address) {
    if (blocks_ == nullptr) return;
    Block* const place = Place(address);
    if (place->address != 0 && place->bytes != 0) {
      RecordFree(*place);
      place->bytes = 0;  // the address stays, so that searches pass by
    }
  }
  void FreeAll() {
    for (size_t i = 0; blocks_ != nullptr && i < capacity_; ++i) {
      if (blocks_[i].bytes != 0) RecordFree(blocks_[i]);
    }
  }

 private:
  Block* Place(uint64_t address) const {
    size_t at = (address >> 8) & (capacity_ - 1);
    while (blocks_[at].address != 0 && blocks_[at].address != address) at = (at + 1) & (capacity_ - 1);
    return &blocks_[at];
  }
  size_t capacity_ = 64;
  Block* blocks_ = nullptr;
};

void EnterPhase(uint32_t phase) {
  Record(EventType::kCounter, kNoDevice, InternString(kPhaseCounter, sizeof(kPhaseCounter) - 1),
         uint64_t{phase});
}

class Execution {
 public:
  Execution(const ExecuteArguments& arguments, const Program& program)
      : arguments_(arguments),
        program_(program),
        devices_(arguments.device_count < kMostDevices ? arguments.device_count : kMostDevices) {}

  void Begin() {
    FindDevices();
    for (size_t device = 0; device < devices_; ++device) {
      bool added = false;
      for (size_t i = 0; i < arguments_.input_count; ++i)
        added = AddIfUnknown(arguments_.inputs[device][i]) || added;
      // Arguments unknown until now were part of the rest. So is memory that the plug-in returns late.
      if (added || HasRest(codes_[device])) CompareWithAllocator(objects_[device]);
    }
    LabelArguments();
    FollowStep();
    if (description() != nullptr && description()->phase != 0) EnterPhase(description()->phase);
    if (program_.temp_bytes == 0) return;
    for (size_t device = 0; device < devices_; ++device) {
      const uint64_t bytes = Rounded(program_.temp_bytes);
      RecordAfterAll(EventType::kAlloc, codes_[device], program_.temp_stack, TempAddress(device), bytes, 0,
                     program_.temp_bytes);
    }
  }

  void End(bool succeeded) {
    for (size_t device = 0; device < devices_; ++device) {
      Donated donated(arguments_.input_count);
      if (succeeded) {
        FindDonated(device, donated);
        AddResults(device, donated);
      }
      if (program_.temp_bytes != 0) Record(EventType::kFree, codes_[device], 0, TempAddress(device), 0);
      donated.FreeAll();
      CompareWithAllocator(objects_[device]);
    }
    const Description* const described = description();
    if (described == nullptr) return;
    if (described->phase != 0) EnterPhase(0);
    if (succeeded) EndStepPart(program_);
  }

  void RecordNoMemory() const {
    for (size_t device = 0; device < devices_; ++device)
      Record(EventType::kOutOfMemory, codes_[device], program_.stack, program_.temp_bytes, 0, 0);
  }

 private:
  const Description* description() const { return program_.description; }
  static uint64_t TempAddress(size_t device) { return reinterpret_cast<uint64_t>(&temporaries[device]); }

  // Fills in the devices: the one that the program was asked to run on, otherwise those in its own list.
  void FindDevices() {
    ListQuestion<LoadedExecutable, Device*> list = {{}, arguments_.executable, nullptr, 0};
    const bool single = arguments_.device != nullptr && devices_ == 1;
    const bool listed = !single && Ask(Entry::kLoadedExecutableAddressableDevices, list);
    for (size_t device = 0; device < devices_; ++device) {
      Device* const listed_one = listed && device < list.count ? list.items[device] : nullptr;
      objects_[device] = single ? arguments_.device : listed_one;
      codes_[device] = DeviceCodeOf(objects_[device]);
    }
  }

  void FollowStep() {
    if (description() != nullptr) return BeginStepPart(arguments_, *description());
    for (size_t device = 0; AnyGradient() && device < devices_; ++device)
      states_[device] = StateOfArguments(arguments_, device);
  }

  void LabelArguments() const {
    if (description() == nullptr) return;
    for (size_t device = 0; device < devices_; ++device) {
      for (size_t i = 0; i < arguments_.input_count; ++i)
        Label(arguments_.inputs[device][i], description()->labels[i]);
    }
  }

  static void Label(const Buffer* buffer, const VramscopeJaxLabel& label) {
    if (label.role != 0) LabelBuffer(buffer, static_cast<uint16_t>(label.role), label.name, label.state);
  }

  void FindDonated(size_t device, Donated& donated) const {
    for (size_t i = 0; i < arguments_.input_count; ++i) {
      Buffer* const buffer = arguments_.inputs[device][i];
      Block block = {};
      Question<Buffer, bool> deleted = {{}, buffer, false};
      if (!FindBuffer(buffer, &block) || !Ask(Entry::kBufferIsDeleted, deleted) || !deleted.answer) continue;
      if (TakeMemory(buffer, &block) && !donated.Add(block)) RecordFree(block);
    }
  }

  void AddResults(size_t device, Donated& donated) const {
    for (size_t i = 0; i < program_.result_count; ++i) {
      Buffer* const buffer = arguments_.outputs[device][i];
      Block block = {};
      if (buffer == nullptr || !Locate(buffer, &block)) continue;
      donated.FreeAt(block.address);
      AddBuffer(buffer, block, program_.stack);
      if (description() != nullptr)
        Label(buffer, description()->labels[arguments_.input_count + i]);
      else if (states_[device] != 0)
        NoteState(buffer, states_[device]);
    }
  }

  const ExecuteArguments& arguments_;
  const Program& program_;
  size_t devices_;
  Device* objects_[kMostDevices] = {};
  uint16_t codes_[kMostDevices] = {};
  uint32_t states_[kMostDevices] = {};  // the `state` of results, for programs without a description
};

bool IsOutOfMemory(const Error* error) {
  Question<const Error, int> code = {{}, error, 0};
  return Ask(Entry::kErrorGetCode, code) && code.answer == kResourceExhausted;
}

}  // namespace

Error* OnExecute(void* given) {
  const auto& arguments = *static_cast<const ExecuteArguments*>(given);
  Program program = {};
  if (!BeginExecution(arguments.executable, arguments.input_count, &program))
    return Real(Entry::kLoadedExecutableExecute)(given);
  Execution execution(arguments, program);
  execution.Begin();
  Error* const error = Real(Entry::kLoadedExecutableExecute)(given);
  if (error != nullptr && IsOutOfMemory(error)) execution.RecordNoMemory();
  execution.End(error == nullptr);
  return error;
}

}  // namespace vramscope::injector::jax
