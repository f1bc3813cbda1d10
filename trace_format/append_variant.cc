// SPDX-License-Identifier: Apache-2.0
#include "trace_format/append_variant.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "trace_format/block_map.h"
#include "trace_format/block_writer.h"
#include "trace_format/definitions.h"
#include "trace_format/mapped_file.h"
#include "trace_format/wire.h"

namespace vramscope::trace {
namespace {

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : fd_(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY)) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

class BytesSink final : public ByteSink {
 public:
  explicit BytesSink(Bytes* bytes) : bytes_(bytes) {}
  Status Write(std::span<const std::byte> bytes) override {
    PutBytes(bytes, bytes_);
    return {};
  }

 private:
  Bytes* bytes_;
};

// The content of a file up to and including its last trailer. A truncated variant may follow it.
struct WholePart {
  uint64_t bytes = 0;
  Trailer trailer;
  std::vector<BlockEntry> blocks;
  BlockHeader position;  // header of the index block: times and counts at the end of the trace
};

// True if an interrupted AppendVariant may have left `tail` after the last trailer.
bool IsCutVariant(ByteView tail) {
  const size_t compared = std::min(tail.size(), kBlockMagic.size());
  return std::memcmp(tail.data(), kBlockMagic.data(), compared) == 0;
}

std::optional<WholePart> WholePartOf(ByteView file) {
  for (size_t end = file.size(); end >= kFileHeaderBytes + kTrailerBytes; --end) {
    if (file[end - kTrailerBytes] != std::byte{kTrailerMagic[0]}) continue;
    const ByteView part = file.first(end);
    if (!ParseTrailer(part.last(kTrailerBytes))) continue;
    BlockMap map = MapBlocks(part);
    const auto index = ParseBlockHeader(FileFrom(part, map.trailer ? map.trailer->index_offset : end));
    if (!map.from_index || !index || !IsCutVariant(file.subspan(end))) return std::nullopt;
    return WholePart{end, *map.trailer, std::move(map.blocks), *index};
  }
  return std::nullopt;
}

// The block of the variant, an index of all blocks, and a trailer, to be written after `whole`.
Result<Bytes> Tail(const WholePart& whole, std::string_view key, ByteView trace) {
  Bytes payload;
  PutVariant(key, trace, &payload);
  Bytes tail;
  BlockWriter writer(std::make_unique<BytesSink>(&tail), 3);
  BlockHeader header = whole.position;
  header.type = BlockType::kVariants;
  header.version = kBlockVersion;
  header.count = 1;
  VRAMSCOPE_TRY(writer.Write(header, payload));
  std::vector<BlockEntry> blocks = whole.blocks;
  blocks.push_back({whole.bytes, writer.entries().front().header});
  const uint64_t index_offset = whole.bytes + tail.size();
  header.type = BlockType::kIndex;
  header.count = static_cast<uint32_t>(blocks.size());
  VRAMSCOPE_TRY(writer.WriteIndex(header, EncodeIndex(blocks)));
  PutBytes(EncodeTrailer({index_offset, whole.trailer.event_count}), &tail);
  return tail;
}

Status WriteAt(int fd, uint64_t offset, ByteView bytes, const std::string& path) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t step =
        pwrite(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (step < 0 && errno == EINTR) continue;
    if (step > 0) {
      done += static_cast<size_t>(step);
      continue;
    }
    const int reason = step < 0 ? errno : ENOSPC;
    (void)!ftruncate(fd, static_cast<off_t>(offset));
    return Error{path + ": cannot be written: " + std::strerror(reason) + ". It is unchanged."};
  }
  return {};
}

}  // namespace

Status AppendVariant(const std::string& path, std::string_view key, ByteView trace) {
  if (trace.size() > kMaxVariantBytes || key.size() > 65536)
    return Error{path + ": the re-run's trace is too large to be kept."};
  const Descriptor file(path);
  if (file.get() < 0 || flock(file.get(), LOCK_EX) != 0)
    return Error{path + ": cannot be written: " + std::strerror(errno) + "."};
  MappedFile mapped = VRAMSCOPE_TRY(MappedFile::Open(path));
  const auto whole = WholePartOf(mapped.bytes());
  if (!whole) return Error{path + ": has no complete end, so nothing was added to it. Record again."};
  Bytes tail = VRAMSCOPE_TRY(Tail(*whole, key, trace));
  // First removes what a killed writer left. Readers never read it.
  if (whole->bytes < mapped.bytes().size() && ftruncate(file.get(), static_cast<off_t>(whole->bytes)) != 0)
    return Error{path + ": cannot be written: " + std::strerror(errno) + "."};
  return WriteAt(file.get(), whole->bytes, tail, path);
}

}  // namespace vramscope::trace
