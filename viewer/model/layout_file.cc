// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/layout_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "viewer/model/recent_files.h"

namespace vramscope::viewer {
namespace {

namespace fs = std::filesystem;

// The number in `text`, if it is within the bounds.
void ReadNumber(std::string_view text, float least, float most, float& value) {
  float number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed == std::errc() && end == text.data() + text.size() && number >= least && number <= most)
    value = number;
}

}  // namespace

std::string LayoutPath() {
  const std::string recent = RecentFilesPath();
  return recent.empty() ? "" : (fs::path(recent).parent_path() / "layout").string();
}

WindowLayout ReadLayout(const std::string& path) {
  WindowLayout layout;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::string_view text = line;
    const size_t sign = text.find('=');
    if (sign == std::string_view::npos) continue;
    const std::string_view key = text.substr(0, sign);
    const std::string_view value = text.substr(sign + 1);
    if (key == "theme" && (value == "dark" || value == "light")) layout.dark = value == "dark";
    if (key == "text_size") ReadNumber(value, kSmallestText, kLargestText, layout.text_size);
    if (key == "table_share") ReadNumber(value, 0, 1, layout.table_share);
    if (key == "details_width") ReadNumber(value, 1, 200, layout.details_width);
  }
  return layout;
}

void WriteLayout(const std::string& path, const WindowLayout& layout) {
  std::error_code ignored;
  if (path.empty()) return;
  fs::create_directories(fs::path(path).parent_path(), ignored);
  const std::string fresh = path + "." + std::to_string(getpid());
  {
    std::ofstream file(fresh, std::ios::trunc);
    file << fmt::format("theme={}\ntext_size={:.3f}\ntable_share={:.3f}\ndetails_width={:.2f}\n",
                        layout.dark ? "dark" : "light", layout.text_size, layout.table_share,
                        layout.details_width);
    file.close();
    if (!file) {
      fs::remove(fresh, ignored);
      return;
    }
  }
  fs::rename(fresh, path, ignored);
  if (ignored) fs::remove(fresh, ignored);
}

}  // namespace vramscope::viewer
