// SPDX-License-Identifier: Apache-2.0
// Compares our parser of PYTORCH_CUDA_ALLOC_CONF with PyTorch's compiled parser, on random strings from
// random_settings.py. Both parsers must accept the same strings and read the same values from them.
#pragma once

#include <fstream>
#include <iomanip>
#include <sstream>
#include <string>

#include "profiler/allocator/settings.h"

namespace vramscope::allocator {

// Formats settings like random_settings.py does: the values in the order of PyTorch's snapshots.
inline std::string Told(const Settings& settings) {
  std::ostringstream text;
  text << std::setprecision(17);
  if (settings.max_split_bytes == kUnlimited) {
    text << -1;
  } else {
    text << static_cast<int64_t>(settings.max_split_bytes);
  }
  text << ' ' << settings.garbage_collection_threshold << ' ' << settings.expandable_segments << ' '
       << settings.release_lock_on_cudamalloc;
  for (const uint64_t divisions : settings.roundup_power2_divisions) text << ' ' << divisions;
  return text.str();
}

// Reads a file of random_settings.py. Each line is "refused TAB string" or "VALUES TAB string"; VALUES are
// PyTorch's values after the string. A string changes the settings of the last accepted line. Returns a text
// about the first difference; "" if there is none. Adds the number of equal lines to `*lines`.
inline std::string CompareSettings(const char* path, const Release& release, size_t* lines) {
  std::ifstream file(path);
  if (!file) return std::string("cannot read ") + path;
  Settings settings;
  for (std::string line; std::getline(file, line); ++*lines) {
    const size_t tab = line.find('\t');
    const std::string theirs = line.substr(0, tab), text = line.substr(tab + 1);
    const Result<Settings> changed = ChangeSettings(settings, text, release);
    const std::string ours = changed.ok() ? Told(*changed) : "refused";
    if (ours != theirs) {
      return "settings \"" + text + "\": " + ours +
             (changed.ok() ? "" : " (" + changed.error().sentence + ")") + ", PyTorch " + theirs;
    }
    if (changed.ok()) settings = *changed;
  }
  return "";
}

}  // namespace vramscope::allocator
