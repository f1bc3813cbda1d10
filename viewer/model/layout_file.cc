// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/layout_file.h"

#include <fmt/format.h>

#include <sstream>
#include <string_view>
#include <system_error>

#include "profiler/text/number.h"
#include "viewer/model/recent_files.h"
#include "viewer/model/small_file.h"

namespace vramscope::viewer {
namespace {

constexpr size_t kMostLayoutBytes = 1 << 16;

// Sets `value` to the number in `text`, if that is within the bounds.
void ReadNumber(std::string_view text, float least, float most, float& value) {
  if (const auto number = text::ParseNumber<float>(text); number && *number >= least && *number <= most)
    value = *number;
}

}  // namespace

std::string LayoutPath() {
  const std::string recent = RecentFilesPath();
  return recent.empty() ? "" : recent.substr(0, recent.rfind('/')) + "/layout";
}

WindowLayout ReadLayout(const std::string& path) {
  WindowLayout layout;
  std::istringstream file(ReadSmallFile(path, kMostLayoutBytes).value_or(""));
  for (std::string line; std::getline(file, line);) {
    const std::string_view text = line;
    const size_t sign = text.find('=');
    if (sign == std::string_view::npos) continue;
    const std::string_view key = text.substr(0, sign);
    const std::string_view value = text.substr(sign + 1);
    if (key == "theme" && (value == "dark" || value == "light")) layout.dark = value == "dark";
    if (key == "details") layout.details = value != "folded";
    if (key == "table") layout.table = value != "folded";
    if (key == "text_size") ReadNumber(value, kSmallestText, kLargestText, layout.text_size);
    if (key == "table_share") ReadNumber(value, 0, 1, layout.table_share);
    if (key == "details_width") ReadNumber(value, 1, 200, layout.details_width);
  }
  return layout;
}

void WriteLayout(const std::string& path, const WindowLayout& layout) {
  if (path.empty()) return;
  const auto part = [](bool shown) { return shown ? "shown" : "folded"; };
  ReplaceSmallFile(
      path,
      fmt::format(
          "theme={}\ntext_size={:.3f}\ntable_share={:.3f}\ndetails_width={:.2f}\ndetails={}\ntable={}\n",
          layout.dark ? "dark" : "light", layout.text_size, layout.table_share, layout.details_width,
          part(layout.details), part(layout.table)));
}

}  // namespace vramscope::viewer
