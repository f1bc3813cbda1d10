// SPDX-License-Identifier: Apache-2.0
// Embeds in the trace the source files that recorded stacks name. The recorder's process reads each file when
// a frame of it is first seen.
//
// Why whole files: one line means little without the lines around it, and nobody knows in advance which of
// them a person will want. Why limits: a trace is sent to others and should stay a few megabytes. Files that
// are not the user's program (Python's own library, installed packages) exist on their machines as well.
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
  static constexpr size_t kMostBytes = 16 << 20;  // of all files

  // Adds the files of the frames that `writer` got since the last call. Reads files; never fails. Files that
  // cannot be read, are too large or are not text are counted in the metadata "sources.left_out".
  void Update(trace::TraceWriter& writer);

  // False for files that come with Python or were installed as a package.
  [[nodiscard]] static bool IsOfTheProgram(std::string_view path);

 private:
  void Add(const std::string& path, trace::TraceWriter& writer);

  trace::StackId next_ = 1;
  std::set<std::string, std::less<>> seen_;
  size_t bytes_ = 0;
  size_t left_out_ = 0;
};

}  // namespace vramscope::collector
