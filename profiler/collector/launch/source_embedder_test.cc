// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/launch/source_embedder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "trace_format/file_sink.h"
#include "trace_format/reader.h"

namespace vramscope::collector {
namespace {

class SourceEmbedderTest : public ::testing::Test {
 protected:
  SourceEmbedderTest() {
    std::string name = ::testing::TempDir() + "/sources.XXXXXX";
    folder_ = mkdtemp(name.data());
    writer_ = trace::TraceWriter::Create(trace::CreateFileSink(folder_ + "/run.vms").value(), {1, 1}).value();
  }
  ~SourceEmbedderTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << text;
    return folder_ + "/" + name;
  }
  void SeeFrame(const std::string& path, int line) {
    writer_->InternFrame(0, writer_->InternString("f (" + path + ":" + std::to_string(line) + ")"));
  }
  // A reader for the trace so far.
  std::unique_ptr<trace::TraceReader> Trace() {
    EXPECT_TRUE(writer_->Flush().ok());
    return trace::TraceReader::Open(folder_ + "/run.vms").value();
  }

  std::string folder_;
  std::unique_ptr<trace::TraceWriter> writer_;
};

TEST_F(SourceEmbedderTest, AFileIsThereAsItWasWhenItsFirstFrameWasSeen) {
  const std::string model = Write("model.py", "one\ntwo\n");
  SourceEmbedder embedder;
  SeeFrame(model, 1);
  embedder.Update(*writer_);
  Write("model.py", "changed\n");
  SeeFrame(model, 2);
  const std::string train = Write("train.py", "");
  SeeFrame(train, 1);
  embedder.Update(*writer_);
  const auto trace = Trace();
  EXPECT_EQ(trace->source_files(), (trace::SourceFiles{{model, "one\ntwo\n"}, {train, ""}}));
  EXPECT_FALSE(trace->metadata().contains("sources.left_out"));
}

TEST_F(SourceEmbedderTest, OnlyTextFilesOfAReasonableSizeAreTaken) {
  const std::string pipe = folder_ + "/pipe.py";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  SeeFrame(pipe, 1);
  SeeFrame(folder_, 1);
  SeeFrame(folder_ + "/gone.py", 1);
  SeeFrame("/dev/zero", 1);
  SeeFrame(Write("binary.py", std::string("a\0b", 3)), 1);
  SeeFrame(Write("large.py", std::string(SourceEmbedder::kMostFileBytes + 1, 'x')), 1);
  const std::string largest = Write("largest.py", std::string(SourceEmbedder::kMostFileBytes, 'x'));
  SeeFrame(largest, 1);
  SourceEmbedder embedder;
  embedder.Update(*writer_);
  const auto trace = Trace();
  ASSERT_EQ(trace->source_files().size(), 1u);
  EXPECT_TRUE(trace->source_files().contains(largest));
  EXPECT_EQ(trace->metadata().find("sources.left_out")->second, "6");
}

TEST_F(SourceEmbedderTest, AllTogetherStayWithinTheLimit) {
  constexpr size_t kFit = SourceEmbedder::kMostBytes / SourceEmbedder::kMostFileBytes;
  for (size_t i = 0; i < kFit + 2; ++i)
    SeeFrame(Write(std::to_string(i) + ".py", std::string(SourceEmbedder::kMostFileBytes, 'x')), 1);
  SourceEmbedder embedder;
  embedder.Update(*writer_);
  const auto trace = Trace();
  EXPECT_EQ(trace->source_files().size(), kFit);
  EXPECT_EQ(trace->metadata().find("sources.left_out")->second, "2");
}

TEST_F(SourceEmbedderTest, WhatIsInstalledIsNotTheProgram) {
  EXPECT_TRUE(SourceEmbedder::IsOfTheProgram("train.py"));
  EXPECT_TRUE(SourceEmbedder::IsOfTheProgram("/src/project/model.py"));
  EXPECT_FALSE(
      SourceEmbedder::IsOfTheProgram("/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py"));
  EXPECT_FALSE(SourceEmbedder::IsOfTheProgram("/usr/lib/python3/dist-packages/numpy/core.py"));
  EXPECT_FALSE(SourceEmbedder::IsOfTheProgram("/usr/lib/python3.11/threading.py"));
  EXPECT_FALSE(SourceEmbedder::IsOfTheProgram("<frozen importlib._bootstrap>"));
}

}  // namespace
}  // namespace vramscope::collector
