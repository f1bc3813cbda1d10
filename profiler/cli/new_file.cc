// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/new_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>

namespace vramscope::cli {

Result<NewFile> NewFile::Create(const std::string& path) {
  std::string part = path + "." + std::to_string(getpid()) + ".part";
  auto sink = trace::CreateFileSink(part);
  if (!sink.ok()) return Error{path + ": cannot be written: " + std::strerror(errno) + "."};
  return NewFile(path, std::move(part), std::move(sink).value());
}

NewFile::~NewFile() {
  sink_.reset();
  if (!part_.empty()) unlink(part_.c_str());
}

Status NewFile::Write(std::string_view text) {
  return sink_->Write(std::as_bytes(std::span(text.data(), text.size())));
}

Status NewFile::Commit() {
  sink_.reset();
  if (std::rename(part_.c_str(), path_.c_str()) != 0) {
    return Error{path_ + ": cannot be written: " + std::strerror(errno) + "."};
  }
  part_.clear();
  return {};
}

}  // namespace vramscope::cli
