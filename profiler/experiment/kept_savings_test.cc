// SPDX-License-Identifier: Apache-2.0
// Oracle: the re-run loops themselves.
#include "profiler/experiment/kept_savings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "profiler/experiment/variants.h"
#include "profiler/model/testing/trace_bytes.h"
#include "profiler/timeline/curve.h"
#include "profiler/whatif/testing/block_loop.h"

namespace vramscope::experiment {
namespace {

using whatif::BlockLoop;
using whatif::BlockShape;

TEST(KeptSavingsTest, AreWhatPyTorchCountedAndTheUsualOnesComeFirst) {
  const std::vector<BlockShape> blocks = {{1 << 18}, {1 << 18}}, smaller = {{1 << 17}, {1 << 17}};
  BlockLoop recorded(blocks), halved(smaller);
  const std::string path = ::testing::TempDir() + "/savings." + std::to_string(getpid()) + ".vms";
  recorded.trace().SetMetadata("simulated.gpu", "rtx-4090");
  const trace::Bytes whole = model::testing::TraceBytes(*recorded.run().source);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(whole.data()), static_cast<std::streamsize>(whole.size()));
  const trace::Bytes variant = model::testing::TraceBytes(*halved.run().source);
  const auto open = [&] { return model::MakeSource(std::move(trace::TraceReader::Open(path)).value()); };
  for (const char* key :
       {"attention=math @ gpu=rtx-4090 world=1", "amp=bf16 batch=0.5x @ gpu=rtx-4090 world=1",
        "batch=0.5x @ gpu=rtx-4090 world=1", "batch=0.5x @ gpu=a100-40gb world=1", "@ gpu=rtx-4090 world=1"})
    ASSERT_TRUE(KeepVariant(*open(), path, key, variant).ok());
  ASSERT_TRUE(KeepVariant(*open(), path, "precision=bf16 @ gpu=rtx-4090 world=1", trace::Bytes(99)).ok());

  const std::vector<report::Saving> savings = KeptSavings(*open(), path, recorded.baseline());
  std::vector<std::string> titles;
  const timeline::DeviceCurve curve(halved.run(), 0);
  for (const report::Saving& saving : savings) {
    titles.push_back(saving.title);
    EXPECT_EQ(saving.allocated, curve.peak().bytes);
    EXPECT_EQ(saving.reserved, curve.peak_reserved().value());
    EXPECT_EQ(saving.levers, saving.title == "amp=bf16 batch=0.5x" ? 2u : 1u);
  }
  EXPECT_THAT(titles, ::testing::ElementsAre("batch=0.5x", "amp=bf16 batch=0.5x", "attention=math"));
  EXPECT_EQ(savings.front().cost, "another number of samples per batch");
  EXPECT_EQ(savings.back().code.size(), 1u);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace vramscope::experiment
