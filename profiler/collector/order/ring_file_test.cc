// SPDX-License-Identifier: Apache-2.0
// Oracle: the rules of trace_format/ring.h. What a hostile target leaves must be refused with a sentence or
// read as empty, never crash.
#include "profiler/collector/order/ring_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <random>

#include "profiler/collector/order/ring_cursor.h"
#include "profiler/collector/testing/ring_writer.h"

namespace vramscope::collector {
namespace {

using ::testing::HasSubstr;
using testing::RingMemory;
using testing::RingSetup;
using testing::RingWriter;

class RingFileTest : public ::testing::Test {
 protected:
  RingFileTest() {
    std::string pattern = ::testing::TempDir() + "ring_file_XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~RingFileTest() override {
    unlink(Path().c_str());
    rmdir(folder_.c_str());
  }
  [[nodiscard]] std::string Path() const { return folder_ + "/7.0.ring"; }

  std::string folder_;
};

TEST_F(RingFileTest, NamesSayPidAndImage) {
  EXPECT_EQ(ParseRingFileName("4711.2.ring")->pid, 4711U);
  EXPECT_EQ(ParseRingFileName("4711.2.ring")->image, 2U);
  for (const char* name :
       {"", ".", "1", "1.", "1.2", "1.2.rin", "1.2.ring2", "x.2.ring", "1.2.ring/..", "99999999999.1.ring"}) {
    EXPECT_FALSE(ParseRingFileName(name)) << name;
  }
}

TEST_F(RingFileTest, AFileWhoseHeaderIsNotCompleteYetIsTriedAgain) {
  close(open(Path().c_str(), O_CREAT | O_WRONLY, 0600));
  auto empty = RingFile::Open(Path());
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(*empty, nullptr);
  ASSERT_EQ(truncate(Path().c_str(), 1 << 20), 0);
  auto sized = RingFile::Open(Path());
  ASSERT_TRUE(sized.ok());
  EXPECT_EQ(*sized, nullptr);
}

TEST_F(RingFileTest, FactsAreThoseOfTheHeader) {
  const RingMemory memory(
      {.pid = 7, .rings = 3, .forked_from = 5, .forked_from_image = 1, .first_own_string = 9}, folder_, 0);
  auto file = RingFile::Open(Path());
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->facts().pid, 7U);
  EXPECT_EQ((*file)->facts().forked_from, 5U);
  EXPECT_EQ((*file)->facts().first_own_string, 9U);
  EXPECT_EQ((*file)->ring_count(), 0U);
}

TEST_F(RingFileTest, BrokenHeadersAreRefusedWithASentence) {
  const auto sentence_of = [](auto&& damage) {
    RingMemory memory({.pid = 7});
    damage(memory.header());
    auto file = RingFile::Attach(memory.data(), memory.size(), "7.0.ring");
    return file.ok() ? std::string("accepted") : file.error().sentence;
  };
  EXPECT_THAT(sentence_of([](auto& header) { header.magic = 1; }), HasSubstr("not a ring file"));
  EXPECT_THAT(sentence_of([](auto& header) { header.version = 2; }), HasSubstr("version 2"));
  EXPECT_THAT(sentence_of([](auto& header) { header.ring_bytes = 100'000; }), HasSubstr("broken"));
  EXPECT_THAT(sentence_of([](auto& header) { header.ring_bytes = uint64_t{1} << 60; }), HasSubstr("broken"));
  EXPECT_THAT(sentence_of([](auto& header) { header.ring_capacity = 5; }), HasSubstr("broken"))
      << "more than fit";
  EXPECT_THAT(sentence_of([](auto& header) { header.ring_capacity = 0; }), HasSubstr("broken"));
  EXPECT_THAT(sentence_of([](auto& header) { header.clock = static_cast<trace::ClockKind>(9); }),
              HasSubstr("broken"));
}

TEST_F(RingFileTest, MoreRingsThanFitAreNotBelieved) {
  RingMemory memory({.pid = 7, .rings = 2});
  memory.header().ring_count.store(UINT32_MAX);
  auto file = RingFile::Attach(memory.data(), memory.size(), "7.0.ring");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->ring_count(), 2U);
}

TEST_F(RingFileTest, LinksAndFoldersAreRefused) {
  ASSERT_EQ(symlink("/etc/passwd", Path().c_str()), 0);
  EXPECT_FALSE(RingFile::Open(Path()).ok());
}

TEST_F(RingFileTest, AFileThatIsCutShorterWhileItIsReadReadsAsEmpty) {
  RingMemory memory({.pid = 7, .rings = 2}, folder_, 0);
  RingWriter writer(memory);
  writer.Alloc(1, 64, 8);
  auto file = RingFile::Open(Path());
  ASSERT_TRUE(file.ok());
  RingCursor cursor((*file)->ring(0), (*file)->ring_data(0), (*file)->facts().ring_bytes);
  cursor.Refresh();
  ASSERT_EQ(truncate(Path().c_str(), 0), 0);
  uint64_t ticks = 0;
  EXPECT_FALSE(cursor.PeekTicks(&ticks));
  cursor.Refresh();
  EXPECT_FALSE(cursor.PeekTicks(&ticks));
  cursor.GiveBack();
  EXPECT_EQ((*file)->lost_without_ring(), 0U);
  (*file)->Detach();
}

TEST(RingCursorTest, RecordsComeOutAsTheyWentInAlsoOverTheRingsEnd) {
  RingMemory memory({.pid = 7, .ring_bytes = 4096});
  RingWriter writer(memory);
  RingCursor cursor(memory.ring(0), memory.ring_data(0), 4096);
  auto buffer = std::make_unique<RecordBuffer>();
  std::mt19937_64 random(3);
  uint64_t expected = 0;
  for (uint64_t i = 0; i < 5000; ++i) {
    const std::vector<uint64_t> words(random() % 40, i);
    writer.Record(1, 2, 3, i, words);
    if (random() % 3 != 0 && memory.ring(0).head.load() - memory.ring(0).tail.load() < 3000) continue;
    cursor.Refresh();
    for (uint64_t ticks = 0; cursor.PeekTicks(&ticks); ++expected) {
      ASSERT_EQ(ticks, expected) << "seed 3";
      const trace::RawRecord* record = cursor.Take(*buffer);
      ASSERT_EQ(record->id, 3U);
      if (record->units > 1) {
        ASSERT_EQ(record->word[0], expected);
      }
    }
    cursor.GiveBack();
  }
  EXPECT_EQ(cursor.broken_bytes(), 0U);
  EXPECT_GT(expected, 4900U);
}

TEST(RingCursorTest, ARecordThatCannotBeMakesTheCursorSkipToTheHeadAndCount) {
  for (const uint8_t units : {uint8_t{0}, uint8_t{255}}) {
    RingMemory memory({.pid = 7, .ring_bytes = 4096});
    RingWriter writer(memory);
    writer.Alloc(1, 64, 8);
    writer.Alloc(2, 64, 8);
    reinterpret_cast<trace::RawRecord*>(memory.ring_data(0))->units = units;
    RingCursor cursor(memory.ring(0), memory.ring_data(0), 4096);
    cursor.Refresh();
    uint64_t ticks = 0;
    EXPECT_FALSE(cursor.PeekTicks(&ticks));
    EXPECT_EQ(cursor.broken_bytes(), 2 * 64U);
    writer.Alloc(3, 64, 8);
    cursor.Refresh();
    EXPECT_TRUE(cursor.PeekTicks(&ticks));
    EXPECT_EQ(ticks, 3U);
  }
}

TEST(RingCursorTest, AHeadThatCannotBeIsSurvived) {
  for (const uint64_t head : {uint64_t{5000}, uint64_t{33}, UINT64_MAX, uint64_t{1} << 40}) {
    RingMemory memory({.pid = 7, .ring_bytes = 4096});
    RingWriter writer(memory);
    memory.ring(0).head.store(head);
    RingCursor cursor(memory.ring(0), memory.ring_data(0), 4096);
    cursor.Refresh();
    uint64_t ticks = 0;
    EXPECT_FALSE(cursor.PeekTicks(&ticks));
    cursor.GiveBack();
    memory.ring(0).head.store(0);
    cursor.Refresh();
    EXPECT_FALSE(cursor.PeekTicks(&ticks));
  }
}

TEST(RingCursorTest, ARingIsHandedOnWhenItsOwnerHasEndedAndAllIsTaken) {
  RingMemory memory({.pid = 7, .ring_bytes = 4096});
  RingWriter first(memory, 70);
  first.Alloc(1, 64, 8);
  first.CountLost(2, 1);
  first.Close();
  RingCursor cursor(memory.ring(0), memory.ring_data(0), 4096);
  RecordBuffer buffer;
  cursor.Refresh();
  const uint32_t generation = cursor.generation();
  EXPECT_EQ(cursor.os_thread(), 70U);
  EXPECT_EQ(cursor.TakeLoss().count, 2U);
  cursor.RecycleIfDone();
  EXPECT_EQ(memory.ring(0).state.load(), static_cast<uint32_t>(trace::RingState::kClosed)) << "not yet taken";
  uint64_t ticks = 0;
  ASSERT_TRUE(cursor.PeekTicks(&ticks));
  cursor.Take(buffer);
  cursor.GiveBack();
  cursor.RecycleIfDone();
  RingWriter second(memory, 71);
  second.Alloc(2, 64, 8);
  EXPECT_EQ(memory.header().ring_count.load(), 1U) << "the same ring again";
  cursor.Refresh();
  EXPECT_EQ(cursor.os_thread(), 71U);
  EXPECT_NE(cursor.generation(), generation);
  EXPECT_EQ(cursor.TakeLoss().count, 0U);
}

}  // namespace
}  // namespace vramscope::collector
