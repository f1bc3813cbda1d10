// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/launch/prebuilt_bridge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "profiler/collector/launch/torch_headers.h"
#include "profiler/collector/output/sha256.h"
#include "profiler/collector/output/whole_file.h"

namespace vramscope::collector {
namespace {

// True if `local`, the part of a version after "+", is empty or that of a published wheel: cu124, cpu,
// rocm6.2, xpu.
bool IsPublishedBuild(std::string_view local) {
  constexpr std::array<std::string_view, 4> kKinds = {"cu", "cpu", "rocm", "xpu"};
  return local.empty() || std::ranges::any_of(kKinds, [local](std::string_view kind) {
           return local.starts_with(kind) && local.find_first_of("-_") == std::string_view::npos;
         });
}

bool HasLayoutHeaders(const std::string& root) {
  return std::ranges::all_of(kLayoutHeaders,
                             [&root](const char* header) { return Exists(root + "/include/" + header); });
}

std::string HexOf(const Digest& digest) { return fmt::format("{:02x}", fmt::join(digest, "")); }

}  // namespace

std::optional<std::string> FindPrebuiltBridge(const TorchLocation& torch, const std::string& folder) {
  const std::string index = ReadWhole(folder + "/index.txt");
  if (index.empty()) return {};
  const size_t plus = std::min(torch.version.find('+'), torch.version.size());
  const std::string release = torch.version.substr(0, plus);
  const std::string local = torch.version.substr(std::min(plus + 1, torch.version.size()));
  const bool has_headers = HasLayoutHeaders(torch.root);
  if (!has_headers && !IsPublishedBuild(local)) return {};
  const std::string abi = UsesNewStringAbi(torch.root) ? "new" : "old";
  const std::string layout = has_headers ? HexOf(Sha256(LayoutText(torch.root))) : std::string();

  std::istringstream lines(index);
  std::string line_release, line_abi, line_layout, library;
  while (lines >> line_release >> line_abi >> line_layout >> library) {
    if (line_release != release || line_abi != abi || (has_headers && line_layout != layout)) continue;
    if (std::string path = folder + "/" + library; Exists(path)) return path;
  }
  return {};
}

}  // namespace vramscope::collector
