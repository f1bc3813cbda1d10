// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/launch/answer_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>

#include "profiler/collector/output/whole_file.h"

namespace vramscope::collector {
namespace {

constexpr std::string_view kFirstLine = "vramscope-answer 1";

// One line that changes whenever the file does; absent files have a line too.
std::string WitnessLine(const std::string& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) return fmt::format("- - {}", path);
  return fmt::format("{}.{:09} {} {}", facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec, facts.st_size, path);
}

// Removes the next line from `text` and returns it.
std::string_view TakeLine(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

bool IsOneLine(const std::string& text) { return text.find('\n') == std::string::npos; }

std::string PathOf(const std::string& folder, const std::string& question) {
  return fmt::format("{}/{:016x}.answer", folder, HashOf(question));
}

}  // namespace

uint64_t HashOf(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const unsigned char byte : text) hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

std::optional<std::string> RecallAnswer(const std::string& folder, const std::string& question) {
  if (folder.empty()) return {};
  const std::string kept = ReadWhole(PathOf(folder, question));
  std::string_view rest = kept;
  if (TakeLine(rest) != kFirstLine || TakeLine(rest) != question) return {};
  const std::string_view answer = TakeLine(rest);
  if (!rest.ends_with('\n')) return {};  // no witness, or cut
  while (!rest.empty()) {
    const std::string_view line = TakeLine(rest);
    const size_t path = line.find(' ', line.find(' ') + 1);
    if (path == std::string_view::npos || WitnessLine(std::string(line.substr(path + 1))) != line) return {};
  }
  return std::string(answer);
}

void KeepAnswer(const std::string& folder, const std::string& question, const std::string& answer,
                const std::vector<std::string>& witnesses) {
  if (folder.empty() || witnesses.empty() || !IsOneLine(question) || !IsOneLine(answer)) return;
  std::string text = fmt::format("{}\n{}\n{}\n", kFirstLine, question, answer);
  for (const std::string& witness : witnesses) {
    if (!IsOneLine(witness)) return;
    text += WitnessLine(witness) + "\n";
  }
  const std::string path = PathOf(folder, question);
  const std::string unfinished = fmt::format("{}.{}", path, getpid());
  const int file = open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return;
  const bool whole = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(file);
  if (!whole || rename(unfinished.c_str(), path.c_str()) != 0) unlink(unfinished.c_str());
}

}  // namespace vramscope::collector
