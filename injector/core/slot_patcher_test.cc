// SPDX-License-Identifier: Apache-2.0
#include "injector/core/slot_patcher.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <string.h>

#include "injector/core/elf_image.h"

namespace vramscope::injector {
namespace {

Hook* hooks_for_ours = nullptr;

int OurAnswer(int question) {
  const auto real = reinterpret_cast<int (*)(int)>(hooks_for_ours[0].found.load());
  return 100 * real(question);
}

int OurAsk(void* oracle, int question) {
  const auto real = reinterpret_cast<int (*)(void*, int)>(hooks_for_ours[1].found.load());
  return 100 * real(oracle, question);
}

class SlotPatcherTest : public testing::Test {
 protected:
  void SetUp() override {
    library_ = dlopen(VRAMSCOPE_PATCHED_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << dlerror();
    call_answer_ = reinterpret_cast<int (*)(int)>(dlsym(library_, "CallAnswer"));
    ask_oracle_ = reinterpret_cast<int (*)(int)>(dlsym(library_, "AskOracle"));
    hooks_for_ours = hooks_;
  }
  void TearDown() override { RestoreSlots(hooks_, 2); }

  Hook hooks_[2] = {
      {"_ZN7patched6AnswerEi", "patched::Answer", reinterpret_cast<void*>(OurAnswer), nullptr, false},
      {"_ZN7patched6Oracle3AskEi", "patched::Oracle::Ask", reinterpret_cast<void*>(OurAsk), nullptr, false}};
  void* library_ = nullptr;
  int (*call_answer_)(int) = nullptr;
  int (*ask_oracle_)(int) = nullptr;
};

TEST_F(SlotPatcherTest, CallsThroughPltAndVtableComeToUsAndBack) {
  EXPECT_EQ(call_answer_(1), 2);
  EXPECT_EQ(ask_oracle_(1), 3);
  const size_t patched = PatchSlots(hooks_, 2);
  EXPECT_GE(patched, 2u);
  EXPECT_EQ(call_answer_(1), 200);
  EXPECT_EQ(ask_oracle_(1), 300);
  EXPECT_EQ(PatchSlots(hooks_, 2), 0u);
  EXPECT_EQ(RestoreSlots(hooks_, 2), patched);
  EXPECT_EQ(call_answer_(1), 2);
  EXPECT_EQ(ask_oracle_(1), 3);
}

TEST_F(SlotPatcherTest, OneObjectAloneCanBeRedirected) {
  const auto patch = [this](const char* which) {
    struct Wanted {
      const char* name;
      ElfImage image;
    } wanted = {which, {}};
    ForEachImage(
        [](const ElfImage& image, void* argument) {
          auto& search = *static_cast<Wanted*>(argument);
          if (strstr(image.name(), search.name) != nullptr) search.image = image;
          return true;
        },
        &wanted);
    EXPECT_NE(wanted.image.base(), 0u) << which;
    FindRealFunctions(hooks_, 2);
    return PatchSlotsOf(wanted.image, hooks_, 2);
  };
  EXPECT_EQ(patch("libc.so"), 0u);
  EXPECT_EQ(call_answer_(1), 2);
  EXPECT_GE(patch("patched"), 2u);
  EXPECT_EQ(call_answer_(1), 200);
}

TEST_F(SlotPatcherTest, AVtableIsReadOnlyAgainAfterwards) {
  PatchSlots(hooks_, 2);
  auto** const vtable = static_cast<void**>(FindSymbol("_ZTVN7patched6OracleE"));
  ASSERT_NE(vtable, nullptr);
  EXPECT_DEATH(vtable[2] = nullptr, "");
}

TEST_F(SlotPatcherTest, RealFunctionsAreFoundInTheLibraryThatDefinesThem) {
  EXPECT_EQ(FindSymbol("_ZN7patched6AnswerEi"), dlsym(library_, "_ZN7patched6AnswerEi"));
  EXPECT_EQ(FindSymbol("_ZN7patched6OracleD1Ev_no_such"), nullptr);
}

TEST(ElfImageTest, FindSymbolAgreesWithTheLoader) {
  void* const libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  // None of these is replaced by a sanitizer.
  for (const char* name : {"lsearch", "hcreate_r", "l64a", "environ"}) {
    EXPECT_EQ(FindSymbol(name), dlsym(libc, name)) << name;
  }
}

}  // namespace
}  // namespace vramscope::injector
