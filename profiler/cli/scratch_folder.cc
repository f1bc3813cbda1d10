// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/scratch_folder.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "profiler/cli/unfinished_files.h"

namespace vramscope::cli {
namespace {

constexpr char kScratchPrefix[] = "vramscope-dryrun-";

}  // namespace

ScratchFolder::ScratchFolder() {
  std::error_code ignored;
  const std::string place = std::filesystem::temp_directory_path(ignored).string();
  collector::RemoveAbandonedFolders(place, kScratchPrefix);
  if (auto made = collector::OwnedFolder::Create(place, kScratchPrefix); made.ok())
    folder_.emplace(std::move(made).value());
  if (folder_) RemoveFolderOnSignal(folder_->path());
}

ScratchFolder::~ScratchFolder() {
  if (!folder_) return;
  const std::string path = folder_->path();
  folder_.reset();
  KeepOnSignal(path);
}

}  // namespace vramscope::cli
