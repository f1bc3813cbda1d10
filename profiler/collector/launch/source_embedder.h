// SPDX-License-Identifier: Apache-2.0
// Copies the program's source files into the trace, so that reports can show lines of code. A file is copied
// when the first recorded stack contains a frame of the file. Files of Python and of installed packages are
// not copied.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "trace_format/writer.h"

namespace vramscope::collector {

class SourceEmbedder {
 public:
  static constexpr size_t kMostFileBytes = 512 << 10;
  static constexpr size_t kMostBytes = 16 << 20;  // total of all files

  // Adds the files of the frames that `writer` got since the last call. Never fails. The metadata
  // "sources.left_out" counts files that cannot be read, are too large or are not text.
  void Update(trace::TraceWriter& writer);

  // False for files of Python or of an installed package.
  [[nodiscard]] static bool IsOfTheProgram(std::string_view path);

 private:
  void Add(const std::string& path, trace::TraceWriter& writer);

  trace::StackId next_ = 1;
  std::set<std::string, std::less<>> seen_;
  size_t bytes_ = 0;
  size_t left_out_ = 0;
};

}  // namespace vramscope::collector
