// SPDX-License-Identifier: Apache-2.0
// The injector in real Python programs with a real torch. Oracles: PyTorch's own introspection and
// torch.profiler, queried inside the recorded process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "injector/torch/recorded_program.h"
#include "trace_format/event.h"

namespace vramscope::injector {
namespace {

using testing::ElementsAre;
using trace::CoverageState;
using trace::EventType;

using Storage = std::pair<uint64_t, uint64_t>;  // address, bytes

std::multiset<Storage> Storages(const std::vector<std::vector<uint64_t>>& facts) {
  std::multiset<Storage> storages;
  for (const auto& fact : facts) storages.insert({fact.at(0), fact.at(1)});
  return storages;
}

std::multiset<Storage> Storages(const std::vector<TestRecord>& records) {
  std::multiset<Storage> storages;
  for (const TestRecord& record : records) storages.insert({record.field[0], record.field[1]});
  return storages;
}

std::vector<TestRecord> Labels(std::vector<TestRecord> records, trace::Role role) {
  std::erase_if(records, [role](const TestRecord& record) {
    return record.field[trace::label::kRole] != static_cast<uint64_t>(role);
  });
  return records;
}

class RecordedPythonTest : public testing::Test {
 protected:
  void SetUp() override {
    if (TestPython().empty()) GTEST_SKIP() << "VRAMSCOPE_TEST_PYTHON names no Python with torch";
  }
  // The recorded run of a script that must end well.
  Outcome Record(const std::string& script, const std::string& options,
                 const std::vector<std::string>& switches = {}) {
    collector_.SetOptions(options);
    const Outcome outcome = RunRecorded(collector_, PythonCommand(script, switches));
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(collector_.Lost(), 0u);
    return outcome;
  }
  uint64_t CountBetween(EventType type, uint64_t begin, uint64_t end) const {
    return Between(collector_, type, begin, end).size();
  }

