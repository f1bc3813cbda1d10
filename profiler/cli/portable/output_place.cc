// SPDX-License-Identifier: Apache-2.0
// Output files on systems without /proc/self/fd: every name is a file, and there is no device to write to.
#include "profiler/collector/output/output_place.h"

#include <filesystem>
#include <system_error>

namespace vramscope::collector {

namespace fs = std::filesystem;

Result<OutputPlace> PlaceOf(const std::string& path) {
  std::error_code failed;
  if (fs::is_directory(path, failed)) return Error{path + ": cannot be written: it is a folder."};
  return OutputPlace{path};
}

Result<int> OpenStream(const OutputPlace& place) {
  return Error{place.path + ": cannot be written: it is not a file."};
}

Status CheckIsNoInput(const std::string& output, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    std::error_code failed;
    if (fs::equivalent(output, input, failed))
      return Error{output + ": is already read as " + input +
                   " and cannot be written too. Name another file."};
  }
  return {};
}

}  // namespace vramscope::collector
