// SPDX-License-Identifier: Apache-2.0
// The oracle is users' measurements on GPUs: issues of NVIDIA/nccl on GitHub.
#include "injector/simulated_cuda/libraries/nccl_memory.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace vramscope::simulated {
namespace {

constexpr uint64_t kMebibyte = 1 << 20;
constexpr NcclGpu kA100 = {80, true, true}, kH100 = {90, true, true}, kL40s = {89, false, true},
                  kRtx4090 = {89, false, false};

NcclMemory For(const NcclGpu& gpu, int ranks, int rank, int release = 22602,
               const NcclSettings& settings = {}) {
  return NcclMemoryFor(gpu, settings, release, ranks, rank);
}

// Issue 964: "for group with only 2 devices, it requires 544 MB. And for group with more than 2 devices, it
// requires 688 MB", on rank 0 of 4 A100s with NVLink, in 2023.
TEST(NcclMemoryTest, GroupsOfA100sTakeWhatWasMeasured) {
  const NcclMemory two = For(kA100, 2, 0, 21800), four = For(kA100, 4, 0, 21800);
  EXPECT_EQ(two.pool + two.ring + two.tree, 544 * kMebibyte);
  EXPECT_EQ(four.pool + four.ring + four.tree, 688 * kMebibyte);
}

// Issue 1685: buffers of 10485760 and 2097152 bytes, 32 channels for each pair of 8 H100s.
TEST(NcclMemoryTest, PairsOfH100sTakeWhatWasMeasured) {
  const NcclMemory memory = For(kH100, 8, 0);
  EXPECT_EQ(memory.receive, 32u * 10485760);
  EXPECT_EQ(memory.send, 32u * 2097152);
}

// The kernels' code in libnccl 2.21.5, 2.26.2 and 2.32.3, unpacked: 44, 42 and 48 MiB for compute
// capability 8.6; 82, 95 and 109 for 9.0.
TEST(NcclMemoryTest, CodeOfKernelsIsAsLargeAsInTheWheels) {
  EXPECT_NEAR(static_cast<double>(NcclCodeBytes(86) / kMebibyte), 45, 5);
  EXPECT_NEAR(static_cast<double>(NcclCodeBytes(90) / kMebibyte), 95, 14);
}

// src/init.cc and transport/nvls.cc: commAlloc and ncclNvlsSetup with a parent that shares its resources.
TEST(NcclMemoryTest, AGroupThatSharesTakesNoPoolAndNoSecondNvlinkSharp) {
  NcclMemory whole = For(kH100, 8, 0), part = For(kH100, 4, 0);
  const NcclMemory alone = part;
  ShareWithParent(8, 8, &whole);
  ShareWithParent(8, 4, &part);
  EXPECT_EQ(whole.pool + whole.nvls, 0u);
  EXPECT_EQ(part.pool, 0u);
  EXPECT_EQ(part.nvls, alone.nvls) << "of other ranks";
  EXPECT_EQ(part.ring, alone.ring);
}

// Issue 2363: "Failed to CUDA calloc 536870912 bytes" for a group of one, NCCL 2.28.9. Pull request 2366:
// "One GPU, NCCL_RUNTIME_CONNECT=0: initialization memory decreased from 996 MiB to 484 MiB (-512 MiB)", an
// RTX 3090; "default runtime connect: initialization memory remained 484 MiB".
TEST(NcclMemoryTest, AGroupOfOneTakesItsPoolWhenConnectionsAreMadeAtOnce) {
  NcclSettings at_once;
  at_once.runtime_connect = false;
  EXPECT_FALSE(ConnectsWhenUsed(at_once, 22809));
  EXPECT_TRUE(ConnectsWhenUsed({}, 22809));
  EXPECT_FALSE(ConnectsWhenUsed({}, 22105)) << "PyTorch 2.6";
  EXPECT_EQ(For({86, false, false}, 1, 0, 23007).pool, 512 * kMebibyte);
  const NcclMemory memory = For({103, true, true}, 1, 0, 22809);
  EXPECT_EQ(memory.pool, 536870912u);
  EXPECT_EQ(memory.ring + memory.tree + memory.nvls, 0u);
  EXPECT_EQ(For(kA100, 1, 0, 22105).pool, 536870912u / 2) << "half as many channels before 2.25";
}

TEST(NcclMemoryTest, WithoutPeerAccessBuffersAreInHostMemory) {
  EXPECT_GT(For(kL40s, 2, 0).ring, 0u);
  EXPECT_EQ(For(kRtx4090, 2, 0).ring, 0u);
  NcclSettings disabled;
  disabled.peer_access = false;
  EXPECT_EQ(For(kH100, 8, 0, 22602, disabled).ring, 0u);
}

TEST(NcclMemoryTest, FewerChannelsAndSmallerBuffersTakeLess) {
  NcclSettings settings;
  settings.max_channels = 8;
  settings.buffer = static_cast<int64_t>(kMebibyte);
  const NcclMemory memory = For(kH100, 8, 3, 22602, settings);
  EXPECT_EQ(memory.pool, 8 * 16 * 128 * 1024u) << "no chunk is larger than an eighth of the buffer";
  EXPECT_EQ(memory.ring, 8 * (2 + 8) * kMebibyte) << "4 KiB, 512 KiB, 4.69 MiB and 1 MiB in whole 2 MiB";
}

TEST(NcclMemoryTest, AcrossBoardsThePoolHasSmallerChunks) {
  EXPECT_EQ(For(kH100, 8, 0).pool, 256 * kMebibyte);
  EXPECT_EQ(For(kH100, 16, 0).pool, 64 * kMebibyte);
  EXPECT_TRUE(OnOneBoard(8, 15));
  EXPECT_FALSE(OnOneBoard(7, 8));
}

TEST(NcclMemoryTest, ReadsTheVariablesThatNcclReads) {
  setenv("NCCL_BUFFSIZE", "2097152", 1);
  setenv("NCCL_MAX_NCHANNELS", "2", 1);
  setenv("NCCL_P2P_DISABLE", "1", 1);
  setenv("NCCL_LL_BUFFSIZE", "nonsense", 1);
  const NcclSettings settings = NcclSettingsOfProcess();
  for (const char* name : {"NCCL_BUFFSIZE", "NCCL_MAX_NCHANNELS", "NCCL_P2P_DISABLE", "NCCL_LL_BUFFSIZE"})
    unsetenv(name);
  EXPECT_EQ(settings.buffer, 2097152);
  EXPECT_EQ(settings.max_channels, 2);
  EXPECT_FALSE(settings.peer_access);
  EXPECT_EQ(settings.ll_buffer, -1);
}

}  // namespace
}  // namespace vramscope::simulated
