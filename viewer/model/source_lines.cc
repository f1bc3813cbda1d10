// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/source_lines.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "profiler/text/format.h"
#include "profiler/text/harmless.h"
#include "viewer/model/notes.h"
#include "viewer/model/small_file.h"

namespace vramscope::viewer {
namespace {

constexpr size_t kMostSourceBytes = 1 << 20;

struct DiskText {
  std::string text;
  bool cut = false;  // there is more than was read
};

Result<DiskText> ReadFile(const std::string& path) {
  const std::string name = text::OneLine(path);
  // A pipe or a device would block forever; only a regular file has lines.
  struct stat facts = {};
  if (stat(path.c_str(), &facts) != 0) return Error{fmt::format("{} is not on this machine.", name)};
  if (!S_ISREG(facts.st_mode)) return Error{fmt::format("{} is not a file.", name)};
  auto text = ReadSmallFile(path, kMostSourceBytes);
  if (!text) return Error{fmt::format("{} cannot be read.", name)};
  return DiskText{std::move(*text), static_cast<size_t>(facts.st_size) > kMostSourceBytes};
}

// Lines `first` to `last` of `text`. Sets `count` to the number of lines up to `last`.
std::vector<std::string> LinesAround(std::string_view text, uint32_t first, uint64_t last, uint32_t& count) {
  std::vector<std::string> lines;
  uint32_t number = 1;
  for (size_t at = 0; at < text.size() && number <= last; ++number) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (number >= first) lines.push_back(text::OneLine(text.substr(at, end - at)));
    at = end + 1;
  }
  count = number - 1;
  return lines;
}

}  // namespace

Result<SourceExcerpt> ReadSource(const SourcePlace& place, uint32_t around,
                                 std::optional<std::string_view> embedded) {
  const std::string name = text::OneLine(place.path);
  const Result<DiskText> disk = ReadFile(place.path);
  if (!disk.ok() && !embedded) return disk.error();
  SourceExcerpt excerpt;
  const std::string_view text = embedded ? *embedded : std::string_view(disk->text);
  if (!embedded)
    excerpt.from = "From disk, current version.";
  else if (!disk.ok())
    excerpt.from = "From the trace: " + disk.error().sentence;
  else if (disk->text == text)
    excerpt.from = "From disk, as it was recorded.";
  else
    excerpt.from = "From the trace: the file has changed since the recording.";
  excerpt.first = place.line > around ? place.line - around : 1;
  uint32_t count = 0;
  excerpt.lines = LinesAround(text, excerpt.first, uint64_t{place.line} + around, count);
  if (count >= place.line) return excerpt;
  if (embedded)
    return Error{
        fmt::format("{} has {} in the trace. The file had already changed when the recorder read it.", name,
                    text::FormatCount(count, "line"))};
  if (disk->cut)
    return Error{
        fmt::format("Line {} of {} is after the first MiB; only that part is read.", place.line, name)};
  return Error{fmt::format("{} has {} today. The file has changed since the recording.", name,
                           text::FormatCount(count, "line"))};
}

std::string EditorLink(const SourcePlace& place) {
  return fmt::format("vscode://file{}:{}", InLink(place.path), place.line);
}

}  // namespace vramscope::viewer
