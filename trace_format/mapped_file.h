// SPDX-License-Identifier: Apache-2.0
// Maps a file into memory, read only.
//
// The file must not be truncated while it is mapped: reads past its end raise SIGBUS. The file may grow.
#pragma once

#include <string>

#include "trace_format/bytes.h"
#include "trace_format/result.h"

namespace vramscope::trace {

class MappedFile {
 public:
  // Maps the current length of the file. To see the new part of a growing trace, open the file again. An
  // error names the path.
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
