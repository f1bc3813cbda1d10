// SPDX-License-Identifier: Apache-2.0
#include "injector/core/dormant.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>

#include "injector/core/options.h"
#include "injector/core/session.h"
#include "trace_format/process_identity.h"
#include "trace_format/ring.h"

// Called by attach; missing in programs that test only this folder.
extern "C" __attribute__((weak)) int vramscope_attach(const char* request);

namespace vramscope::injector {
namespace {

constexpr size_t kStackBytes = 256 << 10;
constexpr size_t kLongestOrder = sizeof(Options::session) + sizeof(Options::text) + 64;
constexpr timeval kGuestPatience = {1, 0};
constexpr char kStart[] = "start\n";
constexpr char kWho[] = "who";

struct Door {
  std::atomic<bool> opened;
  std::atomic<int> listener;  // descriptor + 1; 0 = none
  bool atfork_registered;
};
constinit Door door = {};

// In a forked child: closes the parent's socket, so that the child can open its own.
void LeaveDoorToParent() {
  const int listener = door.listener.exchange(0, std::memory_order_relaxed) - 1;
  if (listener >= 0) close(listener);
  door.opened.store(false, std::memory_order_relaxed);
}

int Listen() {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  // The first byte stays 0: an abstract name. It is in no file system and disappears with its socket.
  const int length =
      snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "%s%llu-%d", trace::kDoorName,
               static_cast<unsigned long long>(trace::PidNamespaceOf("self")), static_cast<int>(getpid()));
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0) return -1;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<size_t>(length));
  if (bind(listener, reinterpret_cast<const sockaddr*>(&address), size) == 0 && listen(listener, 4) == 0)
    return listener;
  close(listener);
  return -1;
}

bool IsWelcome(int guest) {
  ucred who = {};
  socklen_t length = sizeof who;
  return getsockopt(guest, SOL_SOCKET, SO_PEERCRED, &who, &length) == 0 &&
         (who.uid == geteuid() || who.uid == 0);
}

// Reads until the client has sent everything and closed its side; 0-terminated.
bool ReadOrder(int guest, char* order, size_t capacity) {
  setsockopt(guest, SOL_SOCKET, SO_RCVTIMEO, &kGuestPatience, sizeof kGuestPatience);
  size_t length = 0;
  while (length < capacity - 1) {
    const ssize_t count = read(guest, order + length, capacity - 1 - length);
    if (count < 0) return false;
    if (count == 0) break;
    length += static_cast<size_t>(count);
  }
  order[length] = 0;
  return true;
}

int Obey(const char* order) {
  if (strcmp(order, kWho) == 0) return SessionIsWanted() && !CollectorGone() ? CollectorPid() : 0;
  if (strncmp(order, kStart, sizeof kStart - 1) == 0 && vramscope_attach != nullptr)
    return vramscope_attach(order + sizeof kStart - 1);
  return -1;
}

void Serve(int guest) {
  static char order[kLongestOrder];  // one client at a time
  if (!IsWelcome(guest) || !ReadOrder(guest, order, sizeof order)) return;
  char answer[16];
  const int length = snprintf(answer, sizeof answer, "%d\n", Obey(order));
  send(guest, answer, static_cast<size_t>(length), MSG_NOSIGNAL);
}

void* Wait(void*) {
  pthread_setname_np(pthread_self(), "vramscope");
  const int listener = Listen();
  if (listener < 0) return nullptr;
  door.listener.store(listener + 1, std::memory_order_relaxed);
  while (true) {
    const int guest = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (guest < 0 && errno != EINTR && errno != ECONNABORTED) return nullptr;  // the program has closed it
    if (guest < 0) continue;
    Serve(guest);
    close(guest);
  }
}

void StartWaiting() {
  if (!door.atfork_registered) {
    door.atfork_registered = true;
    pthread_atfork(nullptr, nullptr, LeaveDoorToParent);
  }
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  pthread_create(&thread, &attributes, Wait, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
}

}  // namespace

void OpenDoor() {
  if (door.opened.load(std::memory_order_relaxed) || door.opened.exchange(true)) return;
  const int error = errno;
  StartWaiting();
  errno = error;
}

bool DoorIsOpen() { return door.listener.load(std::memory_order_relaxed) != 0; }

}  // namespace vramscope::injector
