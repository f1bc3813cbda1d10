// SPDX-License-Identifier: Apache-2.0
// The oracle is the text of the Arrow C data interface. tests/python_module has real readers.
#include "profiler/python/capi/table.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

namespace vramscope::python {
namespace {

std::shared_ptr<const Table> ThreeRows() {
  auto table = std::make_shared<Table>();
  auto& number = table->Add<Int64Column>("number");
  auto& text = table->Add<TextColumn>("text");
  auto& truth = table->Add<BoolColumn>("truth");
  number.Add(7);
  number.AddMissing();
  number.Add(uint64_t{1} << 40);
  text.Add("cpu");
  text.Add("");
  text.Add("cpu");
  for (const bool value : {true, false, true}) truth.Add(value);
  return table;
}

struct Exported {
  explicit Exported(const std::shared_ptr<const Table>& table) {
    ExportSchema(*table, &schema);
    ExportArray(table, &array);
  }
  ~Exported() {
    if (schema.release != nullptr) schema.release(&schema);
    if (array.release != nullptr) array.release(&array);
  }
  ArrowSchema schema = {};
  ArrowArray array = {};
};

TEST(TableTest, IsExportedAsAStructOfItsColumns) {
  const Exported exported(ThreeRows());
  EXPECT_STREQ(exported.schema.format, "+s");
  ASSERT_EQ(exported.schema.n_children, 3);
  EXPECT_STREQ(exported.schema.children[0]->name, "number");
  EXPECT_STREQ(exported.schema.children[0]->format, "l");
  EXPECT_STREQ(exported.schema.children[1]->format, "i");
  EXPECT_STREQ(exported.schema.children[1]->dictionary->format, "u");
  EXPECT_STREQ(exported.schema.children[2]->format, "b");
  EXPECT_EQ(exported.array.length, 3);
  EXPECT_EQ(exported.array.n_children, 3);
}

TEST(TableTest, AMissingValueHasAClearedBit) {
  const Exported exported(ThreeRows());
  const ArrowArray& number = *exported.array.children[0];
  EXPECT_EQ(number.null_count, 1);
  EXPECT_EQ(static_cast<const uint8_t*>(number.buffers[0])[0] & 7, 0b101);
  EXPECT_EQ(static_cast<const int64_t*>(number.buffers[1])[2], int64_t{1} << 40);
  EXPECT_EQ(exported.array.children[2]->buffers[0], nullptr);
  EXPECT_EQ(static_cast<const uint8_t*>(exported.array.children[2]->buffers[1])[0], 0b101);
}

TEST(TableTest, TheFirstMissingValueMayComeAfterWholeBytes) {
  for (const int before : {0, 7, 8, 9, 16}) {
    Table table;
    auto& number = table.Add<Int64Column>("number");
    for (int i = 0; i < before; ++i) number.Add(1);
    number.AddMissing();
    number.Add(1);
    for (int row = 0; row < before + 2; ++row)
      EXPECT_EQ((number.validity()[row / 8] >> (row % 8)) & 1, row == before ? 0 : 1) << before << " " << row;
  }
}

TEST(TableTest, EqualTextsHaveOneCode) {
  const Exported exported(ThreeRows());
  const ArrowArray& text = *exported.array.children[1];
  const auto* codes = static_cast<const int32_t*>(text.buffers[1]);
  EXPECT_EQ(codes[0], codes[2]);
  ASSERT_EQ(text.dictionary->length, 1);
  const auto* offsets = static_cast<const int32_t*>(text.dictionary->buffers[1]);
  EXPECT_EQ(std::string_view(static_cast<const char*>(text.dictionary->buffers[2]), offsets[1]), "cpu");
}

TEST(TableTest, ForeignBytesBecomeUtf8) {
  auto table = std::make_shared<Table>();
  table->Add<TextColumn>("text").Add("a\xff\n");
  const Exported exported(table);
  const ArrowArray& words = *exported.array.children[0]->dictionary;
  EXPECT_EQ(std::string_view(static_cast<const char*>(words.buffers[2]),
                             static_cast<const int32_t*>(words.buffers[1])[1]),
            "a\xEF\xBF\xBD ");
}

// Receivers may move a child out of its parent: they copy the struct and clear `release` of the original.
TEST(TableTest, AColumnThatWasMovedOutlivesEverythingElse) {
  ArrowArray moved = {};
  std::weak_ptr<const Table> alive;
  {
    auto table = ThreeRows();
    alive = table;
    Exported exported(table);
    moved = *exported.array.children[0];
    exported.array.children[0]->release = nullptr;
  }
  EXPECT_FALSE(alive.expired());
  EXPECT_EQ(static_cast<const int64_t*>(moved.buffers[1])[0], 7);
  moved.release(&moved);
  EXPECT_EQ(moved.release, nullptr);
  EXPECT_TRUE(alive.expired());
}

TEST(TableTest, AStreamIsOneBatchAndThenTheEnd) {
  ArrowArrayStream stream = {};
  ExportStream(ThreeRows(), &stream);
  ArrowSchema schema = {};
  ASSERT_EQ(stream.get_schema(&stream, &schema), 0);
  EXPECT_EQ(schema.n_children, 3);
  schema.release(&schema);
  ArrowArray batch = {};
  ASSERT_EQ(stream.get_next(&stream, &batch), 0);
  EXPECT_EQ(batch.length, 3);
  batch.release(&batch);
  ASSERT_EQ(stream.get_next(&stream, &batch), 0);
  EXPECT_EQ(batch.release, nullptr);
  stream.release(&stream);
  EXPECT_EQ(stream.release, nullptr);
}

}  // namespace
}  // namespace vramscope::python
