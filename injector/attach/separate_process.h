// SPDX-License-Identifier: Apache-2.0
// Runs an injection in a separate process. An injection is a function call that `vramscope attach` makes
// inside the target program.
//
// The separate process continues if the command is killed. If the tracer of a program ends during an
// injection, the kernel does not restore the program's registers. The program would then die at its next
// malloc (SIGTRAP) or in the injected call (SIGSEGV).
//
//   vramscope attach              injecting process: own session, no terminal, no files, all signals blocked
//   ──────────────────────────────────────────────────────────────────────────────────────────────────────
//   fork ───────────────────────► waits for a safe point, makes the call, restores the thread
//   waits for the answer ◄─────── answer
//   continues                     releases threads that do not stop at once, ends
//
//   killed, or canceled ────────► sees that the socket was closed. If the call has not begun, the injecting
//                                 process gives up; otherwise it lets the call complete. In both cases it
//                                 restores the target.
#pragma once

#include <atomic>
#include <functional>

#include "injector/attach/inject.h"

namespace vramscope::attach {

// The injecting process's end of the socket to the command (`vramscope attach`).
class Command {
 public:
  explicit Command(int socket) : socket_(socket) {}
  // True if the command has ended or has canceled the injection.
  [[nodiscard]] bool WantsToStop() const;
  // Sends the answer; does nothing if the command has ended.
  void Answer(const Result<Injected>& answer) const;

 private:
  int socket_;
};

// Calls `enter` in a child process; returns what `enter` passed to Command::Answer(). `enter` must return
// only after it has restored the target. Returns an error if no process can be created, or if the child ended
// without an answer. `canceled` may be nullptr. After the answer, waits at most 200 ms for the child to end;
// a slower child continues without the caller.
Result<Injected> InSeparateProcess(const std::atomic<bool>* canceled,
                                   const std::function<void(const Command&)>& enter);

}  // namespace vramscope::attach
