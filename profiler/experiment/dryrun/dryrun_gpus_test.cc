// SPDX-License-Identifier: Apache-2.0
// The oracle for a history at a given capacity is the allocator model, which has tests of its own
// (profiler/allocator). tests/simulated_cuda/dryrun_test.py checks that a run on a GPU of that capacity gives
// the same answer.
#include "profiler/experiment/dryrun/dryrun_gpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "profiler/collector/output/scratch_folder.h"

namespace vramscope::experiment {
namespace {

using allocator::Action;
using allocator::History;

constexpr uint64_t kMebibyte = 1 << 20;
constexpr uint64_t kBeside = 500 * kMebibyte;

collector::GpuModel Gpu(const char* name, uint64_t mebibytes, int capability, uint64_t context = 400) {
  return {name, name, mebibytes * kMebibyte, context * kMebibyte, "", capability};
}

// A history as PyTorch records it: segments from the device, and allocated blocks.
class Script {
 public:
  Script() {
    history_.torch_version = "2.6.0";
    history_.complete = true;
  }
  uint64_t Segment(uint64_t mebibytes) {
    const uint64_t address = next_;
    next_ += (mebibytes + 2) * kMebibyte;
    Add(Action::kSegmentAlloc, address, mebibytes);
    return address;
  }
  void Alloc(uint64_t address, uint64_t mebibytes) {
    Add(Action::kAlloc, address, mebibytes);
    allocated_ += mebibytes * kMebibyte;
    peak_allocated_ = std::max(peak_allocated_, allocated_);
  }
  void Free(uint64_t address, uint64_t mebibytes) {
    Add(Action::kFreeRequested, address, mebibytes);
    Add(Action::kFreeCompleted, address, mebibytes);
    allocated_ -= mebibytes * kMebibyte;
  }
  [[nodiscard]] const History& history() const { return history_; }
  [[nodiscard]] uint64_t peak_allocated() const { return peak_allocated_; }

 private:
  void Add(Action action, uint64_t address, uint64_t mebibytes) {
    allocator::Event event;
    event.action = action;
    event.address = address;
    event.bytes = mebibytes * kMebibyte;
    history_.events.push_back(event);
  }
  History history_;
  uint64_t next_ = uint64_t{1} << 40, allocated_ = 0, peak_allocated_ = 0;
};

// 100 MiB, freed into the cache; 40 MiB of them are reused if `pins`; then 300 MiB. Reserves 400 MiB.
Script TwoBlocks(bool pins) {
  Script script;
  const uint64_t first = script.Segment(100);
  script.Alloc(first, 100);
  script.Free(first, 100);
  if (pins) script.Alloc(first, 40);
  script.Alloc(script.Segment(300), 300);
  return script;
}

class DryrunGpusTest : public testing::Test {
 protected:
  DryrunGpusTest() {
    ledger_.peak_bytes = kBeside + 400 * kMebibyte;
    ledger_.processes = {{7, ledger_.peak_bytes}};
    ledger_.entries = {{"libc10_cuda.so", "cudaMalloc", 400 * kMebibyte},
                       {"", "context", 400 * kMebibyte},
                       {"libtorch_cuda.so", "kernels", 20 * kMebibyte},
                       {"libnccl.so.2", "ring", 80 * kMebibyte}};
  }

  // For a GPU on which PyTorch can have `room` MiB.
  [[nodiscard]] std::optional<GpuRow> AtRoom(const Script& script, uint64_t room,
                                             int capability = 100) const {
    const MeasuredRun run = {measured_,      ledger_, elsewhere_, &script.history(), script.peak_allocated(),
                             400 * kMebibyte};
    return Conclude(run, Gpu("other", room + kBeside / kMebibyte, capability));
  }

