// SPDX-License-Identifier: Apache-2.0
// The outer structure of a trace file: file header, blocks with headers, and trailer. Encodes and decodes
// these headers.
//
//   ┌ file header (64) ┬ block ┬ block ┬ ... ┬ index block ┬ trailer (32) ┐     all integers little endian
//   └──────────────────┴───────┴───────┴─────┴─────────────┴──────────────┘
//   block = ┌ block header (64) ┬ payload (stored_bytes), a zstd frame or bare bytes ┐
//           └───────────────────┴────────────────────────────────────────────────────┘
//
// If index and trailer are missing, a reader walks from block header to block header. After a damaged header,
// it continues at the next magic number whose header has the right checksum. Every block can be decoded
// alone.
//
// Full description: docs/trace-format.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "trace_format/bytes.h"

namespace vramscope::trace {

// Readers refuse a file with a newer major version. A newer minor version may add block types, event types or
// fields; readers skip them.
inline constexpr uint16_t kFormatMajor = 1;
inline constexpr uint16_t kFormatMinor = 3;

// As in PNG, the first byte is not text, CR LF and LF reveal changed line ends, and ^Z stops the DOS command
// `type`.
inline constexpr std::array<uint8_t, 8> kFileMagic = {0x89, 'V', 'M', 'S', '\r', '\n', 0x1a, '\n'};
inline constexpr std::array<uint8_t, 8> kTrailerMagic = {'V', 'M', 'S', '-', 'E', 'N', 'D', '\n'};
inline constexpr std::array<uint8_t, 4> kBlockMagic = {0xb1, 'V', 'M', 'B'};

inline constexpr size_t kFileHeaderBytes = 64;
inline constexpr size_t kBlockHeaderBytes = 64;
inline constexpr size_t kTrailerBytes = 32;

// These limits bound the memory that a reader allocates. If a payload would exceed kMaxCompressionRatio, it
// is stored uncompressed.
inline constexpr uint32_t kMaxRawBytes = 64u << 20;
inline constexpr uint32_t kMaxCompressionRatio = 1024;
inline constexpr uint32_t kMaxEventsPerBlock = 1u << 20;

enum class BlockType : uint16_t {
  kStrings = 1,
  kStacks = 2,
  kProcesses = 3,
  kThreads = 4,
  kMetadata = 5,
  kEvents = 6,
  kCheckpoint = 7,
  kIndex = 8,
  kSourceFiles = 9,
  kPrograms = 10,
  kVariants = 11,
};

// The version of every block type that this code writes. It is also the highest version that this code reads.
inline constexpr uint16_t kBlockVersion = 1;

enum class Compression : uint8_t { kNone = 0, kZstd = 1 };

//   0       8       10      12            16     32         40          48     60    64
//   ├ magic ┼ major ┼ minor ┼ header size ┼ uuid ┼ realtime ┼ monotonic ┼ zero ┼ crc ┤ of bytes 0..59
//                                                  at time 0 of the trace, in ns
struct FileHeader {
  uint16_t major = kFormatMajor;
  uint16_t minor = kFormatMinor;
  std::array<uint8_t, 16> uuid = {};
  uint64_t start_realtime_ns = 0;
  uint64_t start_monotonic_ns = 0;
};

//   0       4      6         8              12          16            17     20      24
//   ├ magic ┼ type ┼ version ┼ stored bytes ┼ raw bytes ┼ compression ┼ zero ┼ count ┤
//
//   24           32          40            48            56            60           64
//   ├ first time ┼ last time ┼ first event ┼ first alloc ┼ payload crc ┼ header crc ┤ of bytes 0..59
struct BlockHeader {
  BlockType type{};
  uint16_t version = kBlockVersion;
  uint32_t stored_bytes = 0;  // size of the payload in the file
  uint32_t raw_bytes = 0;     // size of the payload after decompression
  Compression compression = Compression::kNone;
  uint32_t count = 0;  // number of events, definitions, live blocks or index rows in the block
  // In event blocks: the smallest and largest time of the events. In other blocks: the largest time of the
  // earlier events.
  uint64_t first_time_ns = 0;
  uint64_t last_time_ns = 0;
  // Number of events, and of kAlloc events, in the trace before this block. A gap between two blocks shows
  // how many events were lost.
  uint64_t first_event = 0;
  uint64_t first_alloc = 0;
  uint32_t payload_crc = 0;  // CRC-32 of the stored bytes
};

//   0          8              16              24          28      32
//   ├ magic ───┼ index offset ┼ event count ──┼ zero (4) ─┼ crc ──┤ of bytes 0..27
struct Trailer {
  uint64_t index_offset = 0;  // offset of the index block's header from the start of the file
  uint64_t event_count = 0;
};

std::array<std::byte, kFileHeaderBytes> EncodeFileHeader(const FileHeader& header);
std::array<std::byte, kBlockHeaderBytes> EncodeBlockHeader(const BlockHeader& header);
std::array<std::byte, kTrailerBytes> EncodeTrailer(const Trailer& trailer);

// The next three functions return nullopt if there are too few bytes, the magic number differs, or the
// checksum is wrong.
std::optional<FileHeader> ParseFileHeader(ByteView bytes);
// Also returns nullopt if the sizes exceed a limit above. So a caller may allocate memory by a parsed header.
std::optional<BlockHeader> ParseBlockHeader(ByteView bytes);
std::optional<Trailer> ParseTrailer(ByteView bytes);

bool StartsWithFileMagic(ByteView bytes);

}  // namespace vramscope::trace
