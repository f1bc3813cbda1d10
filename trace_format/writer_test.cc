// SPDX-License-Identifier: Apache-2.0
#include "trace_format/writer.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <vector>

#include "trace_format/block_map.h"
#include "trace_format/reader.h"
#include "trace_format/testing/memory_sink.h"
#include "trace_format/testing/trace_builder.h"
#include "trace_format/testing/training_stream.h"

namespace vramscope::trace {
namespace {

using testing::FirstDifference;
using testing::FirstSteps;
using testing::MemorySink;
using testing::ReadAll;
using testing::ReaderOf;
using testing::SmallDisk;

std::unique_ptr<TraceWriter> WriterTo(Bytes* bytes, const TraceWriter::Options& options = {}) {
  return std::move(TraceWriter::Create(std::make_unique<MemorySink>(bytes), {7, 8}, options)).value();
}

size_t CountBlocks(ByteView bytes, BlockType type) {
  size_t count = 0;
  for (const BlockEntry& block : MapBlocks(bytes).blocks) count += block.header.type == type;
  return count;
}

TEST(WriterTest, DefinitionsComeBack) {
  Bytes bytes;
  const auto writer = WriterTo(&bytes);
  const std::string binary("\0\xff\n\"", 4);
  const StringId train = writer->InternString("train.py:10");
  const StringId empty = writer->InternString("");
  const StringId odd = writer->InternString(binary);
  EXPECT_NE(empty, 0u);
  EXPECT_EQ(writer->InternString("train.py:10"), train);
  const StackId outer = writer->InternFrame(0, train);
  const StackId inner = writer->InternFrame(outer, odd);
  EXPECT_EQ(writer->InternFrame(outer, odd), inner);
  EXPECT_NE(writer->InternFrame(0, odd), inner);
  const uint32_t process =
      writer->AddProcess({.pid = 10, .parent_pid = 1, .start_ns = 5, .executable = "python3"});
  EXPECT_EQ(writer->AddThread({process, 11, "main"}), 0u);
  EXPECT_EQ(writer->AddThread({process, 12, "worker"}), 1u);
  writer->SetMetadata("option.depth", "auto");
  writer->AddSourceFile("train.py", "first\n");
  writer->AddSourceFile("model.py", "");
  std::vector<std::string> frames;
  const StackId next = writer->VisitFrames(1, [&](std::string_view frame) { frames.emplace_back(frame); });
  EXPECT_EQ(frames, (std::vector<std::string>{"train.py:10", binary, binary}));
  EXPECT_EQ(writer->VisitFrames(next, [](std::string_view) { FAIL(); }), next);
  ASSERT_TRUE(writer->Flush().ok());
  writer->AddSourceFile("train.py", "second\n");
  writer->UpdateProcess(process,
                        {.pid = 10, .end_ns = 99, .exit_status = -9, .command_line = "python3 train.py"});
  writer->SetMetadata("option.depth", "deep");
  writer->SetMetadata("torch.version", "2.6.0");
  ASSERT_TRUE(writer->Close().ok());

  const auto reader = ReaderOf(bytes);
  EXPECT_EQ(reader->clock().start_realtime_ns, 7u);
  EXPECT_EQ(reader->clock().start_monotonic_ns, 8u);
  EXPECT_EQ(reader->String(train), "train.py:10");
  EXPECT_EQ(reader->String(empty), "");
  EXPECT_EQ(reader->String(odd), binary);
  EXPECT_EQ(reader->String(0), "");
  EXPECT_EQ(reader->String(1000), "");
  EXPECT_EQ(reader->Stack(inner), (std::vector<StringId>{train, odd}));
  EXPECT_TRUE(reader->Stack(0).empty());
  EXPECT_TRUE(reader->Stack(1000).empty());
  ASSERT_EQ(reader->processes().size(), 1u);
  EXPECT_EQ(reader->processes()[0].exit_status, -9);
  EXPECT_EQ(reader->processes()[0].command_line, "python3 train.py");
  ASSERT_EQ(reader->threads().size(), 2u);
  EXPECT_EQ(reader->threads()[1].name, "worker");
  EXPECT_EQ(reader->metadata(), (Metadata{{"option.depth", "deep"}, {"torch.version", "2.6.0"}}));
  EXPECT_EQ(reader->source_files(), (SourceFiles{{"model.py", ""}, {"train.py", "second\n"}}));
  EXPECT_EQ(reader->damage().sentence, "");
  EXPECT_TRUE(reader->damage().closed_cleanly);
}

TEST(WriterTest, ATraceLikeAnotherHasItsSourceFiles) {
  Bytes bytes, copied;
  const auto writer = WriterTo(&bytes);
  writer->AddSourceFile("train.py", "first\n");
  ASSERT_TRUE(writer->Flush().ok());
  auto copy =
      TraceWriter::CreateLike(*writer, std::make_unique<testing::MemorySink>(&copied), {1, 1}).value();
  ASSERT_TRUE(copy->Close().ok());
  EXPECT_EQ(ReaderOf(copied)->source_files(), (SourceFiles{{"train.py", "first\n"}}));
}

TEST(WriterTest, ManyDefinitionsAreSplitIntoBlocks) {
  Bytes bytes;
  const auto writer = WriterTo(&bytes);
  const std::string long_text(kMaxTextBytes + 100, 'x');
  for (int i = 0; i < 12; ++i) writer->InternString(std::to_string(i) + long_text);
  for (uint32_t i = 0; i < 300'000; ++i) writer->AddThread({i % 4, i, ""});
  ASSERT_TRUE(writer->Close().ok());
  const auto reader = ReaderOf(bytes);
  EXPECT_EQ(reader->String(12).size(), kMaxTextBytes);
  EXPECT_EQ(reader->String(12).substr(0, 2), "11");
  ASSERT_EQ(reader->threads().size(), 300'000u);
  EXPECT_EQ(reader->threads()[299'999].os_thread, 299'999u);
  EXPECT_GT(CountBlocks(bytes, BlockType::kStrings), 1u);
  EXPECT_GT(CountBlocks(bytes, BlockType::kThreads), 1u);
}

TEST(WriterTest, AfterAFlushAReaderSeesAllEventsSoFar) {
  Bytes bytes;
  const auto writer = WriterTo(&bytes);
  const std::vector<Event> events = FirstSteps(3, 2);
  ASSERT_TRUE(writer->Append(events).ok());
  ASSERT_TRUE(writer->Flush().ok());
  EXPECT_EQ(writer->events_written(), events.size());
  const Bytes so_far = bytes;
  const auto reader = ReaderOf(so_far);
  EXPECT_EQ(FirstDifference(ReadAll(*reader), events), "");
  EXPECT_FALSE(reader->damage().closed_cleanly);
  EXPECT_EQ(reader->damage().bytes_unreadable, 0u);
  EXPECT_EQ(reader->damage().sentence,
            "run.vms: not closed (still being recorded, or the recorder was killed); its 4,498 events are "
            "readable.");
}

TEST(WriterTest, AClosedWriterTakesNoMore) {
  Bytes bytes;
  const auto writer = WriterTo(&bytes);
  ASSERT_TRUE(writer->Close().ok());
  const size_t size = bytes.size();
  EXPECT_FALSE(writer->Append(FirstSteps(3, 1)).ok());
  EXPECT_TRUE(writer->Close().ok());
  EXPECT_EQ(bytes.size(), size);
  EXPECT_EQ(bytes.size(), writer->bytes_written());
}

TEST(WriterTest, CheckpointsComeByEventsNotByFlushes) {
  Bytes bytes;
  TraceWriter::Options options;
  options.events_per_block = 2048;
  const auto writer = WriterTo(&bytes, options);
  const std::vector<Event> events = FirstSteps(3, 40);
  for (const Event& event : events) {
    ASSERT_TRUE(writer->Append({&event, 1}).ok());
    if (&event - events.data() < 3000) {
      ASSERT_TRUE(writer->Flush().ok());
    }
  }
  ASSERT_TRUE(writer->Close().ok());
  const size_t checkpoints = CountBlocks(bytes, BlockType::kCheckpoint);
  EXPECT_GE(checkpoints, 5u);
  EXPECT_LE(checkpoints, events.size() / (4 * 2048));
}

TEST(WriterTest, AFullDiskCostsOnlyTheEventsOfItsBlocks) {
  Bytes bytes;
  uint64_t room = 40'000;
  TraceWriter::Options options;
  options.events_per_block = 4096;
  auto writer =
      std::move(TraceWriter::Create(std::make_unique<SmallDisk>(&bytes, &room), {}, options)).value();
  writer->AddThread({});
  const std::vector<Event> events = FirstSteps(3, 40);
  const std::span<const Event> all(events);
  const Status failed = writer->Append(all.first(60'000));
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().sentence, "run.vms: cannot be written: No space left on device.");
  room = bytes.size();
  const StringId late = writer->InternString("a string of the time when nothing could be written");
  EXPECT_FALSE(writer->Flush().ok());
  const uint64_t lost = writer->events_lost();
  EXPECT_GT(lost, 0u);

  room = uint64_t{1} << 30;  // somebody deletes something
  EXPECT_TRUE(writer->Append(all.subspan(60'000)).ok());
  EXPECT_TRUE(writer->Close().ok());
  EXPECT_EQ(writer->events_lost(), lost);
  EXPECT_EQ(writer->events_written() + lost, events.size());

  const auto reader = ReaderOf(bytes);
  EXPECT_EQ(reader->String(late), "a string of the time when nothing could be written");
  const std::vector<Event> read = ReadAll(*reader);
  const size_t before = 60'000 - static_cast<size_t>(lost);
  ASSERT_EQ(read.size(), events.size() - lost);
  EXPECT_EQ(FirstDifference(std::span(read).first(before), all.first(before)), "");
  EXPECT_EQ(FirstDifference(std::span(read).subspan(before), all.subspan(60'000)), "");
  EXPECT_TRUE(reader->damage().closed_cleanly);
  EXPECT_EQ(reader->damage().events_lost, lost);
}

TEST(WriterTest, TheTrailerTellsOfEventsThatWereLostLast) {
  Bytes bytes;
  uint64_t room = uint64_t{1} << 30;
  auto writer = std::move(TraceWriter::Create(std::make_unique<SmallDisk>(&bytes, &room), {})).value();
  const std::vector<Event> events = FirstSteps(3, 3);
  ASSERT_TRUE(writer->Append(std::span(events).first(3000)).ok());
  ASSERT_TRUE(writer->Flush().ok());
  room = bytes.size();
  ASSERT_TRUE(writer->Append(std::span(events).subspan(3000)).ok());
  EXPECT_FALSE(writer->Flush().ok());
  room += 1000;
  ASSERT_TRUE(writer->Close().ok());
  EXPECT_EQ(ReaderOf(bytes)->damage().events_lost, events.size() - 3000);
}

TEST(WriterTest, CloseOnAFullDiskFailsWithTheSentenceAndWhatWasWrittenIsReadable) {
  Bytes bytes;
  uint64_t room = 30'000;
  auto writer = std::move(TraceWriter::Create(std::make_unique<SmallDisk>(&bytes, &room), {})).value();
  const std::vector<Event> events = FirstSteps(3, 5);
  ASSERT_TRUE(writer->Append(std::span(events).first(3000)).ok());
  ASSERT_TRUE(writer->Flush().ok());
  room = bytes.size();
  ASSERT_TRUE(writer->Append(std::span(events).subspan(3000)).ok());
  EXPECT_FALSE(writer->Close().ok());
  const auto reader = ReaderOf(bytes);
  EXPECT_EQ(FirstDifference(ReadAll(*reader), std::span(events).first(3000)), "");
  EXPECT_FALSE(reader->damage().closed_cleanly);
}

TEST(WriterTest, ASinkThatTakesNothingFailsAtOnce) {
  Bytes bytes;
  const uint64_t room = 10;
  EXPECT_FALSE(TraceWriter::Create(std::make_unique<SmallDisk>(&bytes, &room), {}).ok());
}

class FileSinkTest : public ::testing::Test {
 protected:
  void TearDown() override { std::remove(path_.c_str()); }
  const std::string path_ = ::testing::TempDir() + "file_sink_test." + std::to_string(::getpid());
};

TEST_F(FileSinkTest, AppendsWholeWrites) {
  {
    auto sink = CreateFileSink(path_);
    ASSERT_TRUE(sink.ok());
    ASSERT_TRUE((*sink)->Write(AsBytes("abc")).ok());
    ASSERT_TRUE((*sink)->Write(AsBytes("def")).ok());
  }
  std::ifstream file(path_);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "abcdef");
}

TEST_F(FileSinkTest, SaysWhatIsWrong) {
  const auto nowhere = CreateFileSink("/no/such/folder/run.vms");
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().sentence,
            "/no/such/folder/run.vms: cannot be created: No such file or directory. Choose another path.");
  const auto full = CreateFileSink("/dev/full");
  ASSERT_TRUE(full.ok());
  const Status written = (*full)->Write(AsBytes("abc"));
  ASSERT_FALSE(written.ok());
  EXPECT_NE(written.error().sentence.find("/dev/full: cannot be written: No space left on device"),
            std::string::npos)
      << written.error().sentence;
}

// A file size limit stands in for a full disk: like a full disk, it accepts the first part of a write.
TEST_F(FileSinkTest, TakesHalfAWriteBack) {
  auto sink = CreateFileSink(path_);
  ASSERT_TRUE(sink.ok());
  ASSERT_TRUE((*sink)->Write(AsBytes("whole ")).ok());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 10;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status written = (*sink)->Write(AsBytes("too long for what is left"));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_FALSE(written.ok());
  ASSERT_TRUE((*sink)->Write(AsBytes("ok")).ok());
  std::ifstream file(path_);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "whole ok");
}

}  // namespace
}  // namespace vramscope::trace
