// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/target/process_facts.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "profiler/collector/output/whole_file.h"

namespace vramscope::collector {
namespace {

constexpr size_t kMaxCommandLine = 4096;

constexpr std::array kVariables = {
    "CUDA_DEVICE_MAX_CONNECTIONS",
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_MODULE_LOADING",
    "CUDA_VISIBLE_DEVICES",
    "CUBLAS_WORKSPACE_CONFIG",
    "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",
    "MKL_NUM_THREADS",
    "NCCL_BUFFSIZE",
    "NVIDIA_TF32_OVERRIDE",
    "OMP_NUM_THREADS",
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_HIP_ALLOC_CONF",
    "PYTORCH_NO_CUDA_MEMORY_CACHING",
    "RANK",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
    "TORCH_CUDNN_V8_API_DISABLED",
    "TORCH_NCCL_AVOID_RECORD_STREAMS",
    "TORCH_USE_CUDA_DSA",
    "WORLD_SIZE",
};

std::string Quoted(const std::string& argument) {
  if (!argument.empty() && argument.find_first_of(" \t\n'\"\\$") == std::string::npos) return argument;
  std::string quoted = "'";
  for (const char c : argument) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

// The value of the first "key : value" line of a /proc file.
std::string ValueOf(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (!line.starts_with(key) || colon == std::string::npos) continue;
    const size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

uint64_t MemoryBytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page) : 0;
}

// /proc may belong to another pid namespace (unshare without --mount-proc); then its pids are not ours.
bool ProcIsOurs() {
  std::array<char, 32> number{};
  const ssize_t length = readlink("/proc/self", number.data(), number.size() - 1);
  return length > 0 && number.data() == std::to_string(getpid());
}

}  // namespace

uint32_t PidHere(const trace::ProcessIdentity& process) {
  if (!process.known() || process.pid_namespace == trace::PidNamespaceOf("self")) return process.pid;
  std::error_code failed;
  for (std::filesystem::directory_iterator it("/proc", failed), end; !failed && it != end;
       it.increment(failed)) {
    const std::string name = it->path().filename().string();
    if (trace::PidNamespaceOf(name.c_str()) != process.pid_namespace ||
        trace::StartTicksOf(name.c_str()) != process.start_ticks)
      continue;
    // "NSpid: 4711 2": from the outermost namespace that this /proc shows to the process's own.
    const std::string numbers = ValueOf(fmt::format("/proc/{}/status", name), "NSpid");
    const size_t last = numbers.find_last_of(" \t");
    if (numbers.substr(last == std::string::npos ? 0 : last + 1) == std::to_string(process.pid))
      return static_cast<uint32_t>(std::strtoul(name.c_str(), nullptr, 10));
  }
  return 0;
}

bool HasEnded(const trace::ProcessIdentity& process) {
  if (!process.known() || process.pid_namespace != trace::PidNamespaceOf("self")) return false;
  if (kill(static_cast<pid_t>(process.pid), 0) != 0 && errno == ESRCH) return true;
  if (!ProcIsOurs()) return false;
  const uint64_t started = trace::StartTicksOf(std::to_string(process.pid).c_str());
  return started != 0 && started != process.start_ticks;
}

std::string ExecutableOf(uint32_t pid) {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = readlink(fmt::format("/proc/{}/exe", pid).c_str(), path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<size_t>(length)) : "";
}

std::string JoinCommandLine(const std::vector<std::string>& arguments) {
  std::string joined;
  for (const std::string& argument : arguments) {
    if (!joined.empty()) joined += ' ';
    joined += Quoted(argument);
    if (joined.size() > kMaxCommandLine) return joined.substr(0, kMaxCommandLine) + "...";
  }
  return joined;
}

std::string CommandLineOf(uint32_t pid) {
  std::istringstream raw(ReadWhole(fmt::format("/proc/{}/cmdline", pid)));
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(raw, argument, '\0');) arguments.push_back(argument);
  return JoinCommandLine(arguments);
}

std::string ThreadName(uint32_t pid, uint32_t thread) {
  std::string name = ReadWhole(fmt::format("/proc/{}/task/{}/comm", pid, thread));
  if (name.ends_with('\n')) name.pop_back();
  return name;
}

uint32_t ParentOf(uint32_t pid) {
  return static_cast<uint32_t>(trace::StatFieldOf(std::to_string(pid).c_str(), 4));
}

std::map<std::string, std::string> MachineFacts() {
  std::map<std::string, std::string> facts;
  utsname system{};
  if (uname(&system) == 0) facts["host.kernel"] = fmt::format("{} {}", system.sysname, system.release);
  facts["host.cpu"] = ValueOf("/proc/cpuinfo", "model name");
  facts["host.cpus"] = std::to_string(sysconf(_SC_NPROCESSORS_ONLN));
  facts["host.memory_bytes"] = std::to_string(MemoryBytes());
  for (const char* name : kVariables) {
    if (const char* value = std::getenv(name); value != nullptr) facts[fmt::format("env.{}", name)] = value;
  }
  return facts;
}

}  // namespace vramscope::collector
