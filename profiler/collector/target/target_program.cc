// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/target/target_program.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace vramscope::collector {
namespace {

constexpr int kMaxInterpreters = 4;  // as many levels of "#!" as the kernel follows
constexpr size_t kMaxProgramHeaders = 4096;

#if defined(__x86_64__)
constexpr uint16_t kOurMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kOurMachine = EM_AARCH64;
#else
#error "which machine is this?"
#endif

class File {
 public:
  explicit File(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] bool ok() const { return fd_ >= 0; }
  // Reads up to `bytes` at `offset`; less at the file's end.
  [[nodiscard]] std::string Read(uint64_t offset, size_t bytes) const {
    std::string text(bytes, '\0');
    const ssize_t got = pread(fd_, text.data(), bytes, static_cast<off_t>(offset));
    text.resize(got > 0 ? static_cast<size_t>(got) : 0);
    return text;
  }

 private:
  int fd_;
};

bool IsRunnableFile(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

// "#!/usr/bin/env python" -> "/usr/bin/env"; empty for other files.
std::optional<std::string> InterpreterOfScript(const File& file) {
  std::string line = file.Read(0, 256);
  if (!line.starts_with("#!")) return std::nullopt;
  line.resize(std::min(line.find('\n'), line.size()));
  const size_t begin = line.find_first_not_of(" \t", 2);
  if (begin == std::string::npos) return std::nullopt;
  return line.substr(begin, line.find_first_of(" \t\r", begin) - begin);
}

// If the file has privileges, the kernel requests the loader's secure mode, which ignores LD_PRELOAD.
Status CheckPrivileges(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return Error{fmt::format("{}: {}.", path, std::strerror(errno))};
  const char* what = (info.st_mode & S_ISUID) != 0                                    ? "setuid"
                     : (info.st_mode & S_ISGID) != 0 && (info.st_mode & S_IXGRP) != 0 ? "setgid"
                     : getxattr(path.c_str(), "security.capability", nullptr, 0) > 0
                         ? "given file capabilities"
                         : nullptr;
  if (what == nullptr) return {};
  return Error{
      fmt::format("{} is {}: the system loads no recorder into such a program. The command was not started. "
                  "Record the program that it starts instead.",
                  path, what)};
}

Result<std::string> CheckElf(const std::string& path, const File& file, const std::string& start) {
  Elf64_Ehdr header{};
  if (start.size() < sizeof(header)) return Error{fmt::format("{} is cut off and cannot run.", path)};
  std::memcpy(&header, start.data(), sizeof(header));
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kOurMachine) {
    return Error{
        fmt::format("{} is built for another architecture ({}-bit, ELF machine {}) than vramscope, so it "
                    "cannot be recorded. The command was not started.",
                    path, header.e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32, header.e_machine)};
  }
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > kMaxProgramHeaders) {
    return std::string();  // the kernel will refuse it
  }
  const std::string raw = file.Read(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr));
  std::vector<Elf64_Phdr> segments(raw.size() / sizeof(Elf64_Phdr));
  std::memcpy(segments.data(), raw.data(), segments.size() * sizeof(Elf64_Phdr));
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_INTERP) continue;
    const std::string loader = file.Read(segment.p_offset, std::min<uint64_t>(segment.p_filesz, 256));
    if (loader.find("/ld-musl") == std::string::npos) return std::string();
    return Error{
        fmt::format("{} uses the musl C library. PyTorch and vramscope use glibc, so it cannot be recorded. "
                    "The command was not started.",
                    path)};
  }
  return fmt::format(
      "{} is statically linked, so only the programs that it starts are recorded. Link it dynamically to "
      "record it.",
      path);
}

}  // namespace

Result<std::string> FindProgram(const std::string& command) {
  if (command.empty()) return Error{"The command to record is an empty string."};
  if (command.find('/') != std::string::npos) {
    if (IsRunnableFile(command)) return command;
    struct stat info {};
    if (stat(command.c_str(), &info) != 0)
      return Error{fmt::format("{}: {}.", command, std::strerror(errno))};
    return Error{
        fmt::format("{} is not a program that you may run. Check its permissions (chmod +x).", command)};
  }
  const char* variable = std::getenv("PATH");
  std::string_view rest = variable != nullptr ? variable : "/bin:/usr/bin";
  for (bool last = false; !last;) {
    const size_t colon = rest.find(':');
    last = colon == std::string_view::npos;
    const std::string_view folder = rest.substr(0, colon);
    const std::string path = fmt::format("{}/{}", folder.empty() ? "." : folder, command);
    if (IsRunnableFile(path)) return path;
    if (!last) rest.remove_prefix(colon + 1);
  }
  return Error{fmt::format("{}: command not found.", command)};
}

Result<std::string> CheckRecordable(const std::string& path) {
  std::string program = path;
  for (int i = 0; i <= kMaxInterpreters; ++i) {
    const File file(program);
    const std::string start = file.Read(0, sizeof(Elf64_Ehdr));
    const bool is_elf = start.starts_with("\177ELF");
    if (is_elf || !file.ok()) {  // the kernel gives scripts no privileges
      VRAMSCOPE_TRY(CheckPrivileges(program));
    }
    if (is_elf) return CheckElf(program, file, start);
    if (!file.ok()) return std::string();  // executable but not readable: nothing more to check
    const auto interpreter = InterpreterOfScript(file);
    if (!interpreter) return std::string();  // execvp passes it to /bin/sh
    if (!IsRunnableFile(*interpreter)) {
      return Error{fmt::format("{}: its interpreter {} does not exist.", program, *interpreter)};
    }
    program = *interpreter;
  }
  return std::string();
}

}  // namespace vramscope::collector
