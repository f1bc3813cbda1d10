// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/launch/bridge_build.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "profiler/collector/launch/answer_cache.h"
#include "profiler/collector/launch/tool_run.h"
#include "profiler/collector/launch/torch_location.h"
#include "profiler/collector/output/whole_file.h"
#include "profiler/collector/target/process_facts.h"
#include "profiler/collector/target/target_program.h"

namespace vramscope::collector {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

constexpr seconds kCompilerLimit{600};  // 8 s on an idle machine
// The cause of a failure (a header, the linker, a full disk) is not part of the key, and may be fixed by now.
constexpr seconds kTryAgainAfter{3600};
constexpr char kBridgeFolder[] = "injector/torch/bridge";
// Headers from which the bridge reads layouts. They differ whenever a bridge for one torch would not fit
// another.
constexpr std::array kLayoutHeaders = {
    "ATen/record_function.h",         "ATen/core/ivalue.h",
    "ATen/core/function_schema.h",    "c10/core/TensorImpl.h",
    "c10/core/StorageImpl.h",         "torch/csrc/autograd/variable.h",
    "torch/csrc/autograd/function.h", "torch/csrc/autograd/functions/accumulate_grad.h",
};

uint64_t SizeOf(const fs::path& path) {
  std::error_code failed;
  const uint64_t bytes = fs::file_size(path, failed);
  return failed ? 0 : bytes;
}

// Releases up to 2.6 were built with the old std::string ABI, later ones with the new. The names of libc10's
// own functions show which.
bool UsesNewStringAbi(const fs::path& torch_root) {
  const std::string library = ReadWhole(torch_root / "lib/libc10.so");
  return library.find("_ZN3c105ErrorC1ENS_14SourceLocationENSt7__cxx11") != std::string::npos;
}

// Recent headers refuse older standards with an #error that names the one they want.
bool WantsCxx20(const fs::path& torch_root) {
  return ReadWhole(torch_root / "include/ATen/ATen.h").find("#error C++20") != std::string::npos;
}

struct Plan {
  std::string compiler;
  std::vector<std::string> flags;
  std::vector<std::string> sources;
  std::vector<std::string> libraries;
  std::string key;
};

Result<std::string> FindCompiler() {
  const char* chosen = std::getenv("CXX");
  for (const char* name : {chosen, "c++", "g++", "clang++"}) {
    if (name == nullptr || *name == '\0') continue;
    if (Result<std::string> found = FindProgram(name); found.ok()) return found;
  }
  return Error{
      "There is no C++ compiler (c++, g++ or clang++) on PATH: deep steps will have no operators. Install "
      "one, for example the package g++."};
}

Status CheckTorch(const TorchLocation& torch) {
  for (const char* file : {"include/ATen/record_function.h", "lib/libtorch_cpu.so", "lib/libc10.so"}) {
    if (Exists(fs::path(torch.root) / file)) continue;
    return Error{
        fmt::format("The torch in {} has no {}: deep steps will have no operators. Install a complete torch.",
                    torch.root, file)};
  }
  return {};
}

// The files of the bridge, sorted so that every run computes the same key.
Result<std::vector<fs::path>> BridgeFiles(const fs::path& source_root) {
  std::vector<fs::path> files = {source_root / "injector/core/api.h", source_root / "trace_format/event.h",
                                 source_root / "trace_format/raw_record.h"};
  const size_t shared = files.size();
  std::error_code failed;
  for (fs::directory_iterator it(source_root / kBridgeFolder, failed), end; !failed && it != end;
       it.increment(failed)) {
    if (it->path().extension() == ".cc" || it->path().extension() == ".h") files.push_back(it->path());
  }
  std::ranges::sort(files);
  if (files.size() > shared) return files;
  return Error{
      fmt::format("The source of the deep recorder is missing in {}: deep steps will have no operators. "
                  "Reinstall vramscope.",
                  source_root.string())};
}

// Identifies the compiler's build, which its path does not.
std::string CompilerIdentity(const std::string& compiler) {
  const Result<std::string> version = RunTool({compiler, "--version"}, seconds(20));
  return compiler + "\n" + (version.ok() ? version.value() : std::string());
}

Result<Plan> MakePlan(const TorchLocation& torch, const fs::path& source_root) {
  if (Status complete = CheckTorch(torch); !complete.ok()) return complete.error();
  Result<std::string> compiler = FindCompiler();
  if (!compiler.ok()) return compiler.error();
  Result<std::vector<fs::path>> files = BridgeFiles(source_root);
  if (!files.ok()) return files.error();

  const fs::path root = torch.root;
  Plan plan;
  plan.compiler = *compiler;
  // NDEBUG: as torch itself, whose RecordFunction has an additional member without it. -w: the warnings would
  // be about torch's headers.
  plan.flags = {WantsCxx20(root) ? "-std=c++20" : "-std=c++17",
                "-O1",
                "-g0",
                "-DNDEBUG",
                "-fPIC",
                "-shared",
                "-fvisibility=hidden",
                "-w",
                fmt::format("-D_GLIBCXX_USE_CXX11_ABI={}", UsesNewStringAbi(root) ? 1 : 0),
                fmt::format("-DVRAMSCOPE_TORCH_CPU_BYTES={}", SizeOf(root / "lib/libtorch_cpu.so")),
                "-isystem",
                (root / "include").string(),
                "-isystem",
                (root / "include/torch/csrc/api/include").string(),
                "-I",
                source_root.string()};
  // The libraries are already loaded and are found by soname, wherever they were loaded from, even with
  // RTLD_LOCAL. Their own dependencies (CUDA) need not be found here.
  plan.libraries = {"-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined",
                    (root / "lib/libtorch_cpu.so").string(), (root / "lib/libc10.so").string()};

  std::string facts = CompilerIdentity(plan.compiler);
  for (const std::string& flag : plan.flags) facts += flag + "\n";
  for (const char* header : kLayoutHeaders) facts += ReadWhole(root / "include" / header);
  for (const fs::path& file : *files) {
    if (file.extension() == ".cc") plan.sources.push_back(file.string());
    facts += ReadWhole(file);
  }
  plan.key = fmt::format("torch-{}-{:016x}", torch.version.substr(0, torch.version.find('+')), HashOf(facts));
  return plan;
}

Result<fs::path> CacheFolder(const BridgeOptions& options) {
  fs::path folder = options.cache_folder;
  if (folder.empty()) {
    const char* cache = std::getenv("XDG_CACHE_HOME");
    const char* home = std::getenv("HOME");
    if (cache != nullptr && *cache == '/') {
      folder = fs::path(cache) / "vramscope/bridge";
    } else if (home != nullptr && *home == '/') {
      folder = fs::path(home) / ".cache/vramscope/bridge";
    } else {
      return Error{
          "Neither XDG_CACHE_HOME nor HOME is set, so there is no folder for the deep recorder: deep steps "
          "will have no operators. Set one of them."};
    }
  }
  if (folder.string().find(';') != std::string::npos)
    return Error{
        fmt::format("{}: the deep recorder cannot be in a folder with a semicolon in its name: deep steps "
                    "will have no operators. Set XDG_CACHE_HOME to another folder.",
                    folder.string())};
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed)
    return Error{fmt::format("{} cannot be created: {}. Deep steps will have no operators.", folder.string(),
                             failed.message())};
  return folder;
}

