// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/libraries/cudnn_oracle.h"

#include <dlfcn.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "injector/simulated_cuda/libraries/cudnn_device.h"
#include "injector/simulated_cuda/libraries/cudnn_message.h"
#include "injector/simulated_cuda/libraries/wheel_requirement.h"

namespace vramscope::simulated::cudnn {
namespace {

constexpr int kMostStarts = 3;  // an operation that crashes cuDNN costs its own answer, not all that follow
constexpr int kPatience = 60;   // seconds
constexpr int64_t kFirstDeviceless = 90800;

bool IsFile(const std::string& path) {
  struct stat found = {};
  return stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode);
}

std::string FolderOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

// Empty: there is none, or it must not be used.
std::string FindLibrary() {
  constexpr char kFile[] = "/libcudnn.so.9";
  if (const char* const asked = std::getenv("VRAMSCOPE_SIMULATED_CUDNN_LIBRARY")) {
    const std::string path = asked;
    return IsFile(path) ? path : IsFile(path + kFile) ? path + kFile : "";
  }
  const std::string beside_torch = SitePackages() + "/nvidia/cudnn/lib" + kFile;
  return IsFile(beside_torch) ? beside_torch : "";
}

// .../simulated_cuda/vramscope-cudnn-oracle, from .../simulated_cuda/cuda13/libcudnn.so.9.
std::string FindProgram() {
  Dl_info self = {};
  if (dladdr(reinterpret_cast<const void*>(&AskOracle), &self) == 0) return "";
  return FolderOf(FolderOf(self.dli_fname)) + "/vramscope-cudnn-oracle";
}

// cuDNN's own folder, and the wheels' folders of the libraries that it loads.
std::string LibraryPath(const std::string& library) {
  const std::string own = FolderOf(library);
  const std::string packages = FolderOf(FolderOf(own));
  std::string path = "LD_LIBRARY_PATH=" + own;
  for (const char* const sibling : {"/cu13/lib", "/cublas/lib", "/cuda_nvrtc/lib", "/cuda_runtime/lib"})
    path += ":" + packages + sibling;
  return path;
}

class Oracle {
 public:
  OracleAnswer Ask(const Descriptor& question) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::string text = TextOfQuestion(question);
    auto known = answers_.find(text);
    if (known == answers_.end()) {
      std::string answer;
      if (!Exchange(text, &answer)) return {};
      known = answers_.emplace(text, std::move(answer)).first;
    }
    return Parse(known->second);
  }

 private:
  static OracleAnswer Parse(const std::string& text) {
    OracleAnswer answer;
    int32_t status = 0;
    if (text.size() < sizeof(status)) return answer;
    std::memcpy(&status, text.data(), sizeof(status));
    answer.status = status;
    if (status == 0) answer.descriptor.reset(ParseTree(text.substr(sizeof(status))));
    answer.known = status != 0 || answer.descriptor != nullptr;
    return answer;
  }

  bool Exchange(const std::string& question, std::string* answer) {
    // The child of a fork shares the socket with its parent; both using it would mix up their answers.
    if (pipe_ >= 0 && owner_ != getpid()) Close();
    if (pipe_ < 0 && !Start()) return false;
    if (SendMessage(pipe_, question) && ReceiveMessage(pipe_, kPatience, answer)) return true;
    Close();
    return false;
  }

  bool Start() {
    if (owner_ != getpid()) starts_ = 0;
    owner_ = getpid();
    if (starts_ == kMostStarts) return false;
    ++starts_;
    const std::string library = FindLibrary();
    const std::string program = FindProgram();
    int64_t version = 0;
    std::string hello;
    if (library.empty() || !Spawn(program, library) || !ReceiveMessage(pipe_, kPatience, &hello) ||
        hello.size() != sizeof(version)) {
      Close();
      return false;
    }
    std::memcpy(&version, hello.data(), sizeof(version));
    if (version >= kFirstDeviceless) return true;
    starts_ = kMostStarts;  // a restart would find the same version
    Close();
    return false;
  }

  bool Spawn(const std::string& program, const std::string& library) {
    std::array<int, 2> ends = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return false;
    pipe_ = ends[0];
    std::string device = DeviceJson();
    std::string path = LibraryPath(library);
    std::array<char*, 4> arguments = {const_cast<char*>(program.c_str()), const_cast<char*>(library.c_str()),
                                      device.data(), nullptr};
    std::array<char*, 2> environment = {path.data(), nullptr};  // above all no LD_PRELOAD
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
    pid_t child = 0;
    const int failed =
        posix_spawn(&child, program.c_str(), &actions, nullptr, arguments.data(), environment.data());
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (failed == 0) waitpid(child, nullptr, 0);  // it goes on as a process of its own
    return failed == 0;
  }

  void Close() {
    if (pipe_ >= 0) close(pipe_);
    pipe_ = -1;
  }

  std::mutex mutex_;
  int pipe_ = -1;
  pid_t owner_ = 0;
  int starts_ = 0;
  std::map<std::string, std::string> answers_;
};

}  // namespace

OracleAnswer AskOracle(const Descriptor& question) {
  static auto* const oracle = new Oracle;  // never destroyed: threads may ask until the process ends
  return oracle->Ask(question);
}

}  // namespace vramscope::simulated::cudnn
