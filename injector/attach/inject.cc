// SPDX-License-Identifier: Apache-2.0
#include "injector/attach/inject.h"

#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <vector>

#include "injector/attach/process_view.h"
#include "injector/attach/remote_image.h"
#include "injector/attach/safe_point.h"
#include "injector/attach/separate_process.h"
#include "injector/attach/tracee.h"
#if defined(__x86_64__)
#include "injector/attach/remote_call.h"
#endif

namespace vramscope::attach {
#if defined(__x86_64__)
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kNextRound = std::chrono::milliseconds(5);
constexpr int kRtldNow = 2;
constexpr uint64_t kSmallestStack = 64 << 10;
constexpr size_t kMostText = 512;

void Nap() {
  constexpr timespec kNap = {0, 20'000};
  nanosleep(&kNap, nullptr);
}

class Attempt {
 public:
  Attempt(pid_t pid, const Injection& injection, const Command& command)
      : pid_(pid),
        injection_(injection),
        command_(command),
        mappings_(MappingsOf(pid)),
        locks_(pid, mappings_),
        entries_(MallocEntries(pid, mappings_)),
        open_(FunctionOfLoader("dlopen")),
        find_(FunctionOfLoader("dlsym")),
        why_(FunctionOfLoader("dlerror")) {}
  Result<Injected> Run();
  // Releases every thread. False while one is still traced because it does not stop (it is deep in the
  // kernel).
  bool LetGo();

 private:
  [[nodiscard]] Error Gone() const;
  [[nodiscard]] Error NoSafePoint() const;
  [[nodiscard]] uint64_t FunctionOfLoader(const char* name) const {
    return FindIn(pid_, mappings_, {"libc.so", "libc-2", "libdl.so", "libdl-2"}, name);
  }
  Status WatchMoreThreads();
  Result<Tracee*> WaitForSafePoint();
  bool IsSafe(Tracee& tracee);
  void LetOthersRun(const Tracee& ours);
  Result<Injected> CallIn(Tracee& tracee);

  pid_t pid_;
  const Injection& injection_;
  const Command& command_;
  std::vector<Mapping> mappings_;
  LoaderLocks locks_;
  std::vector<uint64_t> entries_;  // of malloc
  uint64_t open_;
  uint64_t find_;
  uint64_t why_;
  std::list<Tracee> tracees_;
  uint32_t watched_ = 0;
  bool loader_was_busy_ = false;
};

Error Attempt::Gone() const {
  std::string how;
  for (const Tracee& tracee : tracees_) {
    if (tracee.thread() != pid_ || !tracee.ending()) continue;
    const int status = *tracee.ending();
    how = WIFSIGNALED(status) ? " (signal " + std::to_string(WTERMSIG(status)) + ")"
                              : " (exit code " + std::to_string(WEXITSTATUS(status)) + ")";
  }
  return Error{"Process " + std::to_string(pid_) + " ended" + how + " before vramscope was in it."};
}

// Breakpoints for the threads that do not have them yet.
Status Attempt::WatchMoreThreads() {
  const std::vector<pid_t> threads = ThreadsToWatch(pid_);
  if (!Lives(pid_)) {
    for (Tracee& tracee : tracees_) tracee.Poll();  // how it ended
    return Gone();
  }
  for (const pid_t thread : threads) {
    Tracee* known = nullptr;
    for (Tracee& tracee : tracees_) {
      if (tracee.thread() == thread && !tracee.gone()) known = &tracee;
    }
    if (known == nullptr) {
      Tracee fresh(thread);
      if (!fresh.Seize()) {
        const int why = errno;
        if (why == ESRCH || !Lives(pid_)) continue;
        return Error{"The system does not let vramscope trace process " + std::to_string(pid_) + ": " +
                     std::strerror(why) + ". Run vramscope as the same user, or with CAP_SYS_PTRACE."};
      }
      known = &tracees_.emplace_back(fresh);
      ++watched_;
    }
    known->Poll();
    if (known->armed() || !known->Stop()) continue;
    if (!known->Arm(entries_)) {
      if (errno == ESRCH) continue;  // it has ended since
      return Error{"This machine has no hardware breakpoints (" + std::string(std::strerror(errno)) +
                   "), which vramscope needs to enter a running process. Start it under vramscope record."};
    }
    known->Continue();
  }
  return {};
}

// Decides whether a thread at a breakpoint may call dlopen. If not, its breakpoint is removed until the next
// round.
bool Attempt::IsSafe(Tracee& tracee) {
  const auto registers = ReadRegisters(tracee.thread());
  const bool busy = locks_.Held();
  loader_was_busy_ = loader_was_busy_ || busy;
  tracee.Disarm();
  if (registers && !busy && StackBelow(registers->rsp, mappings_) >= kSmallestStack) return true;
  mappings_ = MappingsOf(pid_);  // a stack may be younger than what we know
  if (registers && !busy && StackBelow(registers->rsp, mappings_) >= kSmallestStack) return true;
  tracee.Continue();
  return false;
}

Error Attempt::NoSafePoint() const {
  const std::string process = "Process " + std::to_string(pid_);
  if (command_.WantsToStop()) {
    return Error{process + ": not attached, as you asked. It runs on untouched."};
  }
  const std::string seconds =
      std::to_string(std::chrono::duration_cast<std::chrono::seconds>(injection_.patience).count());
  if (loader_was_busy_) {
    return Error{process + " has been loading a library for " + seconds +
                 " s, and nothing can be added meanwhile. Nothing was changed; try again when it is done."};
  }
  return Error{process + " did not allocate memory within " + seconds +
               " s, so there was no safe moment to enter it. Nothing was changed; try again when it works."};
}

Result<Tracee*> Attempt::WaitForSafePoint() {
  const auto deadline = Clock::now() + injection_.patience;
  auto next_round = Clock::now();
  while (Clock::now() < deadline && !command_.WantsToStop()) {
    if (Clock::now() >= next_round) {
      VRAMSCOPE_TRY(WatchMoreThreads());
      next_round = Clock::now() + kNextRound;
    }
    for (Tracee& tracee : tracees_) {
      if (!tracee.stopped() && !tracee.Poll()) continue;
      if (tracee.reason() == StopReason::kBreakpoint) {
        if (IsSafe(tracee)) return &tracee;
      } else {
        tracee.Continue();
      }
    }
    Nap();
  }
  return NoSafePoint();
}

// Lets all threads except ours go on: none may wait at a breakpoint, because it might hold a lock.
void Attempt::LetOthersRun(const Tracee& ours) {
  for (Tracee& tracee : tracees_) {
    if (&tracee == &ours || (!tracee.stopped() && !tracee.Poll())) continue;
    tracee.Disarm();
    tracee.Continue();
  }
}

Result<Injected> Attempt::CallIn(Tracee& tracee) {
  const auto began = Clock::now();
  RemoteCall call(pid_, tracee, locks_, [&] { LetOthersRun(tracee); });
  const auto finished = [&](Result<Injected> result) {
    call.Restore();
    tracee.Release();
    if (result.ok()) {
      result->stopped_ns = static_cast<uint64_t>(
          std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - began).count());
    }
    return result;
  };
  if (!call.Prepare())
    return finished(Error{"The state of process " + std::to_string(pid_) +
                          " cannot be saved: " + std::strerror(errno) + ". Nothing was changed."});
  const uint64_t library = call.PushText(injection_.library);
  const uint64_t argument = call.PushText(injection_.argument);

  const Result<uint64_t> handle = call.Do(open_, {library, kRtldNow});
  if (!handle.ok()) return finished(handle.error());
  if (*handle == 0) {
    const Result<uint64_t> text = call.Do(why_, {});
    return finished(Error{"The recorder cannot be loaded into process " + std::to_string(pid_) + ": " +
                          (text.ok() ? ReadText(pid_, *text, kMostText) : "no reason given") + "."});
  }
  const Result<uint64_t> entry = call.Do(find_, {*handle, call.PushText(injection_.entry)});
  if (!entry.ok()) return finished(entry.error());
  if (*entry == 0) {
    return finished(Error{"Process " + std::to_string(pid_) + " has loaded " + injection_.library +
                          ", but it is not the recorder of this vramscope. Install vramscope anew."});
  }
  const Result<uint64_t> result = call.Do(*entry, {argument});
  if (!result.ok()) return finished(result.error());
  return finished(Injected{static_cast<int32_t>(*result), 0, watched_});
}

bool Attempt::LetGo() {
  for (Tracee& tracee : tracees_) {
    if (!tracee.gone()) tracee.Release();
  }
  return std::all_of(tracees_.begin(), tracees_.end(), [](const Tracee& tracee) { return tracee.gone(); });
}

Result<Injected> Attempt::Run() {
  if (mappings_.empty()) return Gone();
  if (entries_.empty() || open_ == 0 || find_ == 0 || why_ == 0) {
    return Error{"Process " + std::to_string(pid_) +
                 " has no malloc or dlopen that can be found, so it cannot be entered. Start it under "
                 "vramscope record."};
  }
  Tracee* const tracee = VRAMSCOPE_TRY(WaitForSafePoint());
  return CallIn(*tracee);
}

}  // namespace

Result<Injected> Inject(pid_t pid, const Injection& injection) {
  if (injection.library.size() + injection.argument.size() > kMostTextBytes)
    return Error{
        "The path of the recorder library is too long to be given to a process. Install vramscope "
        "elsewhere."};
  return InSeparateProcess(injection.canceled, [&](const Command& command) {
    Attempt attempt(pid, injection, command);
    const Result<Injected> answer = attempt.Run();
    bool let_go = attempt.LetGo();
    command.Answer(answer);
    for (; !let_go; let_go = attempt.LetGo()) Nap();
  });
}

#else

Result<Injected> Inject(pid_t, const Injection&) {
  return Error{"vramscope attach works on x86-64 only so far. Start the program under vramscope record."};
}

#endif
}  // namespace vramscope::attach
