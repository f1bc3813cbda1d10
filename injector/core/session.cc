// SPDX-License-Identifier: Apache-2.0
#include "injector/core/session.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "injector/core/clock.h"
#include "injector/core/intern.h"
#include "injector/core/options.h"
#include "injector/core/thread_ring.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace vramscope::injector {

constinit ProcessPage process_page = {};

namespace {

constexpr uint64_t kSmallestRing = 16 * kPageBytes;
constexpr uint64_t kLargestRing = 1 << 26;
constexpr size_t kPathBytes = sizeof(Options::session) + 64;
constexpr uint32_t kMostImages = 100'000;  // of one pid

struct Session {
  std::atomic<bool> initialized;
  std::atomic<pid_t> pid;  // whose file this is; 0 = no file yet
  uint32_t image;          // n of <pid>.<n>.ring
  bool failed;             // do not try again
  bool atfork_registered;
  bool no_more_rings;  // the last attempt to add a ring failed
  pthread_key_t key;   // its destructor closes the ring of an ending thread
  uint64_t ring_bytes;
  trace::RingFileHeader* file;
  trace::RingHeader* rings[trace::kMaxRings];
  pid_t forked_from;  // nearest recorded ancestor by fork
  uint32_t forked_from_image;
  std::atomic<void (*)()> child_handlers[4];
};
constinit Session session = {};
constinit pthread_mutex_t session_lock = PTHREAD_MUTEX_INITIALIZER;

// Drops everything that belongs to `parent`, which forked this process. Runs in the child's only thread.
void ForgetParent(pid_t parent) {
  if (session.file != nullptr) {
    for (trace::RingHeader* ring : session.rings) {
      if (ring != nullptr) munmap(ring, trace::kRingHeaderBytes + session.ring_bytes);
    }
    munmap(session.file, trace::kRingHeaderBytes);
    session.forked_from = parent;
    session.forked_from_image = session.image;
  }
  session.file = nullptr;
  for (trace::RingHeader*& ring : session.rings) ring = nullptr;
  session.no_more_rings = false;
  session.failed = false;
  session.pid.store(0, std::memory_order_relaxed);
  process_page.file.store(nullptr, std::memory_order_relaxed);
  thread_ring = ThreadRing{.inside = thread_ring.inside};
  for (const auto& slot : session.child_handlers) {
    if (void (*const handler)() = slot.load(std::memory_order_relaxed)) handler();
  }
}

// Order of the locks: names, then session (the definition of a name may need a ring). They are held across
// fork so that a child never starts with half an entry in a table. A thread that forks from a signal handler
// while it holds them itself must not wait for itself.
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

// A child made by a bare clone system call comes here at its first event: no handler has run, and any lock
// may be held by a thread that does not exist here.
void ForgetParentAfterBareClone() {
  pid_t recorded = session.pid.load(std::memory_order_relaxed);
  if (recorded == 0 || recorded == getpid()) return;
  if (!session.pid.compare_exchange_strong(recorded, 0)) return;
  session_lock = PTHREAD_MUTEX_INITIALIZER;
  ResetNamesLock();
  ForgetParent(recorded);
}

void WritePath(char (&path)[kPathBytes], uint32_t image) {
  snprintf(path, sizeof path, "%s/%d.%u.ring", options.session, static_cast<int>(getpid()), image);
}

uint64_t ChosenRingBytes() {
  const uint64_t wanted = OptionNumber("ring_bytes", trace::kDefaultRingBytes);
  const bool usable = wanted >= kSmallestRing && wanted <= kLargestRing && (wanted & (wanted - 1)) == 0;
  return usable ? wanted : trace::kDefaultRingBytes;
}

// How many rings the process's file size limit has room for. To grow a file past the limit is answered with
// the signal SIGXFSZ.
uint32_t RingsWithinFileLimit(uint64_t ring_bytes) {
  rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return trace::kMaxRings;
  uint32_t rings = trace::kMaxRings;
  while (rings > 0 && trace::RingOffset(rings, ring_bytes) > limit.rlim_cur) --rings;
  return rings;
}

// Maps [offset, offset + length) of the open file with its space reserved first, so that a full tmpfs is an
// error here and never a SIGBUS at some later store. File systems that cannot reserve are refused the same
// way.
void* MapReserved(int file, uint64_t offset, uint64_t length) {
  if (fallocate(file, 0, static_cast<off_t>(offset), static_cast<off_t>(length)) != 0) return nullptr;
  void* const memory =
      mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(offset));
  return memory == MAP_FAILED ? nullptr : memory;
}

// Page faults of a cold ring cost 4 to 7 % of a small training step, the records themselves 1 %.
void Warm(void* memory, uint64_t length) {
  if (madvise(memory, length, MADV_POPULATE_WRITE) == 0) return;
  auto* const bytes = static_cast<volatile std::byte*>(memory);  // Linux before 5.14
  for (uint64_t at = 0; at < length; at += kPageBytes) bytes[at] = bytes[at];
}

