// SPDX-License-Identifier: Apache-2.0
// Compares our parser of PYTORCH_CUDA_ALLOC_CONF with PyTorch's compiled one, on random strings from
// random_settings.py. Both must accept or refuse each string, and read the same values.
#pragma once

#include <fstream>
#include <iomanip>
#include <sstream>
#include <string>

#include "profiler/allocator/settings.h"

namespace vramscope::allocator {

// The values of PyTorch's snapshots, in the words of random_settings.py.
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

// Reads lines of "refused|values TAB string". A line's settings build on those of the last accepted line.
// Returns the first difference, or "". `lines` counts the lines.
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
