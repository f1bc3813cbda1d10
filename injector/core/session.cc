// SPDX-License-Identifier: Apache-2.0
#include "injector/core/session.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "injector/core/clock.h"
#include "injector/core/dormant.h"
#include "injector/core/intern.h"
#include "injector/core/options.h"
#include "injector/core/session_file.h"
#include "injector/core/thread_ring.h"

namespace vramscope::injector {

constinit ProcessPage process_page = {};

namespace {

struct Session {
  std::atomic<bool> initialized;
  std::atomic<pid_t> pid;  // whose file this is; 0 = no file yet
  uint32_t image;          // n of <pid>.<n>.ring
  uint64_t next_try_ns;    // after a failure to make a file: try again at this time; 0 = no failure
  uint64_t missed;         // events since that failure
  bool counted_unrecorded;
  bool atfork_registered;
  bool no_more_rings;  // the last attempt to add a ring failed for good
  pthread_key_t key;   // its destructor closes the ring of an ending thread
  uint64_t ring_bytes;
  trace::RingFileHeader* file;
  void* header_page;  // all sessions map their header here, so that a pointer read earlier stays valid
  uint32_t number;    // of this session
  trace::RingHeader* rings[trace::kMaxRings];
  ThreadRing* owners[trace::kMaxRings];  // of the rings that are in use
  pid_t forked_from;                     // nearest recorded ancestor by fork
  uint32_t forked_from_image;
  std::atomic<void (*)()> child_handlers[8];
};
constinit Session session = {};
constinit pthread_mutex_t session_lock = PTHREAD_MUTEX_INITIALIZER;

void ForgetRings() {
  for (trace::RingHeader*& ring : session.rings) ring = nullptr;
  for (ThreadRing*& owner : session.owners) owner = nullptr;
  session.no_more_rings = false;
}

void ForgetFailure() {
  session.next_try_ns = session.missed = 0;
  session.counted_unrecorded = false;
}

// Unmaps the file from its page; the page stays mapped and reads as "not recording".
void EmptyHeaderPage() {
  if (session.header_page == nullptr) return;
  mmap(session.header_page, trace::kRingHeaderBytes, PROT_READ | PROT_WRITE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

// Drops everything that belongs to `parent`, which forked this process. Runs in the child's only thread.
void ForgetParent(pid_t parent) {
  if (session.file != nullptr) {
    for (trace::RingHeader* ring : session.rings) {
      if (ring != nullptr) munmap(ring, trace::kRingHeaderBytes + session.ring_bytes);
    }
    session.forked_from = parent;
    session.forked_from_image = session.image;
  }
  session.file = nullptr;
  EmptyHeaderPage();
  ForgetRings();
  ForgetFailure();
  session.pid.store(0, std::memory_order_relaxed);
  process_page.file.store(nullptr, std::memory_order_relaxed);
  ForgetRing(thread_ring);
  for (const auto& slot : session.child_handlers) {
    if (void (*const handler)() = slot.load(std::memory_order_relaxed)) handler();
  }
}

// Order of the locks: names, then session (defining a name may need a ring). Both are held across fork, so
// that a child never starts with half an entry in a table. A thread that holds them may fork from a signal
// handler, and must not deadlock with itself.
constinit thread_local bool locked_for_fork __attribute__((tls_model("initial-exec"))) = false;

void BeforeFork() {
  if (thread_ring.inside != 0) return;
  LockNames();
  pthread_mutex_lock(&session_lock);
  locked_for_fork = true;
}

void AfterFork() {
  if (!locked_for_fork) return;
  locked_for_fork = false;
  pthread_mutex_unlock(&session_lock);
  UnlockNames();
}

void AfterForkInChild() {
  AfterFork();
  thread_ring.inside = 0;
  ForgetParent(session.pid.load(std::memory_order_relaxed));
}

// A child of a bare clone system call comes here at its first event. No handler has run, and a lock may be
// held by a thread that does not exist here.
void ForgetParentAfterBareClone() {
  pid_t recorded = session.pid.load(std::memory_order_relaxed);
  if (recorded == 0 || recorded == getpid()) return;
  if (!session.pid.compare_exchange_strong(recorded, 0)) return;
  session_lock = PTHREAD_MUTEX_INITIALIZER;
  ResetNamesLock();
  ForgetParent(recorded);
}

// Without a file, the collector learns about this process only from the count of unrecorded processes.
bool MakeFile() {
  session.ring_bytes = ChosenRingBytes();
  const uint32_t capacity = RingsWithinFileLimit(session.ring_bytes);
  if (capacity == 0) return false;
  const int file = CreateFile(session.image);
  if (file < 0) return false;
  void* header = nullptr;
  if (ftruncate(file, static_cast<off_t>(trace::RingOffset(capacity, session.ring_bytes))) == 0) {
    header = MapInRoom(file, 0, trace::kRingHeaderBytes, session.header_page);
  }
  close(file);
  if (header == nullptr) {
    RemoveFile(session.image);
    return false;
  }
  session.header_page = header;
  session.file = static_cast<trace::RingFileHeader*>(header);
  FillHeader(session.file, {session.ring_bytes, capacity, session.forked_from, session.forked_from_image});
  return true;
}

// The end of a thread that has, or had, a ring.
void ThreadEnds(void* argument) {
  auto& ring = *static_cast<ThreadRing*>(argument);
  pthread_mutex_lock(&session_lock);
  for (ThreadRing*& owner : session.owners) {
    if (owner == &ring) owner = nullptr;
  }
  if (ring.session == session.number && session.file != nullptr) {
    CloseRing(ring);
  } else {
    ForgetRing(ring);
  }
  pthread_mutex_unlock(&session_lock);
}

bool PrepareProcess() {
  if (session.atfork_registered) return true;
  if (pthread_key_create(&session.key, ThreadEnds) != 0) return false;
  if (pthread_atfork(BeforeFork, AfterFork, AfterForkInChild) != 0) return false;
  madvise(&process_page, sizeof process_page, MADV_WIPEONFORK);
  session.atfork_registered = true;
  return true;
}

// Every thread may record from here on.
void Publish() {
  session.pid.store(getpid(), std::memory_order_relaxed);
  process_page.session.store(session.number, std::memory_order_relaxed);
  process_page.file.store(session.file, std::memory_order_release);
}

// A program that has used up its descriptors or the shared memory may free some: retries now and then. Events
// in between are lost and counted.
void BeginOrMiss() {
  constexpr uint64_t kTryAgainNs = 1'000'000'000;
  const uint64_t now = MonotonicNs();
  if (now >= session.next_try_ns && PrepareProcess() && MakeFile()) {
    session.file->lost_without_ring.store(session.missed, std::memory_order_relaxed);
    if (session.counted_unrecorded) CountUnrecorded(-1);
    ForgetFailure();
    return Publish();
  }
  ++session.missed;
  if (now < session.next_try_ns) return;
  session.next_try_ns = now + kTryAgainNs;
  if (!session.counted_unrecorded) session.counted_unrecorded = CountUnrecorded(1);
}

// Removes the threads that can no longer touch their ring of this session. Such threads were seen outside the
// recorder and will notice the new session, or have released the ring.
bool NobodyIsInside() {
  bool nobody = true;
  for (ThreadRing*& owner : session.owners) {
    if (owner == nullptr) continue;
    const bool inside = std::atomic_ref(owner->inside).load(std::memory_order_acquire) != 0;
    if (inside && std::atomic_ref(owner->header).load(std::memory_order_acquire) != nullptr) {
      nobody = false;
    } else {
      owner = nullptr;
    }
  }
  return nobody;
}

// The lock is held on entry and on return, but not while waiting.
void WaitUntilNobodyIsInside() {
  constexpr uint64_t kPatienceNs = 2'000'000'000;
  constexpr timespec kNap = {0, 50'000};
  const uint64_t deadline = MonotonicNs() + kPatienceNs;
  while (!NobodyIsInside() && MonotonicNs() < deadline) {
    pthread_mutex_unlock(&session_lock);
    nanosleep(&kNap, nullptr);
    pthread_mutex_lock(&session_lock);
  }
}

// A thread that did not run in all that time may still write into its ring. So may a thread that left the
// recorder by a jump out of a signal handler. Their rings are replaced by empty memory, of which only touched
// pages cost anything. Everything else is unmapped.
void CloseAndUnmapRings() {
  const uint64_t bytes = trace::kRingHeaderBytes + session.ring_bytes;
  for (uint32_t i = 0; i < trace::kMaxRings; ++i) {
    trace::RingHeader* const ring = session.rings[i];
    if (ring == nullptr) continue;
    uint32_t live = static_cast<uint32_t>(trace::RingState::kLive);
    ring->state.compare_exchange_strong(live, static_cast<uint32_t>(trace::RingState::kClosed));
    if (session.owners[i] == nullptr) {
      munmap(ring, bytes);
    } else {
      mmap(ring, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1,
           0);
    }
  }
}

trace::RingHeader* MapNewRing(uint32_t index) {
  if (session.file == nullptr || session.no_more_rings || index >= session.file->ring_capacity)
    return nullptr;
  char path[kPathBytes];
  WritePath(path, session.image);
  // Opened each time: the program could close a descriptor that we keep, and reuse its number.
  const int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) {
    // The program has used up its descriptors: it may close some.
    session.no_more_rings = errno != EMFILE && errno != ENFILE;
    return nullptr;
  }
  const uint64_t length = trace::kRingHeaderBytes + session.ring_bytes;
  void* const memory = HasRoomBeside(file, length)
                           ? MapInRoom(file, trace::RingOffset(index, session.ring_bytes), length)
                           : nullptr;
  close(file);
  if (memory == nullptr) {
    session.no_more_rings = true;
    return nullptr;
  }
  Warm(memory, length);
  return static_cast<trace::RingHeader*>(memory);
}

// The index of a ring that is now ours, or `count`.
uint32_t TakeFreeRing(uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t expected = static_cast<uint32_t>(trace::RingState::kFree);
    if (session.rings[i]->state.compare_exchange_strong(
            expected, static_cast<uint32_t>(trace::RingState::kLive), std::memory_order_acquire)) {
      return i;
    }
  }
  return count;
}

// From here on, the thread holds its ring. Called with the lock held, so the end of a session cannot miss it.
void OwnRing(trace::RingHeader* ring, uint32_t index) {
  session.owners[index] = &thread_ring;
  thread_ring.session = session.number;
  thread_ring.mask = session.ring_bytes - 1;
  std::atomic_ref(thread_ring.header).store(ring, std::memory_order_release);
  ring->os_thread = static_cast<uint32_t>(syscall(SYS_gettid));
  ring->lost_count.store(0, std::memory_order_relaxed);
  ring->lost_first_ticks.store(0, std::memory_order_relaxed);
  ring->lost_last_ticks.store(0, std::memory_order_relaxed);
  ++ring->generation;
}

}  // namespace

void Initialize() {
  const int error = errno;
  pthread_mutex_lock(&session_lock);
  if (!session.initialized.load(std::memory_order_relaxed)) {
    ReadOptions();
    if (SessionIsWanted()) ChooseClock(OptionIs("clock", "monotonic"));
    AtForkInChild(ForgetStacks);
    session.initialized.store(true, std::memory_order_release);
  }
  pthread_mutex_unlock(&session_lock);
  errno = error;
}

bool StartSession() {
  if (!session.initialized.load(std::memory_order_acquire)) Initialize();
  if (!SessionIsWanted()) {
    if (options.dormant) OpenDoor();
    return false;
  }
  const int error = errno;
  ForgetParentAfterBareClone();
  pthread_mutex_lock(&session_lock);
  // Checked again under the lock: a session may have ended meanwhile, and then there is no folder.
  if (session.file == nullptr && SessionIsWanted()) BeginOrMiss();
  const bool started = session.file != nullptr;
  pthread_mutex_unlock(&session_lock);
  errno = error;
  return started;
}

bool StartSessionIn(const char* folder, const char* text, int collector) {
  if (!session.initialized.load(std::memory_order_acquire)) Initialize();
  ForgetParentAfterBareClone();
  LockNames();  // no new name may come between the file's creation and the old names in it
  pthread_mutex_lock(&session_lock);
  bool started = false;
  if (session.file == nullptr && SetOptions(folder, text, collector)) {
    if (session.number == 0) ChooseClock(OptionIs("clock", "monotonic"));
    session.forked_from = 0;  // it is a session of its own: all names are defined in it
    session.forked_from_image = 0;
    ++session.number;
    started = PrepareProcess() && MakeFile();
    if (started) {
      session.file->first_own_string = 1;
      Publish();
    } else {
      SetOptions("", "", 0);
    }
  }
  pthread_mutex_unlock(&session_lock);
  if (started) DefineNamesAgain();
  UnlockNames();
  return started;
}

void StopSession() {
  pthread_mutex_lock(&session_lock);
  SetOptions("", "", 0);
  if (session.file != nullptr) {
    session.file->mode.store(0, std::memory_order_relaxed);
    process_page.file.store(nullptr, std::memory_order_relaxed);
    process_page.session.store(++session.number, std::memory_order_relaxed);
    WaitForAllProcessors();
    WaitUntilNobodyIsInside();
    CloseAndUnmapRings();
    ForgetRings();
    session.file = nullptr;
    session.pid.store(0, std::memory_order_relaxed);
    ForgetFailure();
    EmptyHeaderPage();
  }
  pthread_mutex_unlock(&session_lock);
}

trace::RingHeader* TakeRing() {
  const int error = errno;
  pthread_mutex_lock(&session_lock);
  const uint32_t count =
      session.file == nullptr ? 0 : session.file->ring_count.load(std::memory_order_relaxed);
  const uint32_t free = TakeFreeRing(count);
  trace::RingHeader* ring = free < count ? session.rings[free] : nullptr;
  if (ring != nullptr) {
    OwnRing(ring, free);
  } else if ((ring = MapNewRing(count)) != nullptr) {
    OwnRing(ring, count);
    ring->state.store(static_cast<uint32_t>(trace::RingState::kLive), std::memory_order_release);
    session.rings[count] = ring;
    session.file->ring_count.store(count + 1, std::memory_order_release);
  }
  if (ring != nullptr) pthread_setspecific(session.key, &thread_ring);
  pthread_mutex_unlock(&session_lock);
  errno = error;
  return ring;
}

uint32_t SessionImage() { return session.image; }

void AtForkInChild(void (*handler)()) {
  for (auto& slot : session.child_handlers) {
    void (*holder)() = nullptr;
    if (slot.compare_exchange_strong(holder, handler) || holder == handler) return;
  }
}

}  // namespace vramscope::injector
