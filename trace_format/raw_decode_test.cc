// SPDX-License-Identifier: Apache-2.0
#include "trace_format/raw_decode.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>
#include <vector>

namespace vramscope::trace {
namespace {

// A stretch of ring as words, so that it is aligned as rings are.
class Stretch {
 public:
  // Appends a record with these words; the rest of its units is zero.
  RawRecord* Add(uint8_t type, uint16_t small, uint32_t id, const std::vector<uint64_t>& words) {
    return AddUnits(type, small, id, words, RawUnitsForWords(words.size()));
  }

  RawRecord* AddUnits(uint8_t type, uint16_t small, uint32_t id, const std::vector<uint64_t>& words,
                      uint8_t units) {
    const size_t start = words_.size();
    words_.resize(start + units * kRawUnitBytes / sizeof(uint64_t));
    auto* record = reinterpret_cast<RawRecord*>(&words_[start]);
    *record = {type, units, small, id, 0, {}};
    std::ranges::copy(words, &words_[start + 2]);
    return record;
  }

  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(words_)); }

 private:
  std::vector<uint64_t> words_;
};

bool IsEvent(size_t type) { return type < kEventTypeCount && kEventSchema[type].name != nullptr; }

TEST(RawLayoutTest, EveryFieldOfEveryEventHasExactlyOnePlace) {
  for (size_t type = 1; type < kEventTypeCount; ++type) {
    const RawLayout& layout = kRawLayout[type];
    std::multiset<size_t> placed(layout.word_field, layout.word_field + layout.word_count);
    if (layout.small_field != kNoField) placed.insert(layout.small_field);
    if (layout.id_field != kNoField) placed.insert(layout.id_field);
    std::multiset<size_t> wanted;
    for (size_t field = 0; field < kEventSchema[type].field_count; ++field) wanted.insert(field);
    EXPECT_EQ(placed, wanted) << kEventSchema[type].name;
  }
}

TEST(DecodeRawTest, EveryFieldArrivesWhereTheLayoutPutIt) {
  for (size_t type = 1; type < kEventTypeCount; ++type) {
    const RawLayout& layout = kRawLayout[type];
    Event wanted;
    wanted.type = static_cast<EventType>(type);
    for (size_t field = 0; field < kEventSchema[type].field_count; ++field) wanted.field[field] = 100 + field;
    if (layout.small_field != kNoField) wanted.field[layout.small_field] = 0xffff;
    if (layout.id_field != kNoField) wanted.field[layout.id_field] = 0xffffffff;
    std::vector<uint64_t> words;
    for (size_t i = 0; i < layout.word_count; ++i) words.push_back(wanted.field[layout.word_field[i]]);

    Stretch ring;
    ring.Add(static_cast<uint8_t>(type), 0xffff, 0xffffffff, words);
    RawIterator records(ring.bytes());
    const RawRecord* record = records.Next();
    ASSERT_NE(record, nullptr);
    Event event;
    DecodeRaw(record, &event);
    EXPECT_EQ(std::memcmp(event.field, wanted.field, sizeof(event.field)), 0) << kEventSchema[type].name;
    EXPECT_EQ(event.type, wanted.type);
    EXPECT_EQ(records.Next(), nullptr);
    EXPECT_EQ(records.unreadable_bytes(), 0u);
  }
}

TEST(DecodeRawTest, WordsThatARecordIsTooShortForAreZero) {
  Stretch ring;
  ring.AddUnits(static_cast<uint8_t>(EventType::kAlloc), 0, 0, {0x1000, 64}, 1);
  ring.Add(static_cast<uint8_t>(EventType::kNodeEnd), 0, 0, {~uint64_t{0}, ~uint64_t{0}});
  RawIterator records(ring.bytes());
  Event event;
  DecodeRaw(records.Next(), &event);
  EXPECT_EQ(event.field[alloc::kSize], 64u);
  EXPECT_EQ(event.field[alloc::kStream], 0u);
  EXPECT_EQ(event.field[alloc::kTotalReserved], 0u);
}

TEST(RawIteratorTest, StepsOverPaddingAndEndsAtALengthThatCannotBeTrue) {
  Stretch ring;
  ring.AddUnits(kRawPadding, 0, 0, {}, 255);
  ring.Add(static_cast<uint8_t>(EventType::kOpEnd), 0, 0, {});
  ring.Add(static_cast<uint8_t>(EventType::kOpEnd), 0, 0, {})->units = 0;
  ring.Add(static_cast<uint8_t>(EventType::kOpEnd), 0, 0, {});
  RawIterator records(ring.bytes());
  EXPECT_NE(records.Next(), nullptr);
  EXPECT_EQ(records.Next(), nullptr);
  EXPECT_EQ(records.unreadable_bytes(), 2 * kRawUnitBytes);

  Stretch cut;
  cut.Add(static_cast<uint8_t>(EventType::kAlloc), 0, 0, {1, 2, 3, 4, 5, 6});
  RawIterator half(cut.bytes().first(kRawUnitBytes));
  EXPECT_EQ(half.Next(), nullptr);
  EXPECT_EQ(half.unreadable_bytes(), kRawUnitBytes);
}

TEST(RawDefinitionTest, TextAndFramesNeverReachBeyondTheirRecord) {
  Stretch ring;
  std::vector<uint64_t> text = {5, 0};
  std::memcpy(&text[1], "torch...", 8);
  ring.Add(kRawDefineString, 0, 7, text);
  ring.Add(kRawDefineString, 0, 8, text)->word[0] = ~uint64_t{0};
  ring.Add(kRawDefineStack, 0, 9, {2, 11, 12});
  ring.Add(kRawDefineStack, 0, 9, {uint64_t{1} << 40, 11, 12});
  RawIterator records(ring.bytes());
  EXPECT_EQ(RawText(*records.Next()), "torch");
  EXPECT_EQ(RawText(*records.Next()), "torch...");
  const auto frames = RawFrames(*records.Next());
  EXPECT_EQ(std::vector<uint64_t>(frames.begin(), frames.end()), (std::vector<uint64_t>{11, 12}));
  EXPECT_EQ(RawFrames(*records.Next()).size(), 5u);
}

TEST(RawIteratorTest, SurvivesAnyBytes) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 2000; ++round) {
    std::vector<uint64_t> words(random() % 512);
    for (uint64_t& word : words) word = random() >> (random() % 64);
    RawIterator records(std::as_bytes(std::span(words)));
    size_t bytes = 0;
    while (const RawRecord* record = records.Next()) {
      Event event;
      DecodeRaw(record, &event);
      EXPECT_EQ(event.type != EventType::kNone, IsEvent(record->type) || record->type == kRawHeldBlock);
      bytes += RawText(*record).size() + RawFrames(*record).size();
    }
    EXPECT_LE(bytes, words.size() * 16);
    EXPECT_LE(records.unreadable_bytes(), words.size() * 8);
  }
}

}  // namespace
}  // namespace vramscope::trace
