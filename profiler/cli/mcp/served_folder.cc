// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/mcp/served_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <system_error>

#include "profiler/cli/frame/terminal.h"
#include "profiler/snapshot/run_file.h"
#include "trace_format/wire.h"

namespace vramscope::cli {
namespace {

namespace fs = std::filesystem;

bool IsInside(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

// True for a trace, false for a snapshot, nothing for other files.
std::optional<bool> KindOf(const fs::path& path) {
  std::array<char, trace::kFileMagic.size()> head = {};
  std::ifstream(path, std::ios::binary).read(head.data(), head.size());
  if (trace::StartsWithFileMagic(std::as_bytes(std::span(head)))) return true;
  if (snapshot::RunFile(path.string()).is_snapshot()) return false;
  return std::nullopt;
}

}  // namespace

Result<ServedFolder> ServedFolder::Open(const std::string& path) {
  std::error_code failed;
  const fs::path canonical = fs::canonical(path, failed);
  if (failed || !fs::is_directory(canonical, failed))
    return Error{fmt::format("{}: there is no such folder. Name one with traces: vramscope mcp runs", path)};
  return ServedFolder(canonical.string());
}

Result<std::string> ServedFolder::FileNamed(const std::string& name) const {
  const Error refused{
      fmt::format("'{}' is not a file in the served folder. list_runs lists the files.", Printable(name))};
  if (name.empty() || name.find('\0') != std::string::npos) return refused;
  std::error_code failed;
  const fs::path canonical = fs::canonical(fs::path(path_) / name, failed);
  if (failed || !IsInside(canonical, path_) || !fs::is_regular_file(canonical, failed) || failed)
    return refused;
  return canonical.string();
}

ServedFolder::Listing ServedFolder::Files() const {
  Listing listing;
  std::error_code failed;
  size_t entries = 0;
  fs::recursive_directory_iterator entry(path_, fs::directory_options::skip_permission_denied, failed);
  for (; !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
    if (listing.files.size() == kMostFiles || ++entries > kMostEntries) {
      listing.complete = false;
      break;
    }
    std::error_code ignored;
    if (entry->is_symlink(ignored) || !entry->is_regular_file(ignored)) continue;
    const auto kind = KindOf(entry->path());
    if (!kind.has_value()) continue;
    listing.files.push_back(
        {entry->path().lexically_relative(path_).string(), entry->file_size(ignored), *kind});
  }
  std::sort(listing.files.begin(), listing.files.end(),
            [](const File& a, const File& b) { return a.name < b.name; });
  return listing;
}

}  // namespace vramscope::cli
