// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/report/viewer_file.h"

#include <utility>

#include "profiler/cli/frame/verb.h"
#include "profiler/collector/launch/installation.h"
#include "profiler/collector/output/new_file.h"
#include "profiler/collector/output/whole_file.h"
#include "profiler/html/viewer_page.h"
#include "profiler/snapshot/run_file.h"

namespace vramscope::cli {

Result<int> WriteViewerFile(const std::string& out, const std::vector<std::string>& paths) {
  const std::string folder = VRAMSCOPE_TRY(collector::FindWebViewer());
  std::vector<html::EmbeddedFile> files;
  for (const std::string& path : paths) {
    VRAMSCOPE_TRY(snapshot::RunFile(path).OpenSource());
    files.push_back({path.substr(path.find_last_of('/') + 1), collector::ReadWhole(path)});
  }
  collector::NewFile file = VRAMSCOPE_TRY(collector::NewFile::Create(out, paths));
  const std::string page =
      VRAMSCOPE_TRY(html::MakeViewerPage(collector::ReadWhole(folder + "/viewer.html"), files));
  VRAMSCOPE_TRY(file.Write(page));
  VRAMSCOPE_TRY(file.Commit());
  return kDone;
}

}  // namespace vramscope::cli
