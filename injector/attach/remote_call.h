// SPDX-License-Identifier: Apache-2.0
// Makes one stopped thread of another process call functions, and restores its state afterwards.
//
// The class saves and restores the general registers, the signal mask, and the full extended state (x87, SSE,
// AVX, AMX). During the calls, all signals except faults stay pending.
//
//   saved rsp ──► │ the thread's own stack   │
//                 │ red zone, 128 bytes      │
//                 │ strings                  │ PushText
//                 │ return address 0         │ the return of the called function faults here
//   rsp of call ► │                          │
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "injector/attach/safe_point.h"
#include "injector/attach/tracee.h"
#include "trace_format/result.h"

namespace vramscope::attach {

std::optional<user_regs_struct> ReadRegisters(pid_t thread);

class RemoteCall {
 public:
  // `others_may_run` is called until the remote call returns. The function must let other stopped threads
  // continue: a stopped thread might hold a lock.
  RemoteCall(pid_t pid, Tracee& tracee, const LoaderLocks& locks, std::function<void()> others_may_run)
      : pid_(pid), tracee_(tracee), locks_(locks), others_may_run_(std::move(others_may_run)) {}

  // Saves the thread's state. Call Prepare() before all other functions.
  bool Prepare();
  // Copies a string below the thread's stack and returns its address.
  uint64_t PushText(const std::string& text);
  // Calls `function` with up to three integer arguments. Returns the function's result (register rax). If the
  // thread waits for the dynamic loader's lock, the call is aborted after some seconds.
  Result<uint64_t> Do(uint64_t function, std::initializer_list<uint64_t> arguments);
  void Restore();

 private:
  bool Begin(uint64_t function, std::initializer_list<uint64_t> arguments);
  Result<uint64_t> WaitForReturn();
  bool BreakOff();
  void ForgetCatchPoints();
  [[nodiscard]] Error Died() const;

  pid_t pid_;
  Tracee& tracee_;
  const LoaderLocks& locks_;
  std::function<void()> others_may_run_;
  bool prepared_ = false;
  user_regs_struct registers_ = {};
  std::vector<std::byte> extended_;
  uint64_t signals_ = 0;
  uint64_t stack_ = 0;                  // lowest address that we have used
  std::vector<uint64_t> thread_words_;  // the thread's control block and the words before it
};

}  // namespace vramscope::attach
