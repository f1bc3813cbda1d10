// SPDX-License-Identifier: Apache-2.0
// Oracle: the trace before the write; whatever happens to the write, its events stay.
#include "trace_format/append_variant.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "trace_format/reader.h"
#include "trace_format/testing/memory_sink.h"
#include "trace_format/testing/trace_builder.h"
#include "trace_format/testing/training_stream.h"
#include "trace_format/writer.h"

namespace vramscope::trace {
namespace {

using testing::FirstDifference;
using testing::FirstEvents;
using testing::ReadAll;
using testing::ReaderOf;
using testing::WriteTrace;

class AppendVariantTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "/append_variant." + std::to_string(::getpid());
    std::filesystem::create_directories(folder_);
    path_ = folder_ + "/run.vms";
    Store(WriteTrace(events_, {.events_per_block = 200}));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Store(ByteView bytes) const {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  [[nodiscard]] Bytes File() const {
    std::ifstream file(path_, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const ByteView view = AsBytes(text);
    return {view.begin(), view.end()};
  }

  std::string folder_;
  std::string path_;
  std::vector<Event> events_ = FirstEvents(9, 600);
  Bytes inner_ = WriteTrace(FirstEvents(4, 300));
};

TEST_F(AppendVariantTest, IsFoundAgainAndLeavesTheRestAsItWas) {
  ASSERT_TRUE(AppendVariant(path_, "amp=bf16", inner_).ok());
  ASSERT_TRUE(AppendVariant(path_, "", AsBytes("other")).ok());
  const auto reader = std::move(TraceReader::Open(path_)).value();
  EXPECT_EQ(reader->damage().sentence, "");
  EXPECT_EQ(FirstDifference(ReadAll(*reader), events_), "");
  ASSERT_EQ(reader->variants().size(), 2u);
  EXPECT_EQ(MaskedTrace(reader->variants().at("amp=bf16")), inner_);
}

TEST_F(AppendVariantTest, TheLaterOneOfAKeyReplacesTheEarlierOne) {
  ASSERT_TRUE(AppendVariant(path_, "amp=bf16", AsBytes("first")).ok());
  ASSERT_TRUE(AppendVariant(path_, "amp=bf16", inner_).ok());
  const auto reader = std::move(TraceReader::Open(path_)).value();
  ASSERT_EQ(reader->variants().size(), 1u);
  EXPECT_EQ(MaskedTrace(reader->variants().at("amp=bf16")), inner_);
}

// A write cut at any byte: the old content is still readable, no event of the embedded trace is read as an
// event of this trace, and the next variant can be appended.
TEST_F(AppendVariantTest, AWriteThatIsCutAtAnyByteCostsOnlyTheVariant) {
  const Bytes before = File();
  ASSERT_TRUE(AppendVariant(path_, "amp=bf16", inner_).ok());
  const Bytes whole = File();
  for (size_t size = before.size(); size < whole.size(); ++size) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    const auto reader = ReaderOf(cut);
    ASSERT_EQ(FirstDifference(ReadAll(*reader), events_), "") << "cut at " << size;
    ASSERT_EQ(reader->damage().events_lost, 0u) << "cut at " << size;
    for (const auto& [key, masked] : reader->variants()) ASSERT_EQ(MaskedTrace(masked), inner_);
    if (size % 97 != 0) continue;
    Store(cut);
    const Status added = AppendVariant(path_, "amp=bf16", inner_);
    ASSERT_TRUE(added.ok()) << "cut at " << size << ": " << added.error().sentence;
    ASSERT_EQ(File(), whole) << "cut at " << size;
  }
}

TEST_F(AppendVariantTest, ATraceThatWasNotClosedIsLeftAlone) {
  const Bytes whole = File();
  const Bytes cut(whole.begin(), whole.end() - 1);
  Store(cut);
  EXPECT_FALSE(AppendVariant(path_, "amp=bf16", inner_).ok());
  EXPECT_EQ(File(), cut);
  EXPECT_FALSE(AppendVariant(path_ + ".absent", "", inner_).ok());
}

TEST_F(AppendVariantTest, MoreThanReadersTakeIsRefused) {
  const Bytes before = File();
  EXPECT_FALSE(AppendVariant(path_, "", Bytes(kMaxVariantBytes + 1)).ok());
  EXPECT_EQ(File(), before);
}

TEST(ProgramTest, TheLastOfAProcessIsReadAndOneThatIsTooLargeIsNotWritten) {
  Bytes bytes;
  auto writer = TraceWriter::Create(std::make_unique<testing::MemorySink>(&bytes), {1, 1}).value();
  const uint32_t process = writer->AddProcess({.pid = 7});
  const std::string text = R"({"version": 1})" + std::string(3'000, ' ');
  writer->AddProgram(process, {2, "first", "{}"});
  ASSERT_TRUE(writer->Flush().ok());
  writer->AddProgram(process, {3, "seal", text});
  writer->AddProgram(process, {4, "", std::string(kMaxProgramBytes + 1, 'x')});
  ASSERT_TRUE(writer->Close().ok());
  size_t with_none = 0, with_first = 0, with_last = 0;
  for (size_t size = kFileHeaderBytes; size <= bytes.size(); ++size) {
    const Bytes cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    const auto reader = ReaderOf(cut);
    const Programs& programs = reader->programs();
    ASSERT_LE(programs.size(), 1u);
    if (programs.empty()) {
      ++with_none;
    } else if (programs.at(process).seal == "first") {
      ASSERT_EQ(programs.at(process).text, "{}") << "cut at " << size;
      ++with_first;
    } else {
      ASSERT_EQ(programs.at(process).text, text) << "cut at " << size;
      ASSERT_EQ(programs.at(process).step, 3u);
      ++with_last;
    }
  }
  EXPECT_GT(with_none, 0u);
  EXPECT_GT(with_first, 0u);
  EXPECT_GT(with_last, 0u);
}

}  // namespace
}  // namespace vramscope::trace
