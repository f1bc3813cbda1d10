// SPDX-License-Identifier: Apache-2.0
// Runs an injection in its own process, which outlives the command.
//
// If the tracer ends during an injection, the kernel does not restore the target's registers. After `kill -9`
// of the command, the program would die at its next malloc (SIGTRAP) or in the call (SIGSEGV).
//
//   vramscope attach              injecting process: own session, no terminal, no files, all signals blocked
//   ──────────────────────────────────────────────────────────────────────────────────────────────────────
//   fork ───────────────────────► waits for a safe point, makes the call, puts the thread back
//   waits for the answer ◄─────── answer
//   goes on                       releases threads that do not stop at once, ends
//
//   killed, or canceled ────────► its socket is closed. Nothing called yet: it gives up. Otherwise it lets
//                                 the call complete. Either way it puts everything back.
#pragma once

#include <atomic>
#include <functional>

#include "injector/attach/inject.h"

namespace vramscope::attach {

// The injecting process's end of the socket.
class Command {
 public:
  explicit Command(int socket) : socket_(socket) {}
  // True if the command has ended or has canceled the injection.
  [[nodiscard]] bool WantsToStop() const;
  // Sends the answer; does nothing if the command is gone.
  void Answer(const Result<Injected>& answer) const;

 private:
  int socket_;
};

// Calls `enter` in a child process; returns what `enter` passed to Command::Answer(). `enter` returns when
// the target is restored. An error if no process can be created, or the child ended without an answer.
// `canceled` may be nullptr. Waits a short time for the child to end. A slower child runs on alone.
Result<Injected> InSeparateProcess(const std::atomic<bool>* canceled,
                                   const std::function<void(const Command&)>& enter);

}  // namespace vramscope::attach
