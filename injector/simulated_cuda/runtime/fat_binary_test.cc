// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/runtime/fat_binary.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace vramscope::simulated {
namespace {

constexpr int kPtx = 1, kCode = 2;

// A fat binary with entries of (kind, architecture), 64 bytes of header and 40 of content each, as nvcc lays
// them out.
class FatBinary {
 public:
  explicit FatBinary(const std::vector<std::pair<int, int>>& entries) {
    Put(uint32_t{0xba55ed50});
    Put(uint16_t{1});
    Put(uint16_t{16});
    Put(static_cast<uint64_t>(entries.size() * 104));
    for (const auto& [kind, architecture] : entries) {
      Put(static_cast<uint16_t>(kind));
      Put(uint16_t{0x101});
      Put(uint32_t{64});
      Put(uint64_t{40});
      bytes_.resize(bytes_.size() + 12);
      Put(static_cast<uint32_t>(architecture));
      bytes_.resize(bytes_.size() + 32 + 40);
    }
    wrapper_ = {0x466243b1, 1, bytes_.data(), nullptr};
  }
  KernelVersion For(int architecture) const { return BestVersion(&wrapper_, architecture); }
  uint64_t BytesFor(int architecture) const { return MachineCodeBytes(&wrapper_, architecture); }
  // Entry `index` was packed in this way (0x2000 LZ4, 0x8000 Zstandard) and has `unpacked` bytes when
  // unpacked.
  void Pack(size_t index, uint64_t flags, uint64_t unpacked) {
    unsigned char* const header = bytes_.data() + 16 + index * 104;
    std::memcpy(header + 40, &flags, sizeof(flags));
    std::memcpy(header + 56, &unpacked, sizeof(unpacked));
  }

 private:
  template <typename Value>
  void Put(Value value) {
    bytes_.resize(bytes_.size() + sizeof(value));
    std::memcpy(bytes_.data() + bytes_.size() - sizeof(value), &value, sizeof(value));
  }

  struct {
    uint32_t magic, version;
    const void* container;
    const void* file;
  } wrapper_;
  std::vector<unsigned char> bytes_;
};

TEST(FatBinaryTest, RunsTheNewestMachineCodeOfItsOwnMajorVersion) {
  const FatBinary wheel({{kCode, 75}, {kCode, 80}, {kCode, 86}, {kCode, 90}});
  EXPECT_EQ(wheel.For(89).ptx, 86);
  EXPECT_EQ(wheel.For(80).ptx, 80);
  EXPECT_EQ(wheel.For(90).binary, 90);
}

TEST(FatBinaryTest, CompilesPtxWhereNoMachineCodeFits) {
  const FatBinary wheel({{kCode, 80}, {kPtx, 90}});
  EXPECT_EQ(wheel.For(120).ptx, 90);
  EXPECT_EQ(wheel.For(120).binary, 120);
}

TEST(FatBinaryTest, KnowsHowLargeTheMachineCodeIsWhenUnpacked) {
  FatBinary wheel({{kCode, 75}, {kCode, 80}, {kCode, 86}, {kPtx, 90}});
  EXPECT_EQ(wheel.BytesFor(80), 40u) << "as it stands";
  wheel.Pack(1, 0x2011, 126336);
  wheel.Pack(2, 0x8011, 535776);
  EXPECT_EQ(wheel.BytesFor(80), 126336u);
  EXPECT_EQ(wheel.BytesFor(89), 535776u) << "of the code that it runs";
  EXPECT_EQ(wheel.BytesFor(90), 0u) << "PTX: the driver makes the code";
}

TEST(FatBinaryTest, SaysThatNothingFits) { EXPECT_EQ(FatBinary({{kCode, 75}, {kCode, 80}}).For(70).ptx, 0); }

TEST(FatBinaryTest, TakesWhatItDoesNotUnderstandAsFitting) {
  const uint64_t foreign[4] = {};
  EXPECT_EQ(BestVersion(foreign, 89).ptx, 89);
  EXPECT_EQ(BestVersion(nullptr, 89).ptx, 89);
  EXPECT_EQ(MachineCodeBytes(nullptr, 89), 0u);
}

}  // namespace
}  // namespace vramscope::simulated
