// SPDX-License-Identifier: Apache-2.0
// ByteSink: the destination of encoded bytes.
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
  // Appends all of `bytes`. On failure (disk full) appends nothing and returns a sentence.
  virtual Status Write(std::span<const std::byte> bytes) = 0;
};

// A sink for a new file. Empties an existing file. Fails if the path cannot be created.
Result<std::unique_ptr<ByteSink>> CreateFileSink(const std::string& path);

// Like CreateFileSink, for an open descriptor of an empty regular file. The sink closes the descriptor.
// `path` is for error sentences.
std::unique_ptr<ByteSink> FileSinkOf(int descriptor, const std::string& path);
// Like FileSinkOf, for a descriptor that cannot seek or is shared (pipe, device, standard output). Bytes
// before a failure stay written.
std::unique_ptr<ByteSink> StreamSinkOf(int descriptor, const std::string& path);

}  // namespace vramscope::trace
