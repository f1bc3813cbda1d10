// SPDX-License-Identifier: Apache-2.0
// Where encoded bytes go. The codec never opens a file.
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
  // Appends all of `bytes`, or none of them and fails (disk full) with a sentence.
  virtual Status Write(std::span<const std::byte> bytes) = 0;
};

// A sink that appends to a new file (an old one of that name is emptied); fails with a sentence when the path
// cannot be created.
Result<std::unique_ptr<ByteSink>> CreateFileSink(const std::string& path);

// The same over an open descriptor of an empty regular file, which it closes in the end. `path` is for
// sentences.
std::unique_ptr<ByteSink> FileSinkOf(int descriptor, const std::string& path);
// Over a descriptor that cannot seek or is not ours alone (a pipe, a device, standard output): what was
// written before a failure stays written.
std::unique_ptr<ByteSink> StreamSinkOf(int descriptor, const std::string& path);

}  // namespace vramscope::trace