// Opens a file that no other image of this pid has used.
int CreateFile(uint32_t& image) {
  char path[kPathBytes];
  for (image = 0; image < kMostImages; ++image) {
    WritePath(path, image);
    const int file = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

void FillHeader(trace::RingFileHeader* header, uint32_t capacity) {
  header->version = trace::kRingVersion;
  header->pid = static_cast<uint32_t>(getpid());
  header->parent_pid = static_cast<uint32_t>(getppid());
  header->clock = clock_kind;
  header->ring_bytes = session.ring_bytes;
  header->ring_capacity = capacity;
  header->created_monotonic_ns = MonotonicNs();
  header->created_ticks = Ticks();
  header->forked_from = static_cast<uint32_t>(session.forked_from);
  header->forked_from_image = session.forked_from_image;
  header->first_own_string = NextStringId();
  header->next_string.store(NextStringId(), std::memory_order_relaxed);
  header->next_stack.store(NextStackId(), std::memory_order_relaxed);
  header->mode.store(trace::kModeRecord, std::memory_order_relaxed);
  __atomic_store_n(&header->magic, trace::kRingMagic, __ATOMIC_RELEASE);
}

bool MakeFile() {
  session.ring_bytes = ChosenRingBytes();
  const uint32_t capacity = RingsWithinFileLimit(session.ring_bytes);
  if (capacity == 0) return false;
  const int file = CreateFile(session.image);
  if (file < 0) return false;
  void* header = nullptr;
  if (ftruncate(file, static_cast<off_t>(trace::RingOffset(capacity, session.ring_bytes))) == 0) {
    header = MapReserved(file, 0, trace::kRingHeaderBytes);
  }
  close(file);
  if (header == nullptr) return false;
  session.file = static_cast<trace::RingFileHeader*>(header);
  FillHeader(session.file, capacity);
  return true;
}

bool PrepareProcess() {
  if (session.atfork_registered) return true;
  if (pthread_key_create(&session.key, [](void* ring) { CloseRing(*static_cast<ThreadRing*>(ring)); }) != 0)
    return false;
  if (pthread_atfork(BeforeFork, AfterFork, AfterForkInChild) != 0) return false;
  madvise(&process_page, sizeof process_page, MADV_WIPEONFORK);
  session.atfork_registered = true;
  return true;
}

trace::RingHeader* MapNewRing(uint32_t index) {
  if (session.no_more_rings || index >= session.file->ring_capacity) return nullptr;
  char path[kPathBytes];
  WritePath(path, session.image);
  // Opened anew each time: a descriptor kept open could be closed by the program and its number be given to
  // one of its own files.
  const int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  const uint64_t length = trace::kRingHeaderBytes + session.ring_bytes;
  void* const memory =
      file < 0 ? nullptr : MapReserved(file, trace::RingOffset(index, session.ring_bytes), length);
  if (file >= 0) close(file);
  if (memory == nullptr) {
    session.no_more_rings = true;
    return nullptr;
  }
  Warm(memory, length);
  return static_cast<trace::RingHeader*>(memory);
}

trace::RingHeader* TakeFreeRing(uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t expected = static_cast<uint32_t>(trace::RingState::kFree);
    if (session.rings[i]->state.compare_exchange_strong(
            expected, static_cast<uint32_t>(trace::RingState::kLive), std::memory_order_acquire)) {
      return session.rings[i];
    }
  }
  return nullptr;
}

void OwnRing(trace::RingHeader* ring) {
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
    if (options.session[0] != 0) ChooseClock(OptionIs("clock", "monotonic"));
    AtForkInChild(ForgetStacks);
    session.initialized.store(true, std::memory_order_release);
  }
  pthread_mutex_unlock(&session_lock);
  errno = error;
}

bool StartSession() {
  if (!session.initialized.load(std::memory_order_acquire)) Initialize();
  if (options.session[0] == 0) return false;
  const int error = errno;
  ForgetParentAfterBareClone();
  pthread_mutex_lock(&session_lock);
  if (session.file == nullptr && !session.failed) {
    if (PrepareProcess() && MakeFile()) {
      session.pid.store(getpid(), std::memory_order_relaxed);
      process_page.file.store(session.file, std::memory_order_release);
    } else {
      session.failed = true;
    }
  }
  const bool started = session.file != nullptr;
  pthread_mutex_unlock(&session_lock);
  errno = error;
  return started;
}

trace::RingHeader* TakeRing() {
  const int error = errno;
  pthread_mutex_lock(&session_lock);
  const uint32_t count = session.file->ring_count.load(std::memory_order_relaxed);
  trace::RingHeader* ring = TakeFreeRing(count);
  if (ring != nullptr) {
    OwnRing(ring);
  } else if ((ring = MapNewRing(count)) != nullptr) {
    OwnRing(ring);
    ring->state.store(static_cast<uint32_t>(trace::RingState::kLive), std::memory_order_release);
    session.rings[count] = ring;
    session.file->ring_count.store(count + 1, std::memory_order_release);
  }
  if (ring != nullptr) pthread_setspecific(session.key, &thread_ring);
  pthread_mutex_unlock(&session_lock);
  errno = error;
  return ring;
}

bool CollectorGone() {
  if (options.collector <= 0) return false;
  const int error = errno;
  const bool gone = kill(options.collector, 0) != 0 && errno == ESRCH;
  errno = error;
  trace::RingFileHeader* const file = process_page.file.load(std::memory_order_relaxed);
  if (gone && file != nullptr) file->detached.store(1, std::memory_order_relaxed);
  return gone;
}

void AtForkInChild(void (*handler)()) {
  for (auto& slot : session.child_handlers) {
    void (*holder)() = nullptr;
    if (slot.compare_exchange_strong(holder, handler) || holder == handler) return;
  }
}

}  // namespace vramscope::injector
