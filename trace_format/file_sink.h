// SPDX-License-Identifier: Apache-2.0
// ByteSink: the destination of encoded bytes. The codec itself never opens a file.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "trace_format/result.h"

namespace vramscope::trace {

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  // Appends all of `bytes`. On failure (disk full) appends none of them and returns a sentence.
  virtual Status Write(std::span<const std::byte> bytes) = 0;
};

// A sink that appends to a new file (an existing file of that name is emptied). Fails with a sentence if the
// path cannot be created.
Result<std::unique_ptr<ByteSink>> CreateFileSink(const std::string& path);

// Like CreateFileSink, over an open descriptor of an empty regular file. The sink closes the descriptor at
// the end. `path` is used in error sentences.
std::unique_ptr<ByteSink> FileSinkOf(int descriptor, const std::string& path);
// Like FileSinkOf, over a descriptor that cannot seek or is shared (a pipe, a device, standard output). Bytes
// written before a failure stay written.
std::unique_ptr<ByteSink> StreamSinkOf(int descriptor, const std::string& path);

}  // namespace vramscope::trace
