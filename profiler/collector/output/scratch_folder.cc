// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/output/scratch_folder.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "profiler/collector/output/unfinished_files.h"

namespace vramscope::collector {
namespace {

constexpr char kScratchPrefix[] = "vramscope-dryrun-";

}  // namespace

ScratchFolder::ScratchFolder() {
  std::error_code ignored;
  const std::string place = std::filesystem::temp_directory_path(ignored).string();
  RemoveAbandonedFolders(place, kScratchPrefix);
  if (auto made = OwnedFolder::Create(place, kScratchPrefix); made.ok())
    folder_.emplace(std::move(made).value());
  if (folder_) RemoveFolderOnSignal(folder_->path());
}

ScratchFolder::~ScratchFolder() {
  if (!folder_) return;
  const std::string path = folder_->path();
  folder_.reset();
  KeepOnSignal(path);
}

}  // namespace vramscope::collector
