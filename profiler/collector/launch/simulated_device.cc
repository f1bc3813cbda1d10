// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/launch/simulated_device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <regex>

#include "profiler/collector/launch/torch_location.h"
#include "profiler/collector/output/whole_file.h"
#include "profiler/collector/target/process_facts.h"

namespace vramscope::collector {
namespace {

namespace fs = std::filesystem;

constexpr int kOldestCuda = 12;
constexpr int kMostDevices = 16;  // of the simulated driver (injector/simulated_cuda/device/settings.h)
constexpr char kInstall[] =
    "Install PyTorch with CUDA; it needs neither a GPU nor the nvidia packages: pip install --no-deps torch";

// "cuda: Optional[str] = '13.2'" in version.py of a wheel, "2.6.0+cu124" in the build-version of a LibTorch
// archive; 0 = neither contains it.
int MajorInFiles(const fs::path& root) {
  std::smatch found;
  const std::string python = ReadWhole(root / "version.py");
  if (std::regex_search(python, found, std::regex(R"(cuda\s*(?::[^=\n]*)?=\s*'(\d+)\.)")))
    return std::stoi(found[1]);
  const std::string archive = ReadWhole(root / "build-version");
  if (std::regex_search(archive, found, std::regex(R"(\+cu(\d+)\d)"))) return std::stoi(found[1]);
  return 0;
}

// The driver comes first: the others look for it at their first call.
std::vector<std::string> Libraries(const fs::path& folder) {
  std::vector<std::string> paths;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  std::stable_partition(paths.begin(), paths.end(),
                        [](const std::string& path) { return path.ends_with("/libcuda.so.1"); });
  return paths;
}

// The wheel of TensorFlow states the release in tensorflow/python/platform/build_info.py:
// ('cuda_version', '12.5.1').
Result<int> CudaMajorOfTensorFlow(const std::string& root) {
  const std::string text = ReadWhole(fs::path(root) / "python/platform/build_info.py");
  std::smatch found;
  if (!std::regex_search(text, found, std::regex(R"('cuda_version', '(\d+)\.)")))
    return Error{
        fmt::format("The TensorFlow in {} has no CUDA code. Install the wheel for Linux from PyPI: pip "
                    "install tensorflow",
                    root)};
  return std::stoi(found[1]);
}

// For each CUDA release, JAX's GPU code is a separate package, which JAX finds by name.
Result<int> CudaMajorOfJax(std::span<const std::string> command, const std::string& root) {
  for (const int major : {13, 12}) {
    if (FindPackage(command, fmt::format("jax_plugins.xla_cuda{}", major)).ok()) return major;
  }
  return Error{
      fmt::format("The JAX in {} has no CUDA plug-in. Install it; it needs no GPU: pip install --no-deps "
                  "jax-cuda13-plugin jax-cuda13-pjrt, and pip install nvidia-cuda-nvcc nvidia-nvvm",
                  root)};
}

// The plug-in's wheel names the oldest cuDNN that it accepts: "nvidia-cudnn-cu13<10.0,>=9.12.0.46".
std::string CudnnOfJax(const fs::path& packages, int cuda_major) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(packages, ignored)) {
    if (!entry.path().filename().string().starts_with(fmt::format("jax_cuda{}_plugin-", cuda_major)))
      continue;
    const std::string text = ReadWhole(entry.path() / "METADATA");
    std::smatch found;
    if (std::regex_search(text, found, std::regex(R"(nvidia-cudnn-cu\d+[^;\n]*>=(\d+)\.(\d+)\.(\d+))")))
      return std::to_string(std::stoi(found[1]) * 10000 + std::stoi(found[2]) * 100 + std::stoi(found[3]));
  }
  return {};
}

// The CUDA release that the command's framework was built for. PyTorch comes first: a program with several
// frameworks counts as a PyTorch program.
struct Framework {
  std::string name;
  std::string root;
  int cuda_major = 0;
  bool compiles_with_xla = false;
  std::string cudnn = {};  // "91200": the oldest release that it accepts; empty: the device chooses
};

Result<Framework> FrameworkOf(std::span<const std::string> command) {
  const Result<TorchLocation> torch = FindTorch(command);
  if (torch.ok()) return Framework{"PyTorch", torch->root, VRAMSCOPE_TRY(CudaMajorOf(torch->root))};
  if (const Result<std::string> root = FindPackage(command, "tensorflow"); root.ok())
    return Framework{"TensorFlow", *root, VRAMSCOPE_TRY(CudaMajorOfTensorFlow(*root)), true};
  if (const Result<std::string> root = FindPackage(command, "jax"); root.ok()) {
    const int major = VRAMSCOPE_TRY(CudaMajorOfJax(command, *root));
    return Framework{"JAX", *root, major, true, CudnnOfJax(fs::path(*root).parent_path(), major)};
  }
  return Error{fmt::format("{} {}", torch.error().sentence, kInstall)};
}

