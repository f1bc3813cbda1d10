// SPDX-License-Identifier: Apache-2.0
#include "trace_format/column.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

#include "trace_format/column_set.h"

namespace vramscope::trace {
namespace {

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

// `values`, stored and then read back `step` values at a time.
std::vector<uint64_t> ThereAndBack(const std::vector<uint64_t>& values, size_t step, Storage* storage) {
  Bytes bytes;
  *storage = EncodeColumn(values, &bytes);
  auto column = ColumnReader::Open(*storage, values.size(), bytes);
  if (!column) return {};
  std::vector<uint64_t> read(values.size());
  for (size_t at = 0; at < read.size(); at += step) {
    column->Read(std::span(read).subspan(at, std::min(step, read.size() - at)));
  }
  return read;
}

TEST(ColumnTest, EveryWidthComesBackWhole) {
  for (int width = 1; width <= 8; ++width) {
    std::vector<uint64_t> values;
    for (uint64_t i = 0; i < 1000; ++i) values.push_back(i * 0x9E3779B97F4A7C15 >> (64 - 8 * width));
    values.push_back(kMax >> (64 - 8 * width));
    Storage storage;
    EXPECT_EQ(ThereAndBack(values, 7, &storage), values) << width;
    EXPECT_EQ(static_cast<int>(storage), width);
  }
}

TEST(ColumnTest, OneValueThroughoutIsStoredOnce) {
  Storage storage;
  const std::vector<uint64_t> values(5000, kMax);
  EXPECT_EQ(ThereAndBack(values, 1024, &storage), values);
  EXPECT_EQ(storage, Storage::kConstant);
}

TEST(ColumnTest, FewDistinctLargeValuesBecomeADictionary) {
  std::vector<uint64_t> values;
  for (uint64_t i = 0; i < 2000; ++i) values.push_back(kMax - i * i % 256);
  Storage storage;
  EXPECT_EQ(ThereAndBack(values, 100, &storage), values);
  EXPECT_EQ(storage, Storage::kDictionary);
}

TEST(ColumnTest, ReadingPastTheEndGivesZeros) {
  Bytes bytes;
  const std::vector<uint64_t> values = {7, 7, 7};
  const Storage storage = EncodeColumn(values, &bytes);
  auto column = ColumnReader::Open(storage, 3, bytes);
  ASSERT_TRUE(column);
  std::vector<uint64_t> read(5, 99);
  column->Read(read);
  EXPECT_EQ(read, (std::vector<uint64_t>{7, 7, 7, 0, 0}));
}

TEST(ColumnTest, WrongLengthsAndStoragesAreRefused) {
  const Bytes bytes(16);
  EXPECT_FALSE(ColumnReader::Open(static_cast<Storage>(2), 7, bytes));
  EXPECT_TRUE(ColumnReader::Open(static_cast<Storage>(2), 8, bytes));
  EXPECT_FALSE(ColumnReader::Open(static_cast<Storage>(8), kMax / 8 + 3, bytes));  // the product wraps to 16
  EXPECT_FALSE(ColumnReader::Open(static_cast<Storage>(10), 16, bytes));
  EXPECT_FALSE(ColumnReader::Open(Storage::kConstant, 16, bytes));
  EXPECT_FALSE(ColumnReader::Open(Storage::kConstant, 16, {}));
}

TEST(ColumnTest, ADictionaryPlaceBeyondItsEndReadsAsZero) {
  Bytes bytes;
  PutVarint(1, &bytes);
  PutVarint(42, &bytes);
  bytes.push_back(std::byte{0});
  bytes.push_back(std::byte{255});
  auto column = ColumnReader::Open(Storage::kDictionary, 2, bytes);
  ASSERT_TRUE(column);
  std::vector<uint64_t> read(2);
  column->Read(read);
  EXPECT_EQ(read, (std::vector<uint64_t>{42, 0}));
}

TEST(ColumnSetTest, TheDirectoryMustDescribeThePayloadExactly) {
  ColumnSetWriter writer;
  writer.Add(1, 2, 3, std::vector<uint64_t>{1, 2, 3});
  writer.Add(4, 5, 6, std::vector<uint64_t>{9, 9});
  const Bytes payload = writer.Finish();
  const auto entries = ParseColumnSet(payload);
  ASSERT_TRUE(entries);
  ASSERT_EQ(entries->size(), 2u);
  EXPECT_EQ((*entries)[1].type, 4);
  EXPECT_EQ((*entries)[1].field, 5);
  EXPECT_EQ((*entries)[1].transform, 6);
  EXPECT_EQ((*entries)[1].count, 2u);
  for (size_t size = 0; size < payload.size(); ++size)
    EXPECT_FALSE(ParseColumnSet(ByteView(payload).first(size)));
  Bytes longer = payload;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(ParseColumnSet(longer));
}

TEST(VarintTest, ExtremesComeBackAndOverlongOnesAreRefused) {
  for (const uint64_t value : {uint64_t{0}, uint64_t{127}, uint64_t{128}, kMax >> 1, kMax}) {
    Bytes bytes;
    PutVarint(value, &bytes);
    ByteCursor cursor(bytes);
    EXPECT_EQ(cursor.Varint(), value);
    EXPECT_TRUE(cursor.ok());
    EXPECT_EQ(Unzigzag(Zigzag(value)), value);
  }
  const Bytes endless(11, std::byte{0xff});
  ByteCursor cursor(endless);
  cursor.Varint();
  EXPECT_FALSE(cursor.ok());
}

}  // namespace
}  // namespace vramscope::trace
