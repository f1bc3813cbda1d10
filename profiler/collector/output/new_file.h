// SPDX-License-Identifier: Apache-2.0
// An output file of any command, except a recording. It appears complete or not at all: it is written under a
// temporary name next to `path` and renamed when complete. A stream (collector/output/output_place.h) gets
// everything in one piece.
//
// Without Commit nothing remains, even if a signal ends the program in between.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/collector/output/output_place.h"
#include "trace_format/file_sink.h"
#include "trace_format/result.h"

namespace vramscope::collector {

class NewFile {
 public:
  // An existing `path` is unchanged until Commit. Fails if `path` is one of `inputs`, the files that are
  // read.
  static Result<NewFile> Create(const std::string& path, const std::vector<std::string>& inputs);
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  // Takes the sink: data written to it goes into the file. Call only once.
  [[nodiscard]] std::unique_ptr<trace::ByteSink> TakeSink() { return std::move(sink_); }
  [[nodiscard]] Status Write(std::string_view text);
  // The temporary path until Commit, for code that opens files itself. The sink must be destroyed first.
  [[nodiscard]] const std::string& part() const { return part_; }
  // Renames the file. The sink must be destroyed first.
  [[nodiscard]] Status Commit();

 private:
  NewFile(std::string path, OutputPlace place, std::string part, std::unique_ptr<trace::ByteSink> sink);
  [[nodiscard]] Status CopyToStream() const;

  std::string path_;  // as the user named it
  OutputPlace place_;
  std::string part_;  // "" when nothing is to be removed
  std::unique_ptr<trace::ByteSink> sink_;
};

}  // namespace vramscope::collector
