// SPDX-License-Identifier: Apache-2.0
// A file that is there whole or not at all: written beside its name, and renamed when it is complete.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "trace_format/file_sink.h"
#include "trace_format/result.h"

namespace vramscope::cli {

class NewFile {
 public:
  // Makes "<path>.<pid>.part". An existing `path` stays as it is until Commit.
  static Result<NewFile> Create(const std::string& path);
  NewFile(NewFile&& other) noexcept = default;
  NewFile& operator=(NewFile&&) = delete;
  // Without Commit nothing is left.
  ~NewFile();

  // Takes the sink: what is written to it goes into the file. Only once.
  [[nodiscard]] std::unique_ptr<trace::ByteSink> TakeSink() { return std::move(sink_); }
  [[nodiscard]] Status Write(std::string_view text);
  // Where it is until then, for what opens files by itself. The sink must be gone.
  [[nodiscard]] const std::string& part() const { return part_; }
  // Gives the file its name. The sink must be gone.
  [[nodiscard]] Status Commit();

 private:
  NewFile(std::string path, std::string part, std::unique_ptr<trace::ByteSink> sink)
      : path_(std::move(path)), part_(std::move(part)), sink_(std::move(sink)) {}

  std::string path_;
  std::string part_;  // "" after Commit
  std::unique_ptr<trace::ByteSink> sink_;
};

}  // namespace vramscope::cli
