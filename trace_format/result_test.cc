// SPDX-License-Identifier: Apache-2.0
#include "trace_format/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace vramscope {
namespace {

TEST(ResultTest, HoldsAValueOrASentence) {
  const Result<int> value = 7;
  EXPECT_TRUE(value.ok());
  EXPECT_EQ(*value, 7);
  const Result<int> failed = Error{"run.vms: not found."};
  EXPECT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().sentence, "run.vms: not found.");
}

// In release builds too: what comes after would read memory that nobody wrote.
TEST(ResultDeathTest, ReadingTheValueOfAFailedResultEndsTheProgram) {
  const Result<int> failed = Error{"run.vms: not found."};
  EXPECT_DEATH((void)failed.value(), "vramscope: internal error: result.h:[0-9]+: ok\\(\\)");
  EXPECT_DEATH((void)Result<int>(7).error(), "internal error");
  EXPECT_DEATH((void)Status().error(), "internal error");
}

Result<int> Doubled(Result<int> number) {
  const int value = VRAMSCOPE_TRY(std::move(number));
  return 2 * value;
}

Status Both(const Status& first, const Status& second, int& checked) {
  VRAMSCOPE_TRY(first);
  ++checked;
  VRAMSCOPE_TRY(second);
  ++checked;
  return {};
}

TEST(ResultTest, TryUnwrapsTheValueOrReturnsTheError) {
  EXPECT_EQ(*Doubled(21), 42);
  const Result<int> failed = Doubled(CannotJudge("run.vms: has no step."));
  EXPECT_EQ(failed.error().sentence, "run.vms: has no step.");
  EXPECT_EQ(failed.error().kind, ErrorKind::kCannotJudge);
  int checked = 0;
  EXPECT_EQ(Both({}, UsageError("--top needs a number."), checked).error().kind, ErrorKind::kUsage);
  EXPECT_EQ(checked, 1);
  EXPECT_TRUE(Both({}, {}, checked).ok());
}

// A Result of something that cannot be copied, from an expression with commas.
TEST(ResultTest, TryMovesTheValue) {
  const auto length = [](bool fails) -> Result<size_t> {
    using Text = std::unique_ptr<std::string>;
    const Text text = VRAMSCOPE_TRY(fails ? Result<Text>(Error{"empty"})
                                          : Result<Text>(std::make_unique<std::string>(3, 'x')));
    return text->size();
  };
  EXPECT_EQ(*length(false), 3u);
  EXPECT_EQ(length(true).error().kind, ErrorKind::kInput);
}

TEST(ResultTest, APrefixKeepsTheKind) {
  const Result<int> failed = PrefixError("run.vms", Result<int>(CannotJudge("has no step.")));
  EXPECT_EQ(failed.error().sentence, "run.vms: has no step.");
  EXPECT_EQ(failed.error().kind, ErrorKind::kCannotJudge);
  EXPECT_EQ(*PrefixError("run.vms", Result<int>(7)), 7);
  EXPECT_EQ(CannotJudge(Status(Error{"has no step."})).error().kind, ErrorKind::kCannotJudge);
  EXPECT_TRUE(CannotJudge(Status()).ok());
}

}  // namespace
}  // namespace vramscope
