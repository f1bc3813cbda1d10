// SPDX-License-Identifier: Apache-2.0
// A file as bytes in memory, read only.
//
// The file must not be truncated while mapped: reads past its end raise SIGBUS. Growing is fine.
#pragma once

#include <string>

#include "trace_format/bytes.h"
#include "trace_format/result.h"

namespace vramscope::trace {

class MappedFile {
 public:
  // Fails with a sentence that names the path. Maps the current length; open a growing trace again to see
  // more.
  static Result<MappedFile> Open(const std::string& path);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  ByteView bytes() const { return bytes_; }

 private:
  explicit MappedFile(ByteView bytes) : bytes_(bytes) {}

  ByteView bytes_;
};

}  // namespace vramscope::trace
