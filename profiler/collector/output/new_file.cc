// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/output/new_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include "profiler/collector/output/unfinished_files.h"

namespace vramscope::collector {
namespace {

constexpr int kMostPartNames = 1000;

Error NotWritten(const std::string& path, int reason) {
  return {path + ": cannot be written: " + std::strerror(reason) + "."};
}

// The temporary path for `place`.
std::string PartOf(const OutputPlace& place, int number) {
  const std::string mark =
      "." + std::to_string(getpid()) + (number == 0 ? "" : "-" + std::to_string(number)) + ".part";
  if (!place.is_stream) return place.path + mark;
  std::error_code ignored;
  return (std::filesystem::temp_directory_path(ignored) / ("vramscope" + mark)).string();
}

// Creates a new file; returns its descriptor, and its name in `part`.
int CreatePart(const OutputPlace& place, std::string& part) {
  for (int number = 0; number < kMostPartNames; ++number) {
    part = PartOf(place, number);
    const int file = open(part.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, place.is_stream ? 0600 : 0644);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

}  // namespace

NewFile::NewFile(std::string path, OutputPlace place, std::string part, std::unique_ptr<trace::ByteSink> sink)
    : path_(std::move(path)), place_(std::move(place)), part_(std::move(part)), sink_(std::move(sink)) {
  RemoveOnSignal(part_);
}

NewFile::NewFile(NewFile&& other) noexcept
    : path_(std::move(other.path_)),
      place_(std::move(other.place_)),
      part_(std::exchange(other.part_, "")),
      sink_(std::move(other.sink_)) {}

Result<NewFile> NewFile::Create(const std::string& path, const std::vector<std::string>& inputs) {
  VRAMSCOPE_TRY(CheckIsNoInput(path, inputs));
  auto place = VRAMSCOPE_TRY(PlaceOf(path));
  std::string part;
  const int file = CreatePart(place, part);
  if (file < 0) return NotWritten(place.is_stream ? part : path, errno);
  struct stat old {};
  if (!place.is_stream && stat(place.path.c_str(), &old) == 0) fchmod(file, old.st_mode & 07777);
  auto sink = trace::FileSinkOf(file, path);
  return NewFile(path, std::move(place), std::move(part), std::move(sink));
}

NewFile::~NewFile() {
  sink_.reset();
  if (part_.empty()) return;
  unlink(part_.c_str());
  KeepOnSignal(part_);
}

Status NewFile::Write(std::string_view text) {
  return sink_->Write(std::as_bytes(std::span(text.data(), text.size())));
}

Status NewFile::CopyToStream() const {
  std::fflush(stdout);  // what was printed before comes first
  const int stream = VRAMSCOPE_TRY(OpenStream(place_));
  const auto sink = trace::StreamSinkOf(stream, path_);
  const int file = open(part_.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return NotWritten(part_, errno);
  std::array<std::byte, 65536> piece{};
  Status status;
  for (ssize_t count = 0; status.ok() && (count = read(file, piece.data(), piece.size())) > 0;)
    status = sink->Write(std::span(piece.data(), static_cast<size_t>(count)));
  close(file);
  return status;
}

Status NewFile::Commit() {
  sink_.reset();
  if (place_.is_stream) return CopyToStream();
  std::error_code failed;
  std::filesystem::rename(part_, place_.path, failed);
  if (failed) return NotWritten(path_, failed.default_error_condition().value());
  KeepOnSignal(part_);
  part_.clear();
  return {};
}

}  // namespace vramscope::collector
