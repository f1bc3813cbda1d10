// SPDX-License-Identifier: Apache-2.0
#include "trace_format/block_map.h"

#include <algorithm>
#include <utility>

namespace vramscope::trace {
namespace {

// A damaged block may contain whole ones (a write failed half way, and the writer went on). But searching
// very many such blocks takes quadratic time, and only a hostile file has very many.
constexpr int kDamagedBlocksToSearch = 1000;

std::optional<BlockMap> MapByIndex(ByteView file) {
  if (file.size() < kFileHeaderBytes + kTrailerBytes) return std::nullopt;
  const auto trailer = ParseTrailer(file.last(kTrailerBytes));
  if (!trailer) return std::nullopt;
  const BlockEntry index{trailer->index_offset, {}};
  const auto header = ParseBlockHeader(FileFrom(file, index.offset));
  if (!header || header->type != BlockType::kIndex || header->version > kBlockVersion) return std::nullopt;
  Decompressor decompressor;
  Bytes buffer;
  const auto payload = LoadPayload(file, index, &decompressor, &buffer);
  if (!payload) return std::nullopt;
  auto blocks = DecodeIndex(*payload, header->count, index.offset);
  if (!blocks) return std::nullopt;
  return BlockMap{std::move(*blocks), {}, true, true, trailer};
}

class Walk {
 public:
  explicit Walk(ByteView file) : file_(file) {}

  BlockMap Run() {
    uint64_t offset = std::min<uint64_t>(kFileHeaderBytes, file_.size());
    while (offset < file_.size()) offset = Step(offset);
    return std::move(map_);
  }

 private:
  // Adds the block, trailer or gap at `offset` and returns the next offset.
  uint64_t Step(uint64_t offset) {
    const ByteView rest = FileFrom(file_, offset);
    if (const auto trailer = ParseTrailer(rest)) {
      map_.trailer = trailer;
      return offset + kTrailerBytes;
    }
    const auto header = ParseBlockHeader(rest);
    if (!header) return AddGap(offset, offset + 1, std::nullopt);
    const BlockEntry entry{offset, *header};
    if (!IsWhole(file_, entry)) {
      const bool search_inside = ++damaged_blocks_ <= kDamagedBlocksToSearch;
      return AddGap(offset, search_inside ? offset + kBlockHeaderBytes : entry.end(), header);
    }
    if (header->type == BlockType::kIndex) {
      map_.has_index = true;
    } else {
      map_.blocks.push_back(entry);
    }
    return entry.end();
  }

  // Adds a gap from `begin` to the next readable header, searched from `search_from` on. Returns its end.
  uint64_t AddGap(uint64_t begin, uint64_t search_from, const std::optional<BlockHeader>& header) {
    const uint64_t end = NextHeader(search_from);
    map_.gaps.push_back({begin, end, header});
    return end;
  }

  // The next offset with a header or trailer whose checksum is right, or the end of the file.
  uint64_t NextHeader(uint64_t offset) const {
    for (; offset < file_.size(); ++offset) {
      const uint8_t first = static_cast<uint8_t>(file_[static_cast<size_t>(offset)]);
      if (first == kBlockMagic[0] && ParseBlockHeader(FileFrom(file_, offset))) return offset;
      if (first == kTrailerMagic[0] && ParseTrailer(FileFrom(file_, offset))) return offset;
    }
    return file_.size();
  }

  ByteView file_;
  BlockMap map_;
  int damaged_blocks_ = 0;
};

}  // namespace

BlockMap MapBlocks(ByteView file) {
  if (auto map = MapByIndex(file)) return std::move(*map);
  return Walk(file).Run();
}

}  // namespace vramscope::trace
