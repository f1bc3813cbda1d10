// SPDX-License-Identifier: Apache-2.0
// Oracles: a fake torch and compiler (shell scripts) for the rules, and a real torch (VRAMSCOPE_TEST_PYTHON:
// a Python that has one) for the build and for the tests of the bridge itself, which are in Python
// (injector/torch/bridge/testing).
#include "profiler/collector/launch/bridge_build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "profiler/collector/launch/tool_run.h"
#include "profiler/collector/launch/torch_headers.h"
#include "profiler/collector/launch/torch_location.h"

namespace vramscope::collector {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// sha256sum of the eight layout headers, each of which is "x".
constexpr char kLayoutOfMadeUpTorch[] = "4cf0c1012276f46af31e44d2fbb03ae7af56f03c9996eb9452b99b3e6273698e";

std::string Read(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Sets a variable of this process's environment for one test.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* previous = std::getenv(name)) previous_ = previous;
    setenv(name, value.c_str(), 1);
  }
  ~ScopedVariable() {
    if (previous_) {
      setenv(name_, previous_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> previous_;
};

// A folder with a fake torch (only files), a Python that finds it, and a compiler that counts its runs.
class MadeUpTorch : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "vramscope-bridge-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    for (const char* file :
         {"include/ATen/ATen.h", "include/ATen/record_function.h", "lib/libtorch_cpu.so", "lib/libc10.so"}) {
      Write(fs::path("torch") / file, "x");
    }
    Write("torch/version.py", "from typing import Optional\n__version__ = '2.99.1+cu1'\n");
    Program("bin/python3",
            "#!/bin/sh\necho noise\necho vramscope-package:" + folder_.string() + "/torch/__init__.py\n");
    Program("bin/cxx", "#!/bin/sh\n[ \"$1\" = --version ] && echo cxx 1 && exit\necho run >> " +
                           (folder_ / "runs").string() +
                           "\nfor last; do :; done\necho compiled > \"$last\"\n");
    cxx_.emplace("CXX", (folder_ / "bin/cxx").string());
    options_ = {
        .source_root = VRAMSCOPE_SOURCE_DIR, .cache_folder = (folder_ / "cache").string(), .progress = {}};
  }
  void TearDown() override { fs::remove_all(folder_); }

