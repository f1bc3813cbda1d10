// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/byte_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace vramscope::snapshot {
namespace {

class FileSource final : public ByteSource {
 public:
  FileSource(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  ~FileSource() override { close(descriptor_); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  Result<size_t> Read(std::span<uint8_t> into) override {
    for (;;) {
      const ssize_t got = read(descriptor_, into.data(), into.size());
      if (got >= 0) return static_cast<size_t>(got);
      if (errno != EINTR) return Error{path_ + ": cannot be read: " + std::strerror(errno) + "."};
    }
  }

 private:
  int descriptor_;
  std::string path_;
};

class SpanSource final : public ByteSource {
 public:
  explicit SpanSource(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  Result<size_t> Read(std::span<uint8_t> into) override {
    const size_t count = std::min(into.size(), bytes_.size());
    std::copy_n(bytes_.begin(), count, into.begin());
    bytes_ = bytes_.subspan(count);
    return count;
  }

 private:
  std::span<const uint8_t> bytes_;
};

}  // namespace

bool IsRegularFile(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

Result<std::unique_ptr<ByteSource>> OpenFile(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return Error{path + ": cannot be opened: " + std::strerror(errno) + "."};
  return std::unique_ptr<ByteSource>(std::make_unique<FileSource>(descriptor, path));
}

std::unique_ptr<ByteSource> MemorySource(std::span<const uint8_t> bytes) {
  return std::make_unique<SpanSource>(bytes);
}

ByteStream::ByteStream(std::unique_ptr<ByteSource> source)
    : source_(std::move(source)), buffer_(kWindow + kPadding) {}

Status ByteStream::Fill(const uint8_t* from, size_t bytes) {
  bytes = std::min(bytes, kMaxWindow);
  const auto skipped = static_cast<size_t>(from - begin());
  begin_ += skipped;
  offset_ += skipped;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (bytes + kPadding > buffer_.size()) buffer_.resize(bytes + kPadding);
  while (!at_end_ && end_ < bytes) {
    const size_t got =
        VRAMSCOPE_TRY(source_->Read(std::span(buffer_).subspan(end_, buffer_.size() - kPadding - end_)));
    end_ += got;
    at_end_ = got == 0;
  }
  return {};
}

}  // namespace vramscope::snapshot
