// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/output.h"

#include <cerrno>
#include <cstring>
#include <span>

namespace vramscope::exporting {

Result<Output> Output::Create(const std::string& path) {
  auto sink = trace::CreateFileSink(path);
  if (!sink.ok()) return Error{path + ": cannot be written: " + std::strerror(errno) + "."};
  Output output(path, std::move(sink).value());
  output.buffer_.reserve(kBuffer + 256);
  return output;
}

void Output::Flush() {
  if (status_.ok()) status_ = sink_->Write(std::as_bytes(std::span(buffer_.data(), buffer_.size())));
  buffer_.clear();
}

Status Output::Finish() {
  Flush();
  return PrefixError(path_, status_);
}

}  // namespace vramscope::exporting