  TestCollector collector_{""};
};

TEST_F(RecordedPythonTest, EachBlockThatTheProfilerSeesIsRecordedOnceAndInOrder) {
  const Outcome outcome = Record("profiled.py", "depth=light");
  std::vector<uint64_t> profiled;
  uint64_t profiled_frees = 0;
  for (const auto& fact : outcome.Facts("memory")) {
    static_cast<int64_t>(fact.at(0)) > 0 ? profiled.push_back(fact.at(0))
                                         : static_cast<void>(++profiled_frees);
  }
  // The profiler reports the frees of blocks whose allocation it saw; we report all frees.
  std::vector<uint64_t> recorded;
  uint64_t recorded_frees = 0;
  std::set<uint64_t> live;
  for (const TestRecord& record : Between(collector_, 1, 2)) {
    if (record.Is(EventType::kAlloc)) {
      recorded.push_back(record.field[trace::alloc::kSize]);
      EXPECT_TRUE(live.insert(record.field[trace::alloc::kAddress]).second);
    } else if (record.Is(EventType::kFree)) {
      recorded_frees += live.erase(record.field[trace::free_::kAddress]);
    }
  }
  EXPECT_GT(recorded.size(), 100u);
  EXPECT_EQ(recorded, profiled);
  EXPECT_EQ(recorded_frees, profiled_frees);
}

TEST_F(RecordedPythonTest, ParametersGradientsAndSavedTensorsAreThoseThatPyTorchNames) {
  const Outcome outcome = Record("training.py", "depth=light");
  const auto parameters = Storages(outcome.Facts("parameter"));
  for (uint64_t step = 1; step <= 3; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    const uint64_t at = step * 10;
    const auto saved = Storages(outcome.Facts("saved" + std::to_string(step)));
    EXPECT_GT(saved.size(), 20u);
    EXPECT_EQ(Storages(Between(collector_, EventType::kSaved, at, at + 1)), saved);
    EXPECT_EQ(Storages(Between(collector_, EventType::kSavedReleased, at + 2, at + 3)), saved);
    const auto labels = Between(collector_, EventType::kLabel, at + 2, at + 3);
    EXPECT_EQ(Storages(Labels(labels, trace::Role::kParameter)), parameters);
    EXPECT_EQ(Storages(Labels(labels, trace::Role::kGradient)),
              Storages(outcome.Facts("gradient" + std::to_string(step))));
  }
}

TEST_F(RecordedPythonTest, OddTensorsAndEverythingPrintedAreAsWithoutRecording) {
  for (const char* const script : {"odd_tensors.py", "backward_raises.py", "out_of_memory.py"}) {
    SCOPED_TRACE(script);
    const Outcome bare = RunBare(PythonCommand(script));
    const Outcome recorded = Record(script, "depth=all");
    EXPECT_EQ(recorded.out, bare.out);
    EXPECT_EQ(recorded.err, bare.err);
    EXPECT_EQ(recorded.status, bare.status);
  }
}

TEST_F(RecordedPythonTest, ABackwardWindowEndsAlsoByAnException) {
  Record("backward_raises.py", "depth=light");
  const auto begins = collector_.Of(EventType::kRangeBegin), ends = collector_.Of(EventType::kRangeEnd);
  ASSERT_EQ(begins.size(), 9u);  // three loops of one that succeeds and two that fail
  ASSERT_EQ(ends.size(), 9u);
  for (size_t i = 0; i < begins.size(); ++i) {
    EXPECT_LT(begins[i].ticks, ends[i].ticks);
    EXPECT_TRUE(i == 0 || begins[i].ticks > ends[i - 1].ticks);
  }
}

TEST_F(RecordedPythonTest, DeepFactsAreThereInTheDeepStepsOnly) {
  const Outcome outcome = Record("deep_window.py", "depth=auto;deep_steps=3-4,6");
  EXPECT_EQ(outcome.Facts("deep"),
            (std::vector<std::vector<uint64_t>>{{2, 0}, {3, 1}, {4, 1}, {5, 0}, {6, 1}, {7, 0}}));
  std::vector<std::pair<uint64_t, uint64_t>> marks;  // kind, step
  uint64_t inside = 0, outside = 0;
  bool deep = false;
  for (const TestRecord& record : collector_.Records()) {
    if (record.Is(EventType::kNodeCreated)) ++(deep ? inside : outside);
    if (!record.Is(EventType::kMark)) continue;
    deep = record.field[trace::mark::kKind] == static_cast<uint64_t>(trace::MarkKind::kDeepBegin);
    marks.push_back({record.field[trace::mark::kKind], record.field[trace::mark::kValue]});
  }
  EXPECT_THAT(marks, ElementsAre(std::pair(2u, 3u), std::pair(3u, 5u), std::pair(2u, 6u), std::pair(3u, 7u)));
  EXPECT_EQ(inside, 6u);  // three steps of mm and sum
  EXPECT_EQ(outside, 0u);
}

TEST_F(RecordedPythonTest, LoadedPastThePreloadTheHooksArePatchedIn) {
  const Outcome outcome = Record("past_preload.py", "depth=light");
  EXPECT_EQ(outcome.Facts("reached"), (std::vector<std::vector<uint64_t>>{{3}}));
  EXPECT_GT(CountBetween(EventType::kAlloc, 1, 2), 2u);
  EXPECT_EQ(CountBetween(EventType::kSaved, 1, 2), 2u);
  EXPECT_EQ(Storages(Labels(Between(collector_, EventType::kLabel, 1, 2), trace::Role::kParameter))
                .count(Storages(outcome.Facts("parameter")).empty()
                           ? Storage()
                           : *Storages(outcome.Facts("parameter")).begin()),
            2u);  // constructor and apply
  EXPECT_TRUE(HasCoverage(collector_, "slot patching"));
}

TEST_F(RecordedPythonTest, PreloadedNormallyNothingIsPatched) {
  Record("deep_window.py", "depth=light");
  EXPECT_FALSE(HasCoverage(collector_, "slot patching"));
  for (const char* const name :
       {"c10::ProfiledCPUMemoryReporter::New", "torch::autograd::SavedVariable::reset_data",
        "torch::autograd::AccumulateGrad::apply", "torch::autograd::Engine::execute", "tensor layout"}) {
    EXPECT_EQ(StateOfHook(collector_, name), CoverageState::kProven) << name;
  }
  for (const char* const name : {"c10::reportMemoryUsageToProfiler", "torch::optim::SGD::step",
                                 "torch::nn::Module::named_parameters"}) {
    EXPECT_EQ(StateOfHook(collector_, name), CoverageState::kHooked) << name;
  }
}

TEST_F(RecordedPythonTest, CpuBlocksAreRecordedUntilTheProcessUsesAnotherDevice) {
  const std::map<std::string, std::pair<size_t, size_t>> expected = {
      // device -> CPU and CUDA allocations after the mark
      {"auto", {0, 1}},
      {"all", {1, 1}},
      {"cuda", {0, 1}},
      {"cpu", {1, 0}}};
  for (const auto& [device, counts] : expected) {
    SCOPED_TRACE(device);
    collector_.Clear();
    Record("other_device.py", "depth=light;device=" + device);
    size_t cpu = 0, cuda = 0;
    for (const TestRecord& record : Between(collector_, EventType::kAlloc, 1, 2)) {
      const uint64_t code = record.field[trace::alloc::kDevice];
      ++(trace::DeviceTypeOf(code) == 0 ? cpu : cuda);
      if (trace::DeviceTypeOf(code) == 0) continue;
      EXPECT_EQ(code, trace::DeviceCode(1, 1));
      EXPECT_EQ(record.field[trace::alloc::kAddress], 0x7F0000000000u);
      EXPECT_EQ(record.field[trace::alloc::kSize], 1024u);
      EXPECT_EQ(record.field[trace::alloc::kTotalAllocated], 1024u);
      EXPECT_EQ(record.field[trace::alloc::kTotalReserved], 2097152u);
    }
    EXPECT_EQ(std::pair(cpu, cuda), counts);
    // The allocation before the mark is there unless only another device was asked for.
    EXPECT_EQ(collector_.Of(EventType::kAlloc).size() > cpu + cuda, device != "cuda");
  }
}

TEST_F(RecordedPythonTest, ForkedWorkersAreProcessesOfTheSameSession) {
  const Outcome bare = RunBare(PythonCommand("workers.py"));
  const Outcome outcome = Record("workers.py", "depth=light");
  EXPECT_EQ(outcome.out, bare.out);
  EXPECT_EQ(outcome.err, bare.err);
  std::set<pid_t> processes;
  for (const TestRecord& record : collector_.Of(EventType::kAlloc)) processes.insert(record.process);
  EXPECT_EQ(processes.size(), 3u);
}

TEST_F(RecordedPythonTest, ARefusedAllocationIsRecordedWithWhatWasAsked) {
  Record("out_of_memory.py", "depth=light");
  const auto refused = collector_.Of(EventType::kOutOfMemory);
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused[0].field[trace::oom::kRequested], uint64_t{1} << 50);
}

TEST_F(RecordedPythonTest, InIsolatedModeTheShimIsStartedByAPendingCall) {
  const std::string shim = collector_.folder() + "/it's a shim";
  std::filesystem::create_directories(shim + "/vramscope_shim");
  std::ofstream(shim + "/vramscope_shim/__init__.py")
      << "def start():\n    import ctypes\n    ctypes.CDLL(None).vramscope_mark(9, ctypes.c_uint64(4711), 0, "
         "ctypes.c_uint64(0))\n";
  const Outcome bare = RunBare(PythonCommand("backward_raises.py", {"-I"}));
  const Outcome outcome = Record("backward_raises.py", "depth=light;shim=" + shim, {"-I"});
  EXPECT_EQ(outcome.err, bare.err);
  EXPECT_EQ(StateOfHook(collector_, "Python shim by pending call"), CoverageState::kProven);
  const auto marks = collector_.Of(EventType::kMark);
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(marks[0].field[trace::mark::kValue], 4711u);
}

TEST_F(RecordedPythonTest, AProcessThatMakesNoTensorLeavesNoFile) {
  collector_.SetOptions("");
  EXPECT_EQ(RunRecorded(collector_, {TestPython(), "-c", "import torch"}).status, 0);
  EXPECT_EQ(collector_.FileCount(), 0u);
}

}  // namespace
}  // namespace vramscope::injector
