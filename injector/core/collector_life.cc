// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include "injector/core/options.h"
#include "injector/core/session.h"

namespace vramscope::injector {
namespace {

// The collector holds a lock on the session folder as long as it lives (profiler/collector/output/owned_folder.h).
// The lock is visible from every pid namespace. kUnknown: the folder cannot be opened, or locks do not work
// there.
enum class FolderOwner { kLives, kGone, kUnknown };

FolderOwner OwnerOfFolder() {
  const int folder = open(options.session, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return FolderOwner::kUnknown;
  // Shared: two targets that check at once must not take each other for the owner.
  const bool taken = flock(folder, LOCK_SH | LOCK_NB) == 0;
  const FolderOwner owner = taken                  ? FolderOwner::kGone
                            : errno == EWOULDBLOCK ? FolderOwner::kLives
                                                   : FolderOwner::kUnknown;
  close(folder);
  return owner;
}

}  // namespace

bool CollectorGone() {
  const pid_t collector = CollectorPid();
  if (collector <= 0) return false;
  const int error = errno;
  const FolderOwner owner = OwnerOfFolder();
  const bool gone = owner == FolderOwner::kGone ||
                    (owner == FolderOwner::kUnknown && kill(collector, 0) != 0 && errno == ESRCH);
  errno = error;
  trace::RingFileHeader* const file = process_page.file.load(std::memory_order_relaxed);
  if (gone && file != nullptr) file->detached.store(1, std::memory_order_relaxed);
  return gone;
}

}  // namespace vramscope::injector
