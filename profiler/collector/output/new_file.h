// SPDX-License-Identifier: Apache-2.0
// An output file of any command, except a trace that is being recorded. The file appears complete or not at
// all. Without Commit nothing remains, even if a signal ends the program. A stream (output_place.h) gets
// everything in one piece.
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
  // An existing `path` is unchanged until Commit. Fails if `path` is one of `inputs`.
  static Result<NewFile> Create(const std::string& path, const std::vector<std::string>& inputs);
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  // Call only once.
  [[nodiscard]] std::unique_ptr<trace::ByteSink> TakeSink() { return std::move(sink_); }
  [[nodiscard]] Status Write(std::string_view text);
  // The temporary path, for code that opens files itself. The sink must be destroyed first.
  [[nodiscard]] const std::string& part() const { return part_; }
  // Renames the file to its final name. The sink must be destroyed first.
  [[nodiscard]] Status Commit();

 private:
  NewFile(std::string path, OutputPlace place, std::string part, std::unique_ptr<trace::ByteSink> sink);
  [[nodiscard]] Status CopyToStream() const;

  std::string path_;  // as the user named it
  OutputPlace place_;
  std::string part_;
  std::unique_ptr<trace::ByteSink> sink_;
};

}  // namespace vramscope::collector