// XLA records a compiled function's kernels to a CUDA graph and then updates that graph, which the simulated
// device cannot do. Without graphs XLA launches the kernels one by one, and uses the same memory.
//
// In TensorFlow, XLA's threads try algorithms for several operators at a time, in memory of the program's
// allocator. How many meet is chance: one small model had peaks of 84 to 152 MiB. So one thread compiles.
std::string XlaFlags(const Framework& framework) {
  std::string flags;
  if (const char* const already = std::getenv("XLA_FLAGS")) flags = std::string(already) + " ";
  flags += "--xla_gpu_enable_command_buffer=";
  if (framework.name == "TensorFlow") flags += " --xla_gpu_force_compilation_parallelism=1";
  return flags;
}

}  // namespace

Result<std::string> FindSimulatedCuda() {
  const fs::path program = ExecutableOf(static_cast<uint32_t>(getpid()));
  std::vector<std::string> looked;
  for (const char* place :
       {"../lib/vramscope/simulated_cuda", "../" VRAMSCOPE_LIBRARY_FOLDER "/vramscope/simulated_cuda"}) {
    const fs::path folder = (program.parent_path() / place).lexically_normal();
    if (Exists(folder / "gpus.def")) return folder.string();
    looked.push_back(folder.string());
  }
  return Error{fmt::format(
      "The simulated CUDA device is missing; looked for {}. Build or install vramscope completely.",
      fmt::join(looked, ", "))};
}

Result<std::vector<GpuModel>> ListGpus(const std::string& folder) {
  std::vector<GpuModel> models = ParseGpus(ReadWhole(folder + "/gpus.def"));
  if (models.empty()) return Error{fmt::format("{}/gpus.def lists no GPU. Reinstall vramscope.", folder)};
  return models;
}

bool UsesTensorFlow(std::span<const std::string> command) {
  const Result<Framework> framework = FrameworkOf(command);
  return framework.ok() && framework->name == "TensorFlow";
}

bool UsesJax(std::span<const std::string> command) {
  const Result<Framework> framework = FrameworkOf(command);
  return framework.ok() && framework->name == "JAX";
}

Result<int> CudaMajorOf(const std::string& root) {
  const fs::path lib = fs::path(root) / "lib";
  if (Exists(lib / "libtorch_hip.so"))
    return Error{fmt::format("The PyTorch in {} is built for ROCm. {}", root, kInstall)};
  if (!Exists(lib / "libtorch_cuda.so"))
    return Error{fmt::format("The PyTorch in {} has no CUDA code. {}", root, kInstall)};
  const int major = MajorInFiles(root);
  if (major == 0)
    return Error{fmt::format("The PyTorch in {} does not state which CUDA version it is built for. {}", root,
                             kInstall)};
  if (major < kOldestCuda) {
    return Error{
        fmt::format("The PyTorch in {} is built for CUDA {}; the simulated device supports CUDA 12 and 13. "
                    "Install PyTorch 2.4 or newer.",
                    root, major)};
  }
  return major;
}

Result<std::map<std::string, std::string>> SimulatedEnvironment(const std::string& folder,
                                                                std::span<const std::string> command,
                                                                const SimulatedDevice& device) {
  const Framework framework = VRAMSCOPE_TRY(FrameworkOf(command));
  if (device.devices > kMostDevices)
    return Error{
        fmt::format("A {0} process gets at most {1} simulated GPUs. For one rank of a job of {2}: --gpu {3} "
                    "--world-size {2}",
                    framework.name, kMostDevices, device.devices, device.gpu.name)};
  const std::vector<std::string> libraries =
      Libraries(fs::path(folder) / fmt::format("cuda{}", framework.cuda_major));
  if (libraries.empty()) {
    return Error{fmt::format("The {} in {} is built for CUDA {}, which this vramscope does not support yet.",
                             framework.name, framework.root, framework.cuda_major)};
  }
  std::map<std::string, std::string> environment = {
      {"LD_PRELOAD", fmt::format("{}", fmt::join(libraries, ":"))},
      {"PATH", (fs::path(folder) / "bin").string()},  // nvidia-smi
      {"VRAMSCOPE_SIMULATED_GPU", fmt::format("{}:{}", device.gpu.name, device.devices)},
      // Without this variable Triton searches for the driver with ldconfig.
      {"TRITON_LIBCUDA_PATH", fs::path(libraries.front()).parent_path().string()},
      // PyTorch keeps kernels compiled by NVRTC in the user's home; those from the simulation would not run
      // on a GPU.
      {"USE_PYTORCH_KERNEL_CACHE", "0"},
  };
  if (!device.gpu.description.empty())
    environment["VRAMSCOPE_SIMULATED_GPU_DESCRIPTION"] = device.gpu.description;
  if (device.capacity_bytes != 0)
    environment["VRAMSCOPE_SIMULATED_CAPACITY"] = std::to_string(device.capacity_bytes);
  if (framework.compiles_with_xla) environment["XLA_FLAGS"] = XlaFlags(framework);
  if (framework.name == "TensorFlow") environment["VRAMSCOPE_SIMULATED_LATE"] = "1";
  if (!framework.cudnn.empty()) environment["VRAMSCOPE_SIMULATED_CUDNN"] = framework.cudnn;
  if (!device.ledger.empty()) environment["VRAMSCOPE_SIMULATED_LEDGER"] = device.ledger;
  return environment;
}

}  // namespace vramscope::collector
