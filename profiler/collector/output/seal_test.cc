// SPDX-License-Identifier: Apache-2.0
// Oracles: the examples of FIPS 180-4 and RFC 4231; a key of another account.
#include "profiler/collector/output/seal.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "profiler/collector/output/sha256.h"

namespace vramscope::collector {
namespace {

std::string Hexadecimal(const Digest& digest) {
  std::string text;
  for (const uint8_t byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

TEST(Sha256Test, GivesThePublishedDigests) {
  EXPECT_EQ(Hexadecimal(Sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Hexadecimal(Sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Hexadecimal(Sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Hexadecimal(Sha256(std::string(1'000'000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(Hexadecimal(HmacSha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(Hexadecimal(HmacSha256(std::string(131, '\xaa'),
                                   "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

class SealTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + fmt::format("/seal.{}", getpid());
    setenv("XDG_CONFIG_HOME", folder_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("XDG_CONFIG_HOME");
    std::filesystem::remove_all(folder_);
  }
  std::string folder_;
};

TEST_F(SealTest, ItsOwnAccountKnowsItAndNoOther) {
  EXPECT_FALSE(IsSealedHere("{}", "00"));
  EXPECT_FALSE(std::filesystem::exists(folder_)) << "looking makes no key";
  const std::string seal = SealOf("{}");
  ASSERT_EQ(seal.size(), 64u);
  EXPECT_TRUE(IsSealedHere("{}", seal));
  EXPECT_FALSE(IsSealedHere("{ }", seal));
  EXPECT_FALSE(IsSealedHere("{}", ""));
  setenv("XDG_CONFIG_HOME", (folder_ + "/other").c_str(), 1);
  EXPECT_FALSE(IsSealedHere("{}", seal));
  ASSERT_NE(SealOf("{}"), "");
  EXPECT_FALSE(IsSealedHere("{}", seal));
}

TEST_F(SealTest, AKeyThatOthersMayReadSealsNothing) {
  const std::string seal = SealOf("{}");
  struct stat facts {};
  ASSERT_EQ(stat((folder_ + "/vramscope/seal.key").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777u, 0600u);
  ASSERT_EQ(chmod((folder_ + "/vramscope/seal.key").c_str(), 0644), 0);
  EXPECT_FALSE(IsSealedHere("{}", seal));
  EXPECT_EQ(SealOf("{}"), "");
}

}  // namespace
}  // namespace vramscope::collector
