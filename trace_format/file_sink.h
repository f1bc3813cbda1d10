// SPDX-License-Identifier: Apache-2.0
// ByteSink: the interface to which a trace writer writes its bytes, and sinks for files and streams.
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
  // Appends all of `bytes`. On failure (disk full), appends nothing and returns an error.
  virtual Status Write(std::span<const std::byte> bytes) = 0;
};

// Creates a file and returns its sink. If the file exists, empties it. Returns an error if the file cannot be
// created.
Result<std::unique_ptr<ByteSink>> CreateFileSink(const std::string& path);

// Returns a sink for an open descriptor of an empty regular file. The sink closes the descriptor. `path`: the
// name of the file in errors.
std::unique_ptr<ByteSink> FileSinkOf(int descriptor, const std::string& path);
// Like FileSinkOf, for a descriptor that cannot seek or is shared (pipe, device, standard output). Unlike
// other sinks, a write that fails may have written a part of its bytes.
std::unique_ptr<ByteSink> StreamSinkOf(int descriptor, const std::string& path);

}  // namespace vramscope::trace
