// SPDX-License-Identifier: Apache-2.0
// Traces of each format version, written by its first writer (tests/trace_reader/make_trace). They are never
// rewritten: as long as this passes, users' traces stay readable. The text files next to them are the output
// of read_trace.py, which was written from docs/trace-format.md.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "trace_format/reader.h"
#include "trace_format/testing/text_dump.h"

namespace vramscope::trace {
namespace {

std::string TestData(const std::string& name) {
  return VRAMSCOPE_SOURCE_DIR "/trace_format/testdata/" + name;
}

std::string FileText(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

class GoldenTraceTest : public ::testing::TestWithParam<const char*> {};

TEST_P(GoldenTraceTest, ReadsAsItDidWhenItWasWritten) {
  const std::string name = GetParam();
  const auto reader = TraceReader::Open(TestData(name + ".vms"));
  ASSERT_TRUE(reader.ok()) << reader.error().sentence;
  EXPECT_EQ((*reader)->damage().sentence, "");
  const std::string wanted = FileText(TestData(name + ".txt"));
  ASSERT_FALSE(wanted.empty());
  EXPECT_EQ(testing::TraceText(**reader), wanted);
}

// docs/trace-format.md, chapter 9: one row per event type, with string ids in italics and stack ids in bold.
TEST(DocumentationTest, NamesEveryEventTypeAndField) {
  const std::string page = FileText(VRAMSCOPE_SOURCE_DIR "/docs/trace-format.md");
  for (size_t type = 1; type < kEventTypeCount; ++type) {
    const EventSpec& spec = kEventSchema[type];
    std::string row = "| " + std::to_string(type) + " | " + spec.name + " |";
    for (size_t field = 0; field < spec.field_count; ++field) {
      const FieldKind kind = spec.fields[field].kind;
      const std::string mark = kind == FieldKind::kString ? "*" : kind == FieldKind::kStack ? "**" : "";
      row += (field == 0 ? " " : ", ") + mark + spec.fields[field].name + mark;
    }
    EXPECT_NE(page.find(row + " |\n"), std::string::npos) << "no row: " << row << " |";
  }
}

INSTANTIATE_TEST_SUITE_P(FormatOne, GoldenTraceTest,
                         ::testing::Values("v1_every_type", "v1_training", "v1_tiny", "v1_1_every_type",
                                           "v1_2_every_type", "v1_3_every_type"));

}  // namespace
}  // namespace vramscope::trace
