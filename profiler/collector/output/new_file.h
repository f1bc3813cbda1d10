// SPDX-License-Identifier: Apache-2.0
// What every verb writes that is no recording: a file that is there whole or not at all, written beside its
// name and renamed when it is complete; or a stream (collector/output/output_place.h) that gets the whole in
// one piece.
//
// Without Commit nothing is left, also when the program is ended by a signal meanwhile.
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
  // An existing `path` stays as it is until Commit. Refused when it is one of `inputs`, the files that are
  // read.
  static Result<NewFile> Create(const std::string& path, const std::vector<std::string>& inputs);
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  // Takes the sink: what is written to it goes into the file. Only once.
  [[nodiscard]] std::unique_ptr<trace::ByteSink> TakeSink() { return std::move(sink_); }
  [[nodiscard]] Status Write(std::string_view text);
  // Where it is until then, for what opens files by itself. The sink must be gone.
  [[nodiscard]] const std::string& part() const { return part_; }
  // Gives the file its name. The sink must be gone.
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
