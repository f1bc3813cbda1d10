// SPDX-License-Identifier: Apache-2.0
#include "profiler/experiment/variants.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "trace_format/testing/memory_sink.h"
#include "trace_format/testing/trace_builder.h"
#include "trace_format/testing/training_stream.h"

namespace vramscope::experiment {
namespace {

class VariantsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "/variants." + std::to_string(getpid());
    std::filesystem::create_directories(folder_);
    path_ = folder_ + "/run.vms";
    Store(trace::testing::WriteTrace(trace::testing::FirstEvents(9, 300)));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Store(trace::ByteView bytes) const {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  [[nodiscard]] std::shared_ptr<const model::Source> Open() const {
    return model::MakeSource(std::move(trace::TraceReader::Open(path_)).value());
  }

  std::string folder_;
  std::string path_;
  trace::Bytes variant_ = trace::testing::WriteTrace(trace::testing::FirstEvents(4, 100));
};

TEST_F(VariantsTest, GoesIntoTheTraceAndIsFoundByItsKey) {
  const auto kept = KeepVariant(*Open(), path_, "amp=bf16", variant_);
  ASSERT_TRUE(kept.ok()) << kept.error().sentence;
  EXPECT_EQ(*kept, path_);
  EXPECT_EQ(FindVariant(*Open(), path_, "amp=bf16"), variant_);
  EXPECT_TRUE(FindVariant(*Open(), path_, "amp=fp16").empty());
  EXPECT_FALSE(std::filesystem::exists(FileBeside(path_)));
}

TEST_F(VariantsTest, GoesBesideATraceThatIsReadOnly) {
  ASSERT_EQ(chmod(path_.c_str(), 0444), 0);
  const auto before = std::filesystem::file_size(path_);
  for (const char* key : {"amp=bf16", "batch=2x"}) {
    const auto kept = KeepVariant(*Open(), path_, key, variant_);
    ASSERT_TRUE(kept.ok()) << kept.error().sentence;
    EXPECT_EQ(*kept, FileBeside(path_));
  }
  EXPECT_EQ(std::filesystem::file_size(path_), before);
  EXPECT_EQ(FindVariant(*Open(), path_, "amp=bf16"), variant_);
  EXPECT_EQ(FindVariant(*Open(), path_, "batch=2x"), variant_);
}

TEST_F(VariantsTest, WhatLiesBesideAnotherRecordingOfThatNameIsNotTaken) {
  ASSERT_EQ(chmod(path_.c_str(), 0444), 0);
  ASSERT_TRUE(KeepVariant(*Open(), path_, "amp=bf16", variant_).ok());
  ASSERT_EQ(chmod(path_.c_str(), 0644), 0);
  {
    auto writer =
        trace::TraceWriter::Create(std::move(trace::CreateFileSink(path_)).value(), {77, 88}).value();
    ASSERT_TRUE(writer->Close().ok());
  }
  EXPECT_TRUE(FindVariant(*Open(), path_, "amp=bf16").empty());
  ASSERT_EQ(chmod(path_.c_str(), 0444), 0);
  ASSERT_TRUE(KeepVariant(*Open(), path_, "batch=2x", variant_).ok());
  EXPECT_EQ(FindVariant(*Open(), path_, "batch=2x"), variant_);
  EXPECT_TRUE(FindVariant(*Open(), path_, "amp=bf16").empty());
}

TEST_F(VariantsTest, ThoseThatQuestionsLeadToAreListed) {
  trace::Bytes bytes;
  {
    auto writer =
        trace::TraceWriter::Create(std::make_unique<trace::testing::MemorySink>(&bytes), {7, 8}).value();
    writer->SetMetadata("simulated.gpu", "rtx-4090");
    ASSERT_TRUE(writer->Close().ok());
  }
  Store(bytes);
  for (const char* key :
       {"amp=fp16 @ gpu=rtx-4090 world=1", "amp=bf16 @ gpu=a100-40gb world=1", "@ gpu=rtx-4090 world=1",
        "checkpoint=all @ gpu=rtx-4090 world=1", "amp=bf16 @ gpu=rtx-4090 alloc-conf=x world=1", "no key"})
    ASSERT_TRUE(KeepVariant(*Open(), path_, key, variant_).ok());
  ASSERT_EQ(chmod(path_.c_str(), 0444), 0);
  ASSERT_EQ(KeepVariant(*Open(), path_, "batch=2x @ gpu=rtx-4090 world=1", variant_).value(),
            FileBeside(path_));
  std::vector<std::string> keys;
  for (const KeptVariant& one : KeptVariants(*Open(), path_)) keys.push_back(one.key);
  EXPECT_EQ(keys, (std::vector<std::string>{"@ gpu=rtx-4090 world=1", "amp=fp16 @ gpu=rtx-4090 world=1",
                                            "batch=2x @ gpu=rtx-4090 world=1",
                                            "amp=bf16 @ gpu=a100-40gb world=1"}));
}

TEST_F(VariantsTest, ATraceThatWasNotClosedStaysAsItIs) {
  trace::Bytes whole = trace::testing::WriteTrace(trace::testing::FirstEvents(9, 300));
  whole.resize(whole.size() - 10);
  Store(whole);
  const auto kept = KeepVariant(*Open(), path_, "", variant_);
  ASSERT_TRUE(kept.ok()) << kept.error().sentence;
  EXPECT_EQ(*kept, FileBeside(path_));
  EXPECT_EQ(std::filesystem::file_size(path_), whole.size());
  EXPECT_EQ(FindVariant(*Open(), path_, ""), variant_);
}

}  // namespace
}  // namespace vramscope::experiment
