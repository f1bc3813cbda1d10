// SPDX-License-Identifier: Apache-2.0
#include "trace_format/file_sink.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace vramscope::trace {
namespace {

class FileSink final : public ByteSink {
 public:
  FileSink(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;
  ~FileSink() override { ::close(descriptor_); }

  Status Write(std::span<const std::byte> bytes) override {
    size_t written = 0;
    while (written < bytes.size()) {
      const ssize_t step = ::pwrite(descriptor_, bytes.data() + written, bytes.size() - written,
                                    static_cast<off_t>(end_ + written));
      if (step < 0 && errno == EINTR) continue;
      if (step <= 0) return Fail(step < 0 ? errno : ENOSPC);
      written += static_cast<size_t>(step);
    }
    end_ += written;
    return {};
  }

 private:
  Error Fail(int reason) {
    // Removes the half-written block, which no reader can use. The file then ends at a block's end, and later
    // writes can continue when there is room.
    const bool trimmed = ::ftruncate(descriptor_, static_cast<off_t>(end_)) == 0;
    return {path_ + ": cannot be written: " + std::strerror(reason) + " after " + std::to_string(end_) +
            " bytes" + (trimmed ? "" : " and a broken block") +
            ". Free some space or record to another disk."};
  }

  int descriptor_;
  std::string path_;
  uint64_t end_ = 0;  // bytes of whole writes
};

class StreamSink final : public ByteSink {
 public:
  StreamSink(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  StreamSink(const StreamSink&) = delete;
  StreamSink& operator=(const StreamSink&) = delete;
  ~StreamSink() override { ::close(descriptor_); }

  Status Write(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t step = ::write(descriptor_, bytes.data(), bytes.size());
      if (step < 0 && errno == EINTR) continue;
      if (step < 0) return Error{path_ + ": cannot be written: " + std::strerror(errno) + "."};
      bytes = bytes.subspan(static_cast<size_t>(step));
    }
    return {};
  }

 private:
  int descriptor_;
  std::string path_;
};

}  // namespace

std::unique_ptr<ByteSink> FileSinkOf(int descriptor, const std::string& path) {
  return std::make_unique<FileSink>(descriptor, path);
}

std::unique_ptr<ByteSink> StreamSinkOf(int descriptor, const std::string& path) {
  return std::make_unique<StreamSink>(descriptor, path);
}

Result<std::unique_ptr<ByteSink>> CreateFileSink(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) {
    return Error{path + ": cannot be created: " + std::strerror(errno) + ". Choose another path."};
  }
  return FileSinkOf(descriptor, path);
}

}  // namespace vramscope::trace
