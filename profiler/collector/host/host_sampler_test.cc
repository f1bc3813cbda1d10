// SPDX-License-Identifier: Apache-2.0
// Oracle: a child of this test that touches a known amount of memory.
#include "profiler/collector/host/host_sampler.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>

namespace vramscope::collector {
namespace {

constexpr uint64_t kMiB = 1 << 20;

TEST(HostFiguresTest, ReadsWhatTheKernelWrites) {
  HostFigures figures;
  ASSERT_TRUE(
      ReadStatusText("Name:\tpython\nVmHWM:\t    3000 kB\nVmRSS:\t    2000 kB\nRssAnon:\t    1200 kB\n"
                     "RssFile:\t     700 kB\nRssShmem:\t     100 kB\nVmSwap:\t       8 kB\n",
                     figures));
  ReadRollupText(
      "55d0-7fff ---p 00000000 00:00 0    [rollup]\nRss:    2000 kB\nPss:    1500 kB\nPss_Anon:  9 kB\n",
      figures);
  EXPECT_EQ(figures.rss, 2000u << 10);
  EXPECT_EQ(figures.rss_anon, 1200u << 10);
  EXPECT_EQ(figures.rss_shared, 100u << 10);
  EXPECT_EQ(figures.rss_peak, 3000u << 10);
  EXPECT_EQ(figures.swap, 8u << 10);
  EXPECT_EQ(figures.pss, 1500u << 10);
}

TEST(HostFiguresTest, AZombieHasNoMemory) {
  HostFigures figures;
  EXPECT_FALSE(ReadStatusText("Name:\tpython\nState:\tZ (zombie)\n", figures));
  EXPECT_FALSE(ReadStatusText("", figures));
}

TEST(HostSamplerTest, SeesWhatAProcessTouches) {
  constexpr uint64_t kShared = 48 * kMiB, kOwn = 32 * kMiB;
  int touched[2];
  ASSERT_EQ(pipe(touched), 0);
  const pid_t child = fork();
  if (child == 0) {
    std::memset(mmap(nullptr, kShared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), 1,
                kShared);
    std::memset(mmap(nullptr, kOwn, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1, kOwn);
    [[maybe_unused]] const auto written = write(touched[1], "x", 1);
    pause();
    _exit(0);
  }
  char byte;
  ASSERT_EQ(read(touched[0], &byte, 1), 1);
  std::vector<HostSample> samples;
  {
    HostSampler sampler;
    sampler.Watch(static_cast<uint32_t>(child), 7);
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(300);
    while (samples.empty() && std::chrono::steady_clock::now() < give_up) {
      usleep(10'000);
      samples = sampler.Take();
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    sampler.Forget(7);
  }
  close(touched[0]);
  close(touched[1]);
  ASSERT_FALSE(samples.empty());
  const HostFigures& figures = samples.front().figures;
  EXPECT_EQ(samples.front().key, 7u);
  EXPECT_GE(figures.rss_shared, kShared);
  EXPECT_LT(figures.rss_shared, kShared + 16 * kMiB);
  EXPECT_GE(figures.rss_anon, kOwn);
  EXPECT_GE(figures.rss, kShared + kOwn);
  EXPECT_GE(figures.rss_peak, figures.rss);
  EXPECT_GE(figures.pss, kShared + kOwn) << "nobody else has these pages";
  EXPECT_LE(figures.pss, figures.rss + kMiB);
}

}  // namespace
}  // namespace vramscope::collector