fs::path SourceRoot(const BridgeOptions& options) {
  if (!options.source_root.empty()) return options.source_root;
  const fs::path program = ExecutableOf(static_cast<uint32_t>(getpid()));
  return (program.parent_path() / "../share/vramscope/bridge").lexically_normal();
}

// Allows one builder at a time for each bridge; others wait here.
class BuildLock {
 public:
  explicit BuildLock(const fs::path& path) : fd_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    while (fd_ >= 0 && flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~BuildLock() {
    if (fd_ >= 0) close(fd_);
  }
  BuildLock(const BuildLock&) = delete;
  BuildLock& operator=(const BuildLock&) = delete;

 private:
  int fd_;
};

Error BuildFailed(const std::string& torch_version, const fs::path& log) {
  return Error{fmt::format(
      "The deep recorder cannot be built for torch {}: deep steps will have no operators. The compiler's "
      "output is in {}. The build is retried after an hour, or when you remove that file.",
      torch_version, log.string())};
}

bool FailedLately(const fs::path& log) {
  std::error_code failed;
  const fs::file_time_type written = fs::last_write_time(log, failed);
  return !failed && fs::file_time_type::clock::now() - written < kTryAgainAfter;
}

// Compiles into `library`, or writes the compiler's output to `log`. Each file appears complete or not at
// all, so an interrupted build is tried again.
bool Compile(const Plan& plan, const fs::path& library, const fs::path& log) {
  const std::string unfinished = library.string() + ".unfinished";
  const std::string words = log.string() + ".unfinished";
  std::vector<std::string> command = {plan.compiler};
  for (const auto* part : {&plan.flags, &plan.sources, &plan.libraries}) {
    command.insert(command.end(), part->begin(), part->end());
  }
  command.insert(command.end(), {"-o", unfinished});
  const bool done = RunTool(command, kCompilerLimit, words).ok();
  std::error_code ignored;
  if (!done) fs::rename(words, log, ignored);
  if (done) fs::remove(log, ignored);
  if (done) fs::rename(unfinished, library, ignored);
  fs::remove(done ? words : unfinished, ignored);
  return done && Exists(library);
}

// The files that determine the plan's key. While none of them changes, the plan need not be computed again,
// which would read torch's headers and start the compiler.
std::vector<std::string> WitnessesOf(const Plan& plan, const TorchLocation& torch,
                                     const fs::path& source_root, const fs::path& library) {
  const fs::path root = torch.root;
  std::vector<std::string> witnesses = {plan.compiler, library.string()};
  for (const char* file : {"version.py", "include/ATen/ATen.h", "lib/libtorch_cpu.so", "lib/libc10.so"}) {
    witnesses.push_back((root / file).string());
  }
  for (const char* header : kLayoutHeaders) witnesses.push_back((root / "include" / header).string());
  if (const Result<std::vector<fs::path>> files = BridgeFiles(source_root); files.ok()) {
    for (const fs::path& file : *files) witnesses.push_back(file.string());
  }
  return witnesses;
}

// Finds or builds the library of a plan.
Result<BridgeInfo> BuildPlan(const Plan& plan, const TorchLocation& torch, const fs::path& folder,
                             const BridgeOptions& options) {
  const fs::path library = folder / (plan.key + ".so");
  const fs::path log = folder / (plan.key + ".log");
  BridgeInfo info{library.string(), torch.version, torch.root, false};
  if (Exists(library)) return info;
  if (FailedLately(log)) return BuildFailed(torch.version, log);

  if (options.progress)
    options.progress(
        fmt::format("Building the deep recorder for torch {} once; this takes about 10 s.", torch.version));
  const BuildLock lock(folder / (plan.key + ".lock"));
  if (Exists(library)) return info;  // another process has built it meanwhile
  if (!Compile(plan, library, log)) return BuildFailed(torch.version, log);
  info.built = true;
  return info;
}

}  // namespace

