// SPDX-License-Identifier: Apache-2.0
#include "trace_format/wire.h"

#include <gtest/gtest.h>

#include "trace_format/crc32.h"

namespace vramscope::trace {
namespace {

TEST(Crc32Test, IsTheOneOfZlib) {
  // The check value of CRC-32/ISO-HDLC; and zlib.crc32(bytes(range(256)) * 4) of Python.
  EXPECT_EQ(Crc32(AsBytes("123456789")), 0xCBF43926u);
  Bytes bytes;
  for (int i = 0; i < 1024; ++i) bytes.push_back(static_cast<std::byte>(i));
  EXPECT_EQ(Crc32(bytes), 0xB70B4C26u);
  EXPECT_EQ(Crc32({}), 0u);
}

TEST(WireTest, HeadersComeBack) {
  BlockHeader header;
  header.type = BlockType::kCheckpoint;
  header.version = 3;
  header.stored_bytes = 1000;
  header.raw_bytes = 5000;
  header.compression = Compression::kZstd;
  header.count = 77;
  header.first_time_ns = 1;
  header.last_time_ns = ~uint64_t{0};
  header.first_event = 3;
  header.first_alloc = 4;
  header.payload_crc = 0xdeadbeef;
  const auto parsed = ParseBlockHeader(EncodeBlockHeader(header));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(EncodeBlockHeader(*parsed), EncodeBlockHeader(header));
  EXPECT_EQ(parsed->last_time_ns, ~uint64_t{0});

  FileHeader file;
  file.uuid[3] = 9;
  file.start_monotonic_ns = 12;
  const auto parsed_file = ParseFileHeader(EncodeFileHeader(file));
  ASSERT_TRUE(parsed_file);
  EXPECT_EQ(EncodeFileHeader(*parsed_file), EncodeFileHeader(file));

  const auto trailer = ParseTrailer(EncodeTrailer({123, 456}));
  ASSERT_TRUE(trailer);
  EXPECT_EQ(trailer->index_offset, 123u);
  EXPECT_EQ(trailer->event_count, 456u);
}

TEST(WireTest, ASpoiledByteAnywhereIsNoticed) {
  const auto header = EncodeBlockHeader({});
  for (size_t at = 0; at < header.size(); ++at) {
    auto spoiled = header;
    spoiled[at] ^= std::byte{0x10};
    EXPECT_FALSE(ParseBlockHeader(spoiled)) << at;
    EXPECT_FALSE(ParseBlockHeader(ByteView(header).first(at))) << at;
  }
}

// The sizes in a parsed header are safe to allocate.
TEST(WireTest, SizesBeyondTheLimitsAreNoHeader) {
  const auto parses = [](uint32_t stored, uint32_t raw, Compression compression, uint32_t count) {
    BlockHeader header;
    header.stored_bytes = stored;
    header.raw_bytes = raw;
    header.compression = compression;
    header.count = count;
    return ParseBlockHeader(EncodeBlockHeader(header)).has_value();
  };
  EXPECT_TRUE(parses(100, 100, Compression::kNone, 0));
  EXPECT_FALSE(parses(100, 101, Compression::kNone, 0));
  EXPECT_TRUE(parses(100, 102'400, Compression::kZstd, 0));
  EXPECT_FALSE(parses(100, 102'401, Compression::kZstd, 0));
  EXPECT_TRUE(parses(64 << 20, 64 << 20, Compression::kZstd, 1 << 20));
  EXPECT_FALSE(parses(64 << 20, (64 << 20) + 1, Compression::kZstd, 0));
  EXPECT_FALSE(parses(100, 100, Compression::kNone, (1 << 20) + 1));
}

}  // namespace
}  // namespace vramscope::trace