  void Write(const fs::path& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  std::string Program(const fs::path& name, const std::string& text) {
    Write(name, text);
    fs::permissions(folder_ / name, fs::perms::owner_all);
    return (folder_ / name).string();
  }
  std::string Python() const { return (folder_ / "bin/python3").string(); }
  // The result of FindTorch; empty if it finds none.
  static std::string Found(const std::vector<std::string>& command) {
    const Result<TorchLocation> found = FindTorch(command);
    return found.ok() ? found->root : "";
  }
  std::string Torch() const { return (folder_ / "torch").string(); }

  fs::path folder_;
  std::optional<ScopedVariable> cxx_;
  BridgeOptions options_;
};

TEST_F(MadeUpTorch, IsFoundThroughThePythonThatTheCommandNames) {
  const Result<TorchLocation> found = FindTorch(std::vector<std::string>{Python(), "train.py"});
  ASSERT_TRUE(found.ok()) << found.error().sentence;
  EXPECT_EQ(found->root, Torch());
  EXPECT_EQ(found->version, "2.99.1+cu1");
}

TEST_F(MadeUpTorch, IsFoundThroughScriptsAndProgramsInFrontOfPython) {
  EXPECT_EQ(Found({Program("bin/torchrun", "#!" + Python() + "\nimport torch\n"), "train.py"}), Torch());
  EXPECT_EQ(Found({Program("bin/long", "#!/bin/sh\n'''exec' \"" + Python() + "\" \"$0\" \"$@\"\n' '''\n")}),
            Torch());
  EXPECT_EQ(Found({"env", "-u", "A", "B=1", Python(), "train.py"}), Torch());
  EXPECT_EQ(Found({"nice", "-n", "5", Python(), "train.py"}), Torch());
  EXPECT_EQ(Found({"nice", "env", "B=1", (folder_ / "bin/torchrun").string()}), Torch());
}

TEST_F(MadeUpTorch, IsFoundThroughPathForShellScripts) {
  const ScopedVariable path("PATH", (folder_ / "bin").string() + ":/usr/bin:/bin");
  EXPECT_EQ(Found({Program("run", "#!/bin/bash\npython3 train.py\n")}), Torch());
  EXPECT_EQ(Found({"bash", "-c", "python3 train.py"}), Torch());
  EXPECT_EQ(Found({Program("by_env", "#!/usr/bin/env python3\n")}), Torch());
  EXPECT_EQ(Found({"ls", "-l"}), "");
}

TEST_F(MadeUpTorch, IsBuiltForOnceAndThenTakenFromTheCache) {
  std::vector<std::string> said;
  options_.progress = [&said](const std::string& sentence) { said.push_back(sentence); };
  const std::vector<std::string> command = {Python(), "train.py"};
  const Result<BridgeInfo> first = EnsureBridge(command, options_);
  ASSERT_TRUE(first.ok()) << first.error().sentence;
  EXPECT_TRUE(first->built);
  EXPECT_THAT(fs::path(first->path).filename().string(), StartsWith("torch-2.99.1-"));
  EXPECT_EQ(Read(first->path), "compiled\n");
  const Result<BridgeInfo> second = EnsureBridge(command, options_);
  ASSERT_TRUE(second.ok()) << second.error().sentence;
  EXPECT_FALSE(second->built);
  EXPECT_EQ(second->path, first->path);
  EXPECT_EQ(Read(folder_ / "runs"), "run\n");
  EXPECT_THAT(said, ::testing::ElementsAre(HasSubstr("for torch 2.99.1+cu1 once")));
}

TEST_F(MadeUpTorch, IsBuiltForAgainWhenItsHeadersOrItsStringAbiChange) {
  const std::vector<std::string> command = {Python()};
  const std::string first = EnsureBridge(command, options_).value().path;
  Write("torch/include/c10/core/TensorImpl.h", "another layout");
  const std::string second = EnsureBridge(command, options_).value().path;
  Write("torch/lib/libc10.so", "_ZN3c105ErrorC1ENS_14SourceLocationENSt7__cxx11");
  const std::string third = EnsureBridge(command, options_).value().path;
  EXPECT_NE(first, second);
  EXPECT_NE(second, third);
}

TEST_F(MadeUpTorch, IsRecognizedInTheProcessByTheSizeOfItsLibrary) {
  const std::vector<std::string> command = {Python()};
  EXPECT_EQ(EnsureBridge(command, options_).value().torch_bytes, 1);
  Write("torch/lib/libtorch_cpu.so", "another build");
  EXPECT_EQ(EnsureBridge(command, options_).value().torch_bytes, 13);
}

TEST_F(MadeUpTorch, NeedsNoCompilerIfItsBridgeIsPrebuilt) {
  for (const char* header : kLayoutHeaders) Write(fs::path("torch/include") / header, "x");
  Write("bridges/prebuilt.so", "");
  Write("bridges/index.txt", "2.99.1 old " + std::string(kLayoutOfMadeUpTorch) + " prebuilt.so\n");
  options_.prebuilt_folder = (folder_ / "bridges").string();
  const std::vector<std::string> command = {Python()};
  for (int i = 0; i < 2; ++i) {  // found, then remembered
    const Result<BridgeInfo> bridge = EnsureBridge(command, options_);
    ASSERT_TRUE(bridge.ok()) << bridge.error().sentence;
    EXPECT_EQ(bridge->path, (folder_ / "bridges/prebuilt.so").string());
    EXPECT_EQ(bridge->torch_bytes, 1);
  }
  EXPECT_FALSE(fs::exists(folder_ / "runs"));
  Write("torch/include/c10/core/TensorImpl.h", "another layout");
  EXPECT_THAT(EnsureBridge(command, options_).value().path, HasSubstr("cache/torch-2.99.1-"));
}

TEST_F(MadeUpTorch, IsNotTriedAgainAfterAFailedBuildUntilTheLogIsRemoved) {
  Program("bin/cxx", "#!/bin/sh\n[ \"$1\" = --version ] && exit\necho run >> " + (folder_ / "runs").string() +
                         "\necho no such header >&2\nexit 1\n");
  const std::vector<std::string> command = {Python()};
  const Result<BridgeInfo> first = EnsureBridge(command, options_);
  ASSERT_FALSE(first.ok());
  ASSERT_FALSE(EnsureBridge(command, options_).ok());
  EXPECT_EQ(Read(folder_ / "runs"), "run\n");
  const size_t end = first.error().sentence.find(".log") + 4;
  const size_t begin = first.error().sentence.rfind(' ', end) + 1;
  const fs::path log = first.error().sentence.substr(begin, end - begin);
  EXPECT_EQ(Read(log), "no such header\n");
  fs::remove(log);
  ASSERT_FALSE(EnsureBridge(command, options_).ok());
  EXPECT_EQ(Read(folder_ / "runs"), "run\nrun\n");
}

TEST_F(MadeUpTorch, WhatIsMissingIsNamed) {
  fs::remove_all(folder_ / "torch/include");
  EXPECT_THAT(EnsureBridge(std::vector<std::string>{Python()}, options_).error().sentence,
              HasSubstr("include/ATen/record_function.h"));
  Program("bin/python3", "#!/bin/sh\necho\n");
  EXPECT_THAT(EnsureBridge(std::vector<std::string>{Python()}, options_).error().sentence,
              HasSubstr("has no torch"));
  const ScopedVariable compiler("CXX", "");
  const ScopedVariable path("PATH", (folder_ / "empty").string());
  Program("bin/python3", "#!/bin/sh\necho vramscope-package:" + Torch() + "/__init__.py\n");
  Write("torch/include/ATen/record_function.h", "x");
  EXPECT_THAT(EnsureBridge(std::vector<std::string>{Python()}, options_).error().sentence,
              HasSubstr("no C++ compiler"));
}

TEST(ToolRunTest, AProgramThatHangsIsEnded) {
  EXPECT_THAT(RunTool({"/bin/sleep", "60"}, std::chrono::milliseconds(50)).error().sentence,
              HasSubstr("did not answer"));
}

// A real torch.
class RealTorch : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* python = std::getenv("VRAMSCOPE_TEST_PYTHON");
    if (python == nullptr || *python == '\0')
      GTEST_SKIP() << "VRAMSCOPE_TEST_PYTHON names no Python with torch";
    python_ = python;
    // Kept between runs of the tests: a build takes 8 s.
    options_ = {.source_root = VRAMSCOPE_SOURCE_DIR,
                .cache_folder = VRAMSCOPE_BINARY_DIR "/bridge_cache",
                .progress = {}};
  }

  // Runs one file of Python tests with the stub host preloaded.
  void RunPythonTests(const std::string& name) {
    const Result<BridgeInfo> bridge = EnsureBridge(std::vector<std::string>{python_}, options_);
    ASSERT_TRUE(bridge.ok()) << bridge.error().sentence;
    const std::string stub = VRAMSCOPE_BINARY_DIR "/injector/torch/bridge/bridge_stub_host.so";
    const std::string log = VRAMSCOPE_BINARY_DIR "/bridge_cache/" + name + ".log";
    const Result<std::string> run =
        RunTool({"/usr/bin/env", "LD_PRELOAD=" + stub, "VRAMSCOPE_TEST_STUB=" + stub,
                 "VRAMSCOPE_TEST_BRIDGE=" + bridge->path, "PYTHONDONTWRITEBYTECODE=1", "OMP_NUM_THREADS=1",
                 python_, "-W", "ignore", VRAMSCOPE_SOURCE_DIR "/injector/torch/bridge/testing/" + name},
                std::chrono::minutes(4), log);
    EXPECT_TRUE(run.ok()) << run.error().sentence << "\n" << Read(log);
  }

  std::string python_;
  BridgeOptions options_;
};

