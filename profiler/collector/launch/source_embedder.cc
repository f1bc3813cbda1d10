// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/launch/source_embedder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>

#include "profiler/text/frame.h"
#include "profiler/text/source_place.h"

namespace vramscope::collector {
namespace {

// The text of a regular file of at most `most` bytes without a zero byte; empty otherwise. Opens without
// blocking: the program chose the name, and it might be a pipe.
std::optional<std::string> ReadText(const std::string& path, size_t most) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return std::nullopt;
  struct stat facts {};
  std::string text;
  bool whole = fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode);
  if (whole) {
    text.resize(most + 1);
    size_t size = 0;
    while (size < text.size()) {
      const ssize_t got = read(fd, text.data() + size, text.size() - size);
      if (got <= 0) {
        whole = got == 0;
        break;
      }
      size += static_cast<size_t>(got);
    }
    text.resize(size);
  }
  close(fd);
  if (!whole || text.size() > most || text.find('\0') != std::string::npos) return std::nullopt;
  return text;
}

}  // namespace

bool SourceEmbedder::IsOfTheProgram(std::string_view path) {
  return !path.starts_with('<') && text::IsOwnFile(path);
}

void SourceEmbedder::Update(trace::TraceWriter& writer) {
  const size_t left_out = left_out_;
  std::set<std::string> files;
  next_ = writer.VisitFrames(next_, [&](std::string_view frame) {
    const auto place = text::SourcePlaceOf(frame);
    if (place && !seen_.contains(place->path)) files.insert(place->path);
  });
  for (const std::string& path : files) {
    seen_.insert(path);
    if (IsOfTheProgram(path)) Add(path, writer);
  }
  if (left_out_ != left_out) writer.SetMetadata("sources.left_out", std::to_string(left_out_));
}

void SourceEmbedder::Add(const std::string& path, trace::TraceWriter& writer) {
  const std::optional<std::string> text = ReadText(path, kMostFileBytes);
  if (!text || bytes_ + text->size() > kMostBytes) {
    ++left_out_;
    return;
  }
  bytes_ += text->size();
  writer.AddSourceFile(path, *text);
}

}  // namespace vramscope::collector
