// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/libraries/wheel_requirement.h"

#include <glob.h>
#include <link.h>

#include <cstdio>
#include <cstring>

namespace vramscope::simulated {
namespace {

constexpr char kLibrary[] = "/torch/lib/libtorch_cuda.so";

// The folder above torch/, into a buffer of 4096; empty when PyTorch is not loaded.
int NoteSitePackages(dl_phdr_info* image, size_t, void* buffer) {
  const char* const found = std::strstr(image->dlpi_name, kLibrary);
  if (found == nullptr) return 0;
  std::snprintf(static_cast<char*>(buffer), 4096, "%.*s", static_cast<int>(found - image->dlpi_name),
                image->dlpi_name);
  return 1;
}

Release Parse(std::FILE* metadata, const char* package) {
  char line[1024];
  Release release;
  while (std::fgets(line, sizeof(line), metadata) != nullptr) {
    if (std::strstr(line, "Requires-Dist: ") != line) continue;
    const char* const name = line + std::strlen("Requires-Dist: ");
    const char* const version = std::strstr(name, "==");
    if (std::strncmp(name, package, std::strlen(package)) != 0 || version == nullptr) continue;
    std::sscanf(version, "==%d.%d.%d", &release.major, &release.minor, &release.patch);
    break;
  }
  return release;
}

}  // namespace

std::string SitePackages() {
  char folder[4096] = {};
  dl_iterate_phdr(NoteSitePackages, folder);
  return folder;
}

Release RequiredRelease(const char* package) {
  const std::string folder = SitePackages();
  const std::string pattern = folder + "/torch-*.dist-info/METADATA";
  glob_t files = {};
  Release release;
  if (!folder.empty() && glob(pattern.c_str(), 0, nullptr, &files) == 0) {
    std::FILE* const metadata = std::fopen(files.gl_pathv[0], "re");
    if (metadata != nullptr) {
      release = Parse(metadata, package);
      std::fclose(metadata);
    }
  }
  globfree(&files);
  return release;
}

}  // namespace vramscope::simulated
