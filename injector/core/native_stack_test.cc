// SPDX-License-Identifier: Apache-2.0
#include "injector/core/native_stack.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "injector/core/test_session.h"

namespace vramscope::injector {
namespace {

uint32_t captured = 0;

int CaptureAndCompare(const void*, const void*) {
  captured = NativeStackId();
  return 0;
}

uint32_t StackInsideQsort() {
  int numbers[2] = {1, 2};
  captured = 0;
  qsort(numbers, 2, sizeof *numbers, CaptureAndCompare);
  return captured;
}

TEST(NativeStackTest, FramesAreNamedBySymbolAndLibrary) {
  TestCollector& collector = FreshCollector();
  const ScopedOptions with("stacks=native");
  SwitchNativeStacks(true);
  const uint32_t stack = StackInsideQsort();
  SwitchNativeStacks(false);
  collector.Drain();

  const TestRecord here = {.process = getpid(), .image = 0};
  std::string text;
  for (const uint32_t frame : collector.Stack(here, stack)) text += collector.Text(here, frame) + "\n";
  EXPECT_NE(text.find("qsort"), std::string::npos) << text;
  EXPECT_NE(text.find("(libc.so.6+0x"), std::string::npos) << text;
}

TEST(NativeStackTest, NothingIsUnwoundOutsideOfDeepWindowsOrUnasked) {
  FreshCollector();
  EXPECT_EQ(StackInsideQsort(), 0u);
  const ScopedOptions without("stacks=python");
  SwitchNativeStacks(true);
  EXPECT_EQ(StackInsideQsort(), 0u);
  SwitchNativeStacks(false);
}

}  // namespace
}  // namespace vramscope::injector
