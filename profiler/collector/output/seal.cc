// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/output/seal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "profiler/collector/output/sha256.h"

namespace vramscope::collector {
namespace {

namespace fs = std::filesystem;

constexpr size_t kKeyBytes = 32;

// Empty if this account has no such place.
fs::path KeyPath() {
  const char* const config = std::getenv("XDG_CONFIG_HOME");
  const char* const home = std::getenv("HOME");
  if (config != nullptr && *config == '/') return fs::path(config) / "vramscope" / "seal.key";
  if (home != nullptr && *home == '/') return fs::path(home) / ".config" / "vramscope" / "seal.key";
  return {};
}

// A key that others can read or have created is not used.
std::string ReadKey(const fs::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return "";
  struct stat facts {};
  std::string key(kKeyBytes, '\0');
  const bool ours = fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_uid == geteuid() &&
                    (facts.st_mode & 077) == 0 &&
                    read(file, key.data(), key.size()) == static_cast<ssize_t>(key.size());
  close(file);
  return ours ? key : "";
}

// The key is linked into place when it is complete. If two processes create it at once, both use the first
// one's.
void MakeKey(const fs::path& path) {
  std::error_code ignored;
  const fs::path folder = path.parent_path();
  fs::create_directories(folder.parent_path(), ignored);
  mkdir(folder.c_str(), 0700);
  const std::string made = fmt::format("{}.{}", path.string(), getpid());
  std::string key(kKeyBytes, '\0');
  if (getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size())) return;
  const int file = open(made.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return;
  const bool written = write(file, key.data(), key.size()) == static_cast<ssize_t>(key.size());
  close(file);
  if (written) (void)!link(made.c_str(), path.c_str());
  unlink(made.c_str());
}

std::string SealWith(std::string_view key, std::string_view program) {
  std::string seal;
  for (const uint8_t byte : HmacSha256(key, program)) seal += fmt::format("{:02x}", byte);
  return seal;
}

}  // namespace

std::string SealOf(std::string_view program) {
  const fs::path path = KeyPath();
  if (path.empty()) return "";
  std::string key = ReadKey(path);
  if (key.empty()) {
    MakeKey(path);
    key = ReadKey(path);
  }
  return key.empty() ? "" : SealWith(key, program);
}

bool IsSealedHere(std::string_view program, std::string_view seal) {
  const std::string key = ReadKey(KeyPath());
  if (key.empty() || seal.empty()) return false;
  const std::string own = SealWith(key, program);
  if (own.size() != seal.size()) return false;
  unsigned difference = 0;  // constant time, wherever they differ
  for (size_t i = 0; i < own.size(); ++i) difference |= static_cast<unsigned char>(own[i] ^ seal[i]);
  return difference == 0;
}

}  // namespace vramscope::collector
