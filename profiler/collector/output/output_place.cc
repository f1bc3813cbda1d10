// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/output/output_place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>

#include "profiler/collector/target/launch_facts.h"
#include "profiler/text/number.h"

namespace vramscope::collector {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;

Error CannotBeWritten(const std::string& path, int reason) {
  return {fmt::format("{}: cannot be written: {}.", path, std::strerror(reason))};
}

fs::path FolderOf(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// N if `path` is /proc/self/fd/N, under any name of that folder.
std::optional<int> OwnDescriptor(const fs::path& path) {
  std::error_code failed;
  const fs::path folder = fs::canonical(FolderOf(path), failed);
  if (failed || folder != fmt::format("/proc/{}/fd", getpid())) return std::nullopt;
  return text::ParseNumber<int>(path.filename().string());
}

// True for a descriptor link in /proc. The target that such a link shows is often not a path.
bool IsProcDescriptor(const fs::path& path) {
  std::error_code failed;
  const std::string folder = fs::canonical(FolderOf(path), failed).string();
  return !failed && folder.starts_with("/proc/") && folder.ends_with("/fd");
}

// The first of these variables that is set.
std::optional<std::string> FirstSet(std::span<const char* const> variables) {
  for (const char* variable : variables) {
    if (const char* const value = std::getenv(variable); value != nullptr && *value != '\0') return value;
  }
  return std::nullopt;
}

// Makes a value usable as part of one file name.
std::string AsName(std::string value) {
  for (char& c : value) {
    if (c == '/') c = '_';
  }
  return value;
}

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

Result<std::string> ValueOf(char letter, const std::string& name) {
  std::optional<std::string> value;
  switch (letter) {
    case '%':
      return std::string("%");
    case 'p':
      return std::to_string(getpid());
    case 'h':
      return AsName(HostName());
    case 'r':
      value = FirstSet(kRankVariables);
      if (!value)
        return Error{fmt::format("{}: %r is the rank, and none of {} is set. Use %p for the process ID.",
                                 name, fmt::join(kRankVariables, ", "))};
      return AsName(*value);
    case 'j':
      value = FirstSet(std::array{"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "TORCHELASTIC_RUN_ID"});
      if (!value)
        return Error{
            fmt::format("{}: %j is the job, and none of SLURM_JOB_ID, PBS_JOBID, LSB_JOBID, JOB_ID, "
                        "TORCHELASTIC_RUN_ID is "
                        "set. Use %q{{VARIABLE}} for another variable.",
                        name)};
      return AsName(*value);
    default:
      return Error{fmt::format(
          "{}: % must be followed by r (rank), h (host), p (process), j (job), q{{VARIABLE}}, or a second %.",
          name)};
  }
}

}  // namespace

Result<OutputPlace> PlaceOf(const std::string& path) {
  fs::path at = path;
  for (int links = 0; links < kMostLinks; ++links) {
    if (const auto descriptor = OwnDescriptor(at)) return OutputPlace{at.string(), true, *descriptor};
    struct stat facts {};
    if (lstat(at.c_str(), &facts) != 0) {
      if (errno == ENOENT) return OutputPlace{at.string()};
      return CannotBeWritten(path, errno);
    }
    if (S_ISDIR(facts.st_mode)) return CannotBeWritten(path, EISDIR);
    if (!S_ISLNK(facts.st_mode)) return OutputPlace{at.string(), !S_ISREG(facts.st_mode)};
    if (IsProcDescriptor(at)) return OutputPlace{at.string(), true};
    std::error_code failed;
    const fs::path target = fs::read_symlink(at, failed);
    if (failed) return CannotBeWritten(path, failed.value());
    at = target.is_absolute() ? target : FolderOf(at) / target;
  }
  return CannotBeWritten(path, ELOOP);
}

Result<int> OpenStream(const OutputPlace& place) {
  const int descriptor = place.descriptor >= 0 ? fcntl(place.descriptor, F_DUPFD_CLOEXEC, 3)
                                               : open(place.path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) return CannotBeWritten(place.path, errno);
  return descriptor;
}

Status CheckIsNoInput(const std::string& output, const std::vector<std::string>& inputs) {
  struct stat written {};
  if (stat(output.c_str(), &written) != 0 || !S_ISREG(written.st_mode)) return {};
  for (const std::string& input : inputs) {
    struct stat read {};
    if (stat(input.c_str(), &read) != 0 || read.st_dev != written.st_dev || read.st_ino != written.st_ino)
      continue;
    return Error{fmt::format("{}: is already read as {} and cannot be written too. Name another file.",
                             output, input)};
  }
  return {};
}

Result<std::string> ExpandName(const std::string& name) {
  if (name == "-")
    return Error{
        "-o -: is not a file name. Write -o /dev/stdout for standard output, or -o ./- for a file of that "
        "name."};
  std::string expanded;
  for (size_t at = 0; at < name.size(); ++at) {
    if (name[at] != '%') {
      expanded += name[at];
      continue;
    }
    const char letter = ++at < name.size() ? name[at] : '\0';
    if (letter == 'q' && name.compare(at + 1, 1, "{") == 0 && name.find('}', at) != std::string::npos) {
      const size_t end = name.find('}', at);
      const std::string variable = name.substr(at + 2, end - at - 2);
      const auto value = FirstSet(std::array{variable.c_str()});
      if (!value) return Error{fmt::format("{}: the variable {} is not set.", name, variable)};
      expanded += AsName(*value);
      at = end;
      continue;
    }
    const std::string value = VRAMSCOPE_TRY(ValueOf(letter, name));
    expanded += value;
  }
  return expanded;
}

}  // namespace vramscope::collector