Result<BridgeInfo> EnsureBridge(std::span<const std::string> command, const BridgeOptions& options) {
  const Result<fs::path> folder = CacheFolder(options);
  const std::string memory = folder.ok() ? folder->string() : std::string();
  const Result<TorchLocation> torch = FindTorch(command, memory);
  if (!torch.ok()) return Error{torch.error().sentence + " Deep steps will have no operators."};

  const Result<std::string> compiler = FindCompiler();
  const fs::path source_root = SourceRoot(options);
  const std::string question = fmt::format("which bridge fits {} by {} from {}", torch->root,
                                           compiler.ok() ? *compiler : "", source_root.string());
  if (const auto library = RecallAnswer(memory, question))
    return BridgeInfo{*library, torch->version, torch->root, false};

  // Reported now: a user who starts a run of hours wants to know before it begins.
  const auto missing = [&options](const Error& error) -> Result<BridgeInfo> {
    if (options.progress) options.progress(error.sentence);
    return error;
  };
  const Result<Plan> plan = MakePlan(*torch, source_root);
  if (!plan.ok()) return missing(plan.error());
  if (!folder.ok()) return missing(folder.error());
  Result<BridgeInfo> bridge = BuildPlan(*plan, *torch, *folder, options);
  if (!bridge.ok()) return missing(bridge.error());
  KeepAnswer(memory, question, bridge->path, WitnessesOf(*plan, *torch, source_root, bridge->path));
  return bridge;
}

}  // namespace vramscope::collector