  collector::GpuModel measured_ = Gpu("largest", 100'000, 100);
  DeviceLedger ledger_;
  Elsewhere elsewhere_;
};

TEST_F(DryrunGpusTest, FitsWhereThePeaksFit) {
  const auto row = AtRoom(TwoBlocks(false), 400);
  ASSERT_TRUE(row);
  EXPECT_TRUE(row->fits && !row->retries && row->answered_by == AnsweredBy::kConclusion);
  EXPECT_EQ(row->used_bytes, kBeside + 400 * kMebibyte);
}

TEST_F(DryrunGpusTest, FitsWherePyTorchCanGiveBackItsCache) {
  const auto row = AtRoom(TwoBlocks(false), 398);
  ASSERT_TRUE(row);
  EXPECT_TRUE(row->fits && row->retries && row->answered_by == AnsweredBy::kReplay);
  EXPECT_EQ(row->used_bytes, kBeside + 300 * kMebibyte);
}

TEST_F(DryrunGpusTest, DoesNotFitWhereABlockPinsItsSegment) {
  const auto row = AtRoom(TwoBlocks(true), 398);
  ASSERT_TRUE(row);
  EXPECT_TRUE(!row->fits && row->answered_by == AnsweredBy::kReplay);
}

TEST_F(DryrunGpusTest, DoesNotFitWhereWhatIsAllocatedDoesNot) {
  const auto row = AtRoom(TwoBlocks(false), 299);
  ASSERT_TRUE(row);
  EXPECT_TRUE(!row->fits && row->answered_by == AnsweredBy::kConclusion);
}

TEST_F(DryrunGpusTest, ARunOnAnotherComputeCapabilitySaysNothingNearTheLimit) {
  EXPECT_FALSE(AtRoom(TwoBlocks(false), 500, 89));
  EXPECT_TRUE(AtRoom(TwoBlocks(false), 400 + 256, 89)->fits);
  EXPECT_FALSE(AtRoom(TwoBlocks(false), 300 - 257, 89)->fits);
}

TEST_F(DryrunGpusTest, SaysNothingWhereTheModelDoesOtherThanTheRun) {
  Script emptied;  // the program empties the cache: PyTorch did not free the segment for a request
  const uint64_t first = emptied.Segment(100);
  emptied.Alloc(first, 100);
  emptied.Free(first, 100);
  emptied.Alloc(emptied.Segment(302), 302);  // 302, although the ledger has 400 reserved
  EXPECT_FALSE(AtRoom(emptied, 398));
}

TEST_F(DryrunGpusTest, WhatIsTakenBesidePyTorchIsThatOfTheOtherGpu) {
  elsewhere_.kernel_bytes = {{89, 14 * kMebibyte}, {100, 20 * kMebibyte}};
  elsewhere_.nccl_bytes = {{"largest", 80 * kMebibyte}, {"other", 0}};
  const History none;
  const MeasuredRun run = {measured_, ledger_, elsewhere_, &none};
  EXPECT_EQ(BesidePyTorch(run, measured_), kBeside);
  EXPECT_EQ(BesidePyTorch(run, Gpu("other", 1000, 89, 100)), (100 + 14) * kMebibyte);
}

TEST(ReadElsewhereTest, AddsUpTheProcessesOfTheDevice) {
  const collector::ScratchFolder folder;
  std::ofstream(folder.path() + "/7.elsewhere") << "kernels\t89\t1\nnccl\tt4\t5\n";
  std::ofstream(folder.path() + "/8.elsewhere") << "kernels\t89\t2097153\nattention\tfused\t1\nnccl\tt4\t6\n";
  std::ofstream(folder.path() + "/9.elsewhere") << "kernels\t89\t2097153\n";
  const std::vector<ProcessShare> processes = {{7, 1}, {8, 1}};
  const Elsewhere elsewhere = ReadElsewhere(folder.path(), processes);
  EXPECT_EQ(elsewhere.kernel_bytes.at(89), 6 * kMebibyte) << "each process has whole blocks";
  EXPECT_EQ(elsewhere.nccl_bytes.at("t4"), 11u);
  EXPECT_TRUE(elsewhere.fused_attention);
}

TEST(AttentionKindTest, IsOneOfThree) {
  EXPECT_EQ(AttentionKind(70), AttentionKind(75));
  EXPECT_EQ(AttentionKind(80), AttentionKind(120));
  EXPECT_EQ(AttentionKind(90), AttentionKind(100));
  EXPECT_NE(AttentionKind(75), AttentionKind(80));
  EXPECT_NE(AttentionKind(89), AttentionKind(90));
}

}  // namespace
}  // namespace vramscope::experiment
