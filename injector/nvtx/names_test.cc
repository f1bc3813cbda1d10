// SPDX-License-Identifier: Apache-2.0
#include "injector/nvtx/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "injector/core/intern.h"
#include "injector/core/test_session.h"

namespace vramscope::injector::nvtx {
namespace {

std::string TextOf(const Name* name) {
  return name == nullptr ? "(none)" : std::string(name->text, name->length);
}

Domain MakeDomain(const char* text) {
  const Name* const name = FindName(text, strlen(text));
  RememberHandle(name, reinterpret_cast<uint64_t>(name));
  return name;
}

TEST(NvtxNamesTest, ATextHasTheIdThatTheInternerGivesIt) {
  FreshCollector();
  const Name* const name = FindName("forward", 7);
  ASSERT_NE(name, nullptr);
  EXPECT_EQ(name->id, InternString("forward"));
  EXPECT_EQ(FindName("forward", 7), name);
}

TEST(NvtxNamesTest, TextsOfEveryLengthAreToldApart) {
  FreshCollector();
  std::set<uint32_t> ids;
  for (size_t length = 0; length < 40; ++length) {
    const std::string text(length, 'x');
    ids.insert(FindName(text.data(), text.size())->id);
    const std::string zeros(length, '\0');
    ids.insert(FindName(zeros.data(), zeros.size())->id);
  }
  EXPECT_EQ(ids.size(), 79u);  // the two empty texts are the same
}

TEST(NvtxNamesTest, ADomainStandsInFrontOfTheMessage) {
  FreshCollector();
  const Domain domain = MakeDomain("NCCL");
  EXPECT_EQ(TextOf(NameOf(domain, "ncclAllReduce")), "NCCL:ncclAllReduce");
  EXPECT_EQ(TextOf(NameOf(nullptr, "ncclAllReduce")), "ncclAllReduce");
  const Domain string = MakeDomain("a registered string");
  EXPECT_EQ(TextOf(NameOf(domain, kRegistered, Message{.registered = string})), "NCCL:a registered string");
  EXPECT_EQ(TextOf(NameOf(nullptr, kRegistered, Message{.registered = string})), "a registered string");
}

TEST(NvtxNamesTest, RangesOfXlaAreNotRecorded) {
  FreshCollector();
  const Domain domain = MakeDomain("TSL");
  const Domain string = MakeDomain("fusion");
  EXPECT_EQ(NameOf(domain, "Thunk:#hlo_op=fusion.1136#"), nullptr);
  EXPECT_EQ(NameOf(domain, L"Thunk"), nullptr);
  EXPECT_EQ(NameOf(domain, kRegistered, Message{.registered = string}), nullptr);
  EXPECT_EQ(TextOf(NameOf(MakeDomain("TSLA"), "x")), "TSLA:x");
}

TEST(NvtxNamesTest, WideTextsBecomeUtf8) {
  FreshCollector();
  EXPECT_EQ(TextOf(NameOf(nullptr, L"a\u00e4\u20ac\U0001F600")), "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
  const wchar_t not_a_character[] = {L'x', static_cast<wchar_t>(0xd800), static_cast<wchar_t>(0x7fffffff), 0};
  EXPECT_EQ(TextOf(NameOf(nullptr, not_a_character)), "x??");
}

TEST(NvtxNamesTest, WhatCannotBeReadHasNoTextOrSaysWhy) {
  FreshCollector();
  EXPECT_EQ(TextOf(NameOf(nullptr, static_cast<const char*>(nullptr))), "");
  EXPECT_EQ(TextOf(NameOf(nullptr, kNoMessage, Message{})), "");
  EXPECT_EQ(TextOf(NameOf(nullptr, 77, Message{})), "");
  EXPECT_THAT(TextOf(NameOf(nullptr, kRegistered, Message{.registered = "never registered"})),
              ::testing::HasSubstr("registered before the recording"));
}

TEST(NvtxNamesTest, LongTextsAreCut) {
  FreshCollector();
  const std::string text(3 * kLongestName, 'y');
  EXPECT_EQ(NameOf(nullptr, text.c_str())->length, kLongestName);
  EXPECT_EQ(NameOf(MakeDomain("d"), text.c_str())->length, kLongestName);
  EXPECT_EQ(NameOf(nullptr, std::wstring(3 * kLongestName, L'\u20ac').c_str())->length, kLongestName - 1);
}

TEST(NvtxNamesTest, AProgramThatNumbersItsNamesDoesNotUseUpTheIdsOfOthers) {
  TestCollector& collector = FreshCollector();
  const DrainingThread draining(collector);
  uint32_t last = 0;
  std::set<uint32_t> ids;
  for (size_t i = 0; i < 3 * kMostNames; ++i) {
    const std::string text = "step " + std::to_string(i);
    last = FindName(text.data(), text.size())->id;
    ids.insert(last);
  }
  EXPECT_GT(ids.size(), kMostNames / 2);
  EXPECT_LE(ids.size(), kMostNames + 1);
  EXPECT_EQ(last, InternString("(more NVTX names than vramscope keeps)"));
  EXPECT_NE(InternString("a name of torch"), last);
}

TEST(NvtxNamesTest, AHandleThatIsGivenAgainHasItsNewMeaning) {
  int place = 0;
  RememberHandle(&place, 1);
  EXPECT_EQ(MeaningOf(&place), 1u);
  RememberHandle(&place, 2);
  EXPECT_EQ(MeaningOf(&place), 2u);
  EXPECT_EQ(MeaningOf(nullptr), 0u);
}

}  // namespace
}  // namespace vramscope::injector::nvtx