TEST_F(RealTorch, RecordsWhatTorchProfilerSees) { RunPythonTests("bridge_test.py"); }

TEST_F(RealTorch, IsUndisturbedByTheBridge) { RunPythonTests("undisturbed_test.py"); }

TEST_F(RealTorch, IsFoundThroughTheLibrariesOfACppProgram) {
  const Result<TorchLocation> torch = FindTorch(std::vector<std::string>{python_});
  ASSERT_TRUE(torch.ok()) << torch.error().sentence;
  const fs::path folder = VRAMSCOPE_BINARY_DIR "/bridge_cache";
  fs::create_directories(folder);
  std::ofstream(folder / "linked.cc") << "int main() {}\n";
  const std::string program = (folder / "linked").string();
  const Result<std::string> built =
      RunTool({"/usr/bin/env", "c++", (folder / "linked.cc").string(), "-o", program, "-Wl,--no-as-needed",
               torch->root + "/lib/libtorch_cpu.so", "-Wl,--allow-shlib-undefined",
               "-Wl,-rpath," + torch->root + "/lib"},
              std::chrono::minutes(1));
  ASSERT_TRUE(built.ok()) << built.error().sentence;
  EXPECT_EQ(FindTorch(std::vector<std::string>{program}).value().root, torch->root);
  EXPECT_EQ(FindTorch(std::vector<std::string>{"nice", program}).value().root, torch->root);
}

}  // namespace
}  // namespace vramscope::collector
