// SPDX-License-Identifier: Apache-2.0
// Puts the source files that recorded stacks name into the trace: read here, in the recorder's process, when
// a frame of them is first seen.
//
// Why whole files: the line of a frame says little without those around it, and which of them a person will
// want is not known. Why limits: a trace is sent to others and stays a few megabytes; what is not the user's
// program (Python's own library, installed packages) is on their machines as well.
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

  // Adds the files of the frames that `writer` has since the last call. Reads files; never fails: what cannot
  // be read, is too large or is no text is counted in the metadata "sources.left_out".
  void Update(trace::TraceWriter& writer);

  // False for what comes with Python or was installed as a package.
  [[nodiscard]] static bool IsOfTheProgram(std::string_view path);

 private:
  void Add(const std::string& path, trace::TraceWriter& writer);

  trace::StackId next_ = 1;
  std::set<std::string, std::less<>> seen_;
  size_t bytes_ = 0;
  size_t left_out_ = 0;
};

}  // namespace vramscope::collector
