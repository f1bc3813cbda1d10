// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/launch/bridge_build.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "profiler/collector/launch/answer_cache.h"
#include "profiler/collector/launch/prebuilt_bridge.h"
#include "profiler/collector/launch/tool_run.h"
#include "profiler/collector/launch/torch_headers.h"
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
  VRAMSCOPE_TRY(CheckTorch(torch));
  std::string compiler = VRAMSCOPE_TRY(FindCompiler());
  std::vector<fs::path> files = VRAMSCOPE_TRY(BridgeFiles(source_root));

  const fs::path root = torch.root;
  Plan plan;
  plan.compiler = compiler;
  // NDEBUG: torch itself is built with it; without it, RecordFunction has an additional member. -w: the
  // warnings would be about torch's headers.
  plan.flags = {WantsCxx20(torch.root) ? "-std=c++20" : "-std=c++17",
                "-O1",
                "-g0",
                "-DNDEBUG",
                "-fPIC",
                "-shared",
                "-fvisibility=hidden",
                "-w",
                fmt::format("-D_GLIBCXX_USE_CXX11_ABI={}", UsesNewStringAbi(torch.root) ? 1 : 0),
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
  facts += LayoutText(torch.root);
  for (const fs::path& file : files) {
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
        fmt::format("{}: the deep recorder cannot be built in a folder with a semicolon in its name, so deep "
                    "steps will have no operators. Set XDG_CACHE_HOME to another folder.",
                    folder.string())};
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed)
    return Error{fmt::format("{} cannot be created: {}. Deep steps will have no operators.", folder.string(),
                             failed.message())};
  return folder;
}

// `given`, or the folder at `place` relative to this executable's.
fs::path PartOfInstallation(const std::string& given, const char* place) {
  if (!given.empty()) return given;
  const fs::path program = ExecutableOf(static_cast<uint32_t>(getpid()));
  return (program.parent_path() / place).lexically_normal();
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

// The files of a torch that determine which bridge fits it. While none of them changes, they need not be read
// again.
std::vector<std::string> TorchWitnesses(const fs::path& root) {
  std::vector<std::string> witnesses;
  for (const char* file : {"version.py", "include/ATen/ATen.h", "lib/libtorch_cpu.so", "lib/libc10.so"}) {
    witnesses.push_back((root / file).string());
  }
  for (const char* header : kLayoutHeaders) witnesses.push_back((root / "include" / header).string());
  return witnesses;
}

// The files that determine the plan's key. While none of them changes, the plan need not be computed again,
// which would read torch's headers and start the compiler.
std::vector<std::string> WitnessesOf(const Plan& plan, const TorchLocation& torch,
                                     const fs::path& source_root, const fs::path& library) {
  std::vector<std::string> witnesses = TorchWitnesses(torch.root);
  witnesses.insert(witnesses.end(), {plan.compiler, library.string()});
  if (const Result<std::vector<fs::path>> files = BridgeFiles(source_root); files.ok()) {
    for (const fs::path& file : *files) witnesses.push_back(file.string());
  }
  return witnesses;
}

// The library of a plan, from the cache or compiled now; `info` describes its torch.
Result<BridgeInfo> BuildPlan(const Plan& plan, BridgeInfo info, const fs::path& folder,
                             const BridgeOptions& options) {
  const fs::path library = folder / (plan.key + ".so");
  const fs::path log = folder / (plan.key + ".log");
  info.path = library.string();
  if (Exists(library)) return info;
  if (FailedLately(log)) return BuildFailed(info.torch_version, log);

  if (options.progress)
    options.progress(fmt::format("Building the deep recorder for torch {} once; this takes about 10 s.",
                                 info.torch_version));
  const BuildLock lock(folder / (plan.key + ".lock"));
  if (Exists(library)) return info;  // another process has built it meanwhile
  if (!Compile(plan, library, log)) return BuildFailed(info.torch_version, log);
  info.built = true;
  return info;
}

// The prebuilt library for this torch. It is found once and then remembered in the folder `memory`.
std::optional<std::string> Prebuilt(const TorchLocation& torch, const BridgeOptions& options,
                                    const std::string& memory) {
  const fs::path folder = PartOfInstallation(options.prebuilt_folder, "../lib/vramscope/bridges");
  const fs::path index = folder / "index.txt";
  if (!Exists(index)) return {};
  const std::string question = fmt::format("which bridge in {} fits {}", folder.string(), torch.root);
  if (auto known = RecallAnswer(memory, question)) return known;
  const auto found = FindPrebuiltBridge(torch, folder.string());
  if (!found) return {};
  std::vector<std::string> witnesses = TorchWitnesses(torch.root);
  witnesses.insert(witnesses.end(), {index.string(), *found});
  KeepAnswer(memory, question, *found, witnesses);
  return found;
}

}  // namespace

Result<BridgeInfo> EnsureBridge(std::span<const std::string> command, const BridgeOptions& options) {
  const Result<fs::path> folder = CacheFolder(options);
  const std::string memory = folder.ok() ? folder->string() : std::string();
  const Result<TorchLocation> torch = FindTorch(command, memory);
  if (!torch.ok()) return Error{torch.error().sentence + " Deep steps will have no operators."};

  BridgeInfo info{{}, torch->version, torch->root, TorchLibraryBytes(torch->root), false};
  if (info.torch_bytes != 0) {
    if (const auto prebuilt = Prebuilt(*torch, options, memory)) {
      info.path = *prebuilt;
      return info;
    }
  }
  const Result<std::string> compiler = FindCompiler();
  const fs::path source_root = PartOfInstallation(options.source_root, "../share/vramscope/bridge");
  const std::string question = fmt::format("which bridge fits {} by {} from {}", torch->root,
                                           compiler.ok() ? *compiler : "", source_root.string());
  if (const auto library = RecallAnswer(memory, question)) {
    info.path = *library;
    return info;
  }

  // Reported now: a user who starts a run of hours wants to know before it begins.
  const auto missing = [&options](const Error& error) -> Result<BridgeInfo> {
    if (options.progress) options.progress(error.sentence);
    return error;
  };
  const Result<Plan> plan = MakePlan(*torch, source_root);
  if (!plan.ok()) return missing(plan.error());
  if (!folder.ok()) return missing(folder.error());
  Result<BridgeInfo> bridge = BuildPlan(*plan, info, *folder, options);
  if (!bridge.ok()) return missing(bridge.error());
  KeepAnswer(memory, question, bridge->path, WitnessesOf(*plan, *torch, source_root, bridge->path));
  return bridge;
}

}  // namespace vramscope::collector
