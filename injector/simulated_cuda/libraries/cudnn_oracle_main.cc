// SPDX-License-Identifier: Apache-2.0
// vramscope-cudnn-oracle LIBCUDNN DEVICE-JSON: answers questions about cuDNN's plans on standard input, which
// is a socket. It ends when the other end is closed.
//
// The real cuDNN and its CUDA libraries must never be in the process whose CUDA libraries are simulated. It
// first writes its cuDNN version (i64, 0: none). Then, for each question (cudnn_message.h), it writes cuDNN's
// status (i32) and the answer.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstring>

#include "injector/simulated_cuda/libraries/cudnn_message.h"
#include "injector/simulated_cuda/libraries/cudnn_real.h"

using namespace vramscope::simulated::cudnn;

namespace {

constexpr int kPipe = STDIN_FILENO;
constexpr int kForEver = -1;

// Detaches from parent and terminal. A program that waits for all its children does not wait for us, and
// Ctrl-C does not reach us. Closes the open files of the program.
void Detach() {
  if (fork() > 0) _exit(0);
  setsid();
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing >= 0) {
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
  }
#ifdef SYS_close_range
  syscall(SYS_close_range, 3U, UINT_MAX, 0U);
#endif
}

template <typename Number>
std::string BytesOfNumber(Number value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

std::string AnswerTo(RealCudnn& cudnn, const std::string& text) {
  constexpr int kBadParameter = 2000;
  Descriptor* const question = ParseTree(text);
  if (question == nullptr) return BytesOfNumber(int32_t{kBadParameter});
  auto* const answer = new Descriptor(question->kind());
  const auto status = static_cast<int32_t>(cudnn.Finalize(*question, *answer));
  std::string bytes = BytesOfNumber(status) + TextOfAnswer(*answer);
  answer->Release();
  question->Release();
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    constexpr char kUsage[] =
        "vramscope-cudnn-oracle is started by vramscope's simulated cuDNN, not by hand.\n";
    return write(STDERR_FILENO, kUsage, sizeof(kUsage) - 1) < 0 ? 3 : 2;
  }
  Detach();
  size_t version = 0;
  RealCudnn cudnn(argv[1], argv[2], &version);
  if (!SendMessage(kPipe, BytesOfNumber(static_cast<int64_t>(version))) || version < kFirstDeviceless)
    return 0;
  std::string question;
  while (ReceiveMessage(kPipe, kForEver, &question)) {
    if (!SendMessage(kPipe, AnswerTo(cudnn, question))) return 0;
  }
  return 0;
}
