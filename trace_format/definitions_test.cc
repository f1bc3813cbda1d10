// SPDX-License-Identifier: Apache-2.0
// Definition blocks of damaged or hostile files. Whole files are tested together with the writer.
#include "trace_format/definitions.h"

#include <gtest/gtest.h>

namespace vramscope::trace {
namespace {

TEST(SparseTableTest, RunsMayLeaveGapsAndNeverOverlap) {
  SparseTable<int> table;
  table.AddRun(1, {10, 20});
  table.AddRun(3, {30});
  table.AddRun(10, {100});
  table.AddRun(10, {999, 999});
  table.AddRun(2, {999});
  EXPECT_EQ(table.At(0), 0);
  EXPECT_EQ(table.At(1), 10);
  EXPECT_EQ(table.At(3), 30);
  EXPECT_EQ(table.At(4), 0);
  EXPECT_EQ(table.At(10), 100);
  EXPECT_EQ(table.At(11), 0);
  table.AddRun(~uint64_t{0}, {7});
  table.AddRun(20, {200});
  EXPECT_EQ(table.At(~uint64_t{0}), 0);
  EXPECT_EQ(table.At(20), 200);
}

TEST(DefinitionsTest, StringsBeforeAFaultAreKept) {
  Bytes payload;
  PutVarint(1, &payload);
  PutString("whole", &payload);
  PutVarint(1000, &payload);
  Definitions definitions(100);
  EXPECT_FALSE(definitions.Apply(BlockType::kStrings, 2, payload));
  EXPECT_EQ(definitions.String(1), "whole");
  EXPECT_EQ(definitions.String(2), "");
}

TEST(DefinitionsTest, StacksThatPointNowhereEnd) {
  Bytes payload;
  PutVarint(5, &payload);
  for (const uint64_t distance : {uint64_t{0}, uint64_t{1}, uint64_t{100}, uint64_t{4}}) {
    PutVarint(distance, &payload);
    PutVarint(distance + 50, &payload);
  }
  Definitions definitions(100);
  EXPECT_TRUE(definitions.Apply(BlockType::kStacks, 4, payload));
  EXPECT_EQ(definitions.Stack(6), (std::vector<StringId>{50, 51}));
  EXPECT_EQ(definitions.Stack(7), (std::vector<StringId>{150}));
  EXPECT_EQ(definitions.Stack(8), (std::vector<StringId>{54}));  // its parent, 4, was lost
}

TEST(DefinitionsTest, ANumberThatTheFileIsTooSmallForIsRefused) {
  Bytes payload;
  PutThread(1599, {}, &payload);
  PutThread(4'000'000'000, {}, &payload);
  Definitions definitions(100);
  EXPECT_FALSE(definitions.Apply(BlockType::kThreads, 2, payload));
  EXPECT_EQ(definitions.threads().size(), 1600u);
}

TEST(DefinitionsTest, MoreAtTheEndOfARecordIsSteppedOver) {
  Bytes record;
  PutVarint(3, &record);
  PutVarint(44, &record);
  PutText("main", &record);
  PutVarint(77, &record);  // a field of the future
  Bytes payload;
  PutVarint(0, &payload);
  PutVarint(record.size(), &payload);
  PutBytes(record, &payload);
  PutThread(1, {.process = 9}, &payload);
  Definitions definitions(100);
  EXPECT_TRUE(definitions.Apply(BlockType::kThreads, 2, payload));
  ASSERT_EQ(definitions.threads().size(), 2u);
  EXPECT_EQ(definitions.threads()[0].name, "main");
  EXPECT_EQ(definitions.threads()[1].process, 9u);
}

TEST(DefinitionsTest, TheLastOfASourceFileCountsAndAFieldOfTheFutureIsSteppedOver) {
  Bytes payload;
  PutSourceFile("train.py", "before", &payload);
  PutSourceFile("", "", &payload);
  Bytes record;
  PutText("train.py", &record);
  PutText("after\n", &record);
  PutVarint(77, &record);  // a field of the future
  PutVarint(record.size(), &payload);
  PutBytes(record, &payload);
  Definitions definitions(100);
  EXPECT_TRUE(definitions.Apply(BlockType::kSourceFiles, 3, payload));
  EXPECT_EQ(definitions.source_files(), (SourceFiles{{"", ""}, {"train.py", "after\n"}}));
}

TEST(DefinitionsTest, SourceFilesThatAreCutAreLeftOut) {
  Bytes payload;
  PutSourceFile("a.py", "one\ntwo\n", &payload);
  for (size_t size = 0; size < payload.size(); ++size) {
    Definitions definitions(100);
    EXPECT_FALSE(definitions.Apply(BlockType::kSourceFiles, 1, ByteView(payload).first(size))) << size;
    EXPECT_TRUE(definitions.source_files().empty()) << size;
  }
}

TEST(DefinitionsTest, WhatASmallFileCannotHoldIsNotBelieved) {
  Bytes files, process, threads;
  constexpr uint32_t kFiles = 1'000'000;
  for (uint32_t i = 0; i < kFiles; ++i) PutSourceFile(std::to_string(i), "", &files);
  PutProcess(1'000'000, {}, &process);
  for (uint32_t i = 0; i < kFiles; ++i) PutThread(i, {}, &threads);
  EXPECT_FALSE(Definitions(1000).Apply(BlockType::kProcesses, 1, process));
  Definitions of_files(1000), of_threads(1000);
  EXPECT_FALSE(of_files.Apply(BlockType::kSourceFiles, kFiles, files));
  EXPECT_LT(of_files.source_files().size(), 300'000u);
  EXPECT_FALSE(of_threads.Apply(BlockType::kThreads, kFiles, threads));
  EXPECT_LT(of_threads.threads().size() * sizeof(ThreadInfo), 32u << 20);
  EXPECT_TRUE(Definitions(200 << 20).Apply(BlockType::kProcesses, 1, process)) << "a large file may";
}

}  // namespace
}  // namespace vramscope::trace
