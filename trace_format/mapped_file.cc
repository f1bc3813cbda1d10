// SPDX-License-Identifier: Apache-2.0
#include "trace_format/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace vramscope::trace {
namespace {

Error CannotRead(const std::string& path, const char* reason) {
  return {path + ": cannot be read: " + reason + ". Check the path."};
}

}  // namespace

Result<MappedFile> MappedFile::Open(const std::string& path) {
  // Not blocking: a FIFO without a writer would keep us waiting.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return CannotRead(path, std::strerror(errno));
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    if (S_ISFIFO(status.st_mode))
      return Error{path + ": a pipe cannot be read. Save its content as a file first."};
    return CannotRead(path, "it is not a file");
  }
  const size_t size = static_cast<size_t>(status.st_size);
  if (size == 0) {
    ::close(descriptor);
    return MappedFile();
  }
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  const int reason = errno;
  ::close(descriptor);
  if (address == MAP_FAILED) return CannotRead(path, std::strerror(reason));
  return MappedFile(ByteView(static_cast<const std::byte*>(address), size));
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace vramscope::trace
