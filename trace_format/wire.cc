// SPDX-License-Identifier: Apache-2.0
#include "trace_format/wire.h"

#include <algorithm>

#include "trace_format/crc32.h"

namespace vramscope::trace {
namespace {

template <size_t kSize, size_t kMagicSize>
std::array<std::byte, kSize> StartWith(const std::array<uint8_t, kMagicSize>& magic) {
  std::array<std::byte, kSize> bytes{};
  std::memcpy(bytes.data(), magic.data(), magic.size());
  return bytes;
}

// The checksum is the last four bytes and covers all before it.
void Seal(std::span<std::byte> bytes) {
  const size_t covered = bytes.size() - sizeof(uint32_t);
  StoreLe(bytes.data() + covered, Crc32(bytes.first(covered)));
}

template <size_t kMagicSize>
bool IsSealed(ByteView bytes, size_t size, const std::array<uint8_t, kMagicSize>& magic) {
  if (bytes.size() < size || std::memcmp(bytes.data(), magic.data(), magic.size()) != 0) return false;
  const size_t covered = size - sizeof(uint32_t);
  return Crc32(bytes.first(covered)) == LoadLe<uint32_t>(bytes.data() + covered);
}

bool WithinLimits(const BlockHeader& header) {
  if (header.raw_bytes > kMaxRawBytes || header.count > kMaxEventsPerBlock) return false;
  if (header.compression == Compression::kNone) return header.raw_bytes == header.stored_bytes;
  return header.raw_bytes <= uint64_t{header.stored_bytes} * kMaxCompressionRatio;
}

}  // namespace

std::array<std::byte, kFileHeaderBytes> EncodeFileHeader(const FileHeader& header) {
  auto bytes = StartWith<kFileHeaderBytes>(kFileMagic);
  StoreLe(&bytes[8], header.major);
  StoreLe(&bytes[10], header.minor);
  StoreLe(&bytes[12], static_cast<uint32_t>(kFileHeaderBytes));
  std::memcpy(&bytes[16], header.uuid.data(), header.uuid.size());
  StoreLe(&bytes[32], header.start_realtime_ns);
  StoreLe(&bytes[40], header.start_monotonic_ns);
  Seal(bytes);
  return bytes;
}

std::optional<FileHeader> ParseFileHeader(ByteView bytes) {
  if (!IsSealed(bytes, kFileHeaderBytes, kFileMagic)) return std::nullopt;
  const std::byte* at = bytes.data();
  FileHeader header;
  header.major = LoadLe<uint16_t>(at + 8);
  header.minor = LoadLe<uint16_t>(at + 10);
  std::memcpy(header.uuid.data(), at + 16, header.uuid.size());
  header.start_realtime_ns = LoadLe<uint64_t>(at + 32);
  header.start_monotonic_ns = LoadLe<uint64_t>(at + 40);
  return header;
}

std::array<std::byte, kBlockHeaderBytes> EncodeBlockHeader(const BlockHeader& header) {
  auto bytes = StartWith<kBlockHeaderBytes>(kBlockMagic);
  StoreLe(&bytes[4], static_cast<uint16_t>(header.type));
  StoreLe(&bytes[6], header.version);
  StoreLe(&bytes[8], header.stored_bytes);
  StoreLe(&bytes[12], header.raw_bytes);
  StoreLe(&bytes[16], static_cast<uint8_t>(header.compression));
  StoreLe(&bytes[20], header.count);
  StoreLe(&bytes[24], header.first_time_ns);
  StoreLe(&bytes[32], header.last_time_ns);
  StoreLe(&bytes[40], header.first_event);
  StoreLe(&bytes[48], header.first_alloc);
  StoreLe(&bytes[56], header.payload_crc);
  Seal(bytes);
  return bytes;
}

std::optional<BlockHeader> ParseBlockHeader(ByteView bytes) {
  if (!IsSealed(bytes, kBlockHeaderBytes, kBlockMagic)) return std::nullopt;
  const std::byte* at = bytes.data();
  BlockHeader header;
  header.type = static_cast<BlockType>(LoadLe<uint16_t>(at + 4));
  header.version = LoadLe<uint16_t>(at + 6);
  header.stored_bytes = LoadLe<uint32_t>(at + 8);
  header.raw_bytes = LoadLe<uint32_t>(at + 12);
  header.compression = static_cast<Compression>(LoadLe<uint8_t>(at + 16));
  header.count = LoadLe<uint32_t>(at + 20);
  header.first_time_ns = LoadLe<uint64_t>(at + 24);
  header.last_time_ns = LoadLe<uint64_t>(at + 32);
  header.first_event = LoadLe<uint64_t>(at + 40);
  header.first_alloc = LoadLe<uint64_t>(at + 48);
  header.payload_crc = LoadLe<uint32_t>(at + 56);
  if (!WithinLimits(header)) return std::nullopt;
  return header;
}

std::array<std::byte, kTrailerBytes> EncodeTrailer(const Trailer& trailer) {
  auto bytes = StartWith<kTrailerBytes>(kTrailerMagic);
  StoreLe(&bytes[8], trailer.index_offset);
  StoreLe(&bytes[16], trailer.event_count);
  Seal(bytes);
  return bytes;
}

std::optional<Trailer> ParseTrailer(ByteView bytes) {
  if (!IsSealed(bytes, kTrailerBytes, kTrailerMagic)) return std::nullopt;
  return Trailer{LoadLe<uint64_t>(bytes.data() + 8), LoadLe<uint64_t>(bytes.data() + 16)};
}

bool StartsWithFileMagic(ByteView bytes) {
  return bytes.size() >= kFileMagic.size() &&
         std::memcmp(bytes.data(), kFileMagic.data(), kFileMagic.size()) == 0;
}

}  // namespace vramscope::trace
