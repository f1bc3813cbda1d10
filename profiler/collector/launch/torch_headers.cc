// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/launch/torch_headers.h"

#include <filesystem>
#include <system_error>

#include "profiler/collector/output/whole_file.h"

namespace vramscope::collector {

std::string LayoutText(const std::string& root) {
  std::string text;
  for (const char* header : kLayoutHeaders) text += ReadWhole(root + "/include/" + header);
  return text;
}

bool UsesNewStringAbi(const std::string& root) {
  const std::string library = ReadWhole(root + "/lib/libc10.so");
  return library.find("_ZN3c105ErrorC1ENS_14SourceLocationENSt7__cxx11") != std::string::npos;
}

bool WantsCxx20(const std::string& root) {
  return ReadWhole(root + "/include/ATen/ATen.h").find("#error C++20") != std::string::npos;
}

uint64_t TorchLibraryBytes(const std::string& root) {
  std::error_code failed;
  const uint64_t bytes = std::filesystem::file_size(root + "/lib/libtorch_cpu.so", failed);
  return failed ? 0 : bytes;
}

}  // namespace vramscope::collector
