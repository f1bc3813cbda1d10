// SPDX-License-Identifier: Apache-2.0
// An output file that appears only when it is complete. All commands write their files this way, except
// traces during a recording.
//
// The content is first written to a temporary file. Commit() renames it, or copies it to the output if that
// is a stream such as a pipe (output_place.h). Without Commit(), the temporary file is deleted, even if a
// signal ends the program.
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
  // An existing file at `path` is not changed before Commit(). Returns an error if `path` is one of `inputs`.
  static Result<NewFile> Create(const std::string& path, const std::vector<std::string>& inputs);
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  // Returns the sink that writes to the temporary file. Call only once.
  [[nodiscard]] std::unique_ptr<trace::ByteSink> TakeSink() { return std::move(sink_); }
  [[nodiscard]] Status Write(std::string_view text);
  // Returns the path of the temporary file, for code that opens the file itself. If TakeSink() was called,
  // destroy the sink before that code opens the file.
  [[nodiscard]] const std::string& part() const { return part_; }
  // Renames the temporary file to its final name, or copies it to the stream. If TakeSink() was called,
  // destroy the sink before calling Commit().
  [[nodiscard]] Status Commit();

 private:
  NewFile(std::string path, OutputPlace place, std::string part, std::unique_ptr<trace::ByteSink> sink);
  [[nodiscard]] Status CopyToStream() const;

  std::string path_;  // the path that the user gave
  OutputPlace place_;
  std::string part_;
  std::unique_ptr<trace::ByteSink> sink_;
};

}  // namespace vramscope::collector
