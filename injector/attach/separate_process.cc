// SPDX-License-Identifier: Apache-2.0
#include "injector/attach/separate_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace vramscope::attach {
namespace {

constexpr int kLookEveryMs = 20;  // how often it checks for cancellation
constexpr int kPromptlyMs = 200;  // how long the command waits for the child after its answer
constexpr size_t kMostSentence = 2048;

// The content of the socket, as one message.
struct Message {
  Injected injected;
  bool ok = false;
  char sentence[kMostSentence] = {};
};

// The child must not hold what other processes wait for: a pipe that is read to its end, the lock of the
// trace.
void KeepOnly(int socket) {
  const int nothing = open("/dev/null", O_RDWR);
  for (int standard = 0; standard <= 2; ++standard) dup2(nothing, standard);
  dup2(socket, 3);
  if (syscall(SYS_close_range, 4U, ~0U, 0U) == 0) return;
  const long most = std::min(sysconf(_SC_OPEN_MAX), 65536L);
  for (int descriptor = 4; descriptor < most; ++descriptor) close(descriptor);
}

[[noreturn]] void EnterAndEnd(int socket, const std::function<void(const Command&)>& enter) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  setsid();  // a signal to the command's process group is not for us
  prctl(PR_SET_NAME, "attach-entering");
  KeepOnly(socket);
  enter(Command(3));
  _exit(0);
}

// False if the child ended without an answer.
bool WaitForAnswer(int socket, const std::atomic<bool>* canceled, Message& message) {
  for (;;) {
    pollfd event = {socket, POLLIN, 0};
    const int ready = poll(&event, 1, kLookEveryMs);
    if (canceled != nullptr && canceled->load()) shutdown(socket, SHUT_WR);
    if (ready <= 0) continue;
    const ssize_t got = recv(socket, &message, sizeof message, 0);
    if (got < 0 && errno == EINTR) continue;
    return got == static_cast<ssize_t>(sizeof message);
  }
}

void WaitAWhile(pid_t child) {
  constexpr timespec kNap = {0, 1'000'000};
  for (int waited = 0; waited < kPromptlyMs && waitpid(child, nullptr, WNOHANG) == 0; ++waited)
    nanosleep(&kNap, nullptr);
}

}  // namespace

bool Command::WantsToStop() const {
  pollfd event = {socket_, POLLIN | POLLRDHUP, 0};
  return poll(&event, 1, 0) > 0;
}

void Command::Answer(const Result<Injected>& answer) const {
  Message message;
  message.ok = answer.ok();
  if (answer.ok()) {
    message.injected = *answer;
  } else {
    const std::string& sentence = answer.error().sentence;
    std::memcpy(message.sentence, sentence.c_str(), std::min(sentence.size(), kMostSentence - 1));
  }
  send(socket_, &message, sizeof message, MSG_NOSIGNAL);
}

Result<Injected> InSeparateProcess(const std::atomic<bool>* canceled,
                                   const std::function<void(const Command&)>& enter) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return Error{"vramscope cannot open a socket (" + std::string(std::strerror(errno)) +
                 "). Close some files and try again."};
  const pid_t child = fork();
  if (child == 0) EnterAndEnd(ends[1], enter);
  const int why = errno;
  close(ends[1]);
  Message message;
  const bool answered = child > 0 && WaitForAnswer(ends[0], canceled, message);
  close(ends[0]);
  if (child < 0)
    return Error{"vramscope cannot start the process that enters the program (" +
                 std::string(std::strerror(why)) + "). Try again."};
  WaitAWhile(child);
  if (!answered)
    return Error{"The process of vramscope that enters the program was ended by somebody. Try again."};
  if (!message.ok) return Error{message.sentence};
  return message.injected;
}

}  // namespace vramscope::attach
