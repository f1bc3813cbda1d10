// SPDX-License-Identifier: Apache-2.0
// Replacements for C library functions that the compiler's static libstdc++ and libgcc call, and that glibc
// 2.28 does not have. Linked into the programs and libraries of a wheel (scripts/wheel.sh), together with
// cmake/older_glibc.c; never into an ordinary build.
//
// All are hidden: each file uses its own, and no other library in the process sees them.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>

#define HIDDEN __attribute__((visibility("hidden")))

// glibc 2.32. Whether the process has one thread, so that counts of std::shared_ptr can do without atomic instructions. 0: never assume it.
HIDDEN char __libc_single_threaded = 0;

// glibc 2.30. For std::condition_variable::wait_for and wait_until with a steady clock. glibc 2.28 waits for
// CLOCK_REALTIME only, so the deadline is converted. If that clock is set meanwhile, the wait is too long or
// too short by as much.
HIDDEN int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                  const struct timespec* deadline) {
  const long second = 1000000000;
  struct timespec there, here, converted;
  if (clock == CLOCK_REALTIME) return pthread_cond_timedwait(condition, mutex, deadline);
  clock_gettime(clock, &there);
  clock_gettime(CLOCK_REALTIME, &here);
  converted.tv_sec = deadline->tv_sec - there.tv_sec + here.tv_sec;
  converted.tv_nsec = deadline->tv_nsec - there.tv_nsec + here.tv_nsec;
  while (converted.tv_nsec < 0) converted.tv_nsec += second, --converted.tv_sec;
  while (converted.tv_nsec >= second) converted.tv_nsec -= second, ++converted.tv_sec;
  return pthread_cond_timedwait(condition, mutex, &converted);
}

// glibc 2.35. Where the unwinder finds the exception tables of the code at an address.
struct search {
  uintptr_t address;
  struct dl_find_object* found;
};

static int look_into(struct dl_phdr_info* object, size_t size, void* data) {
  struct search* search = data;
  uintptr_t start = 0, end = 0, tables = 0;
  (void)size;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* segment = &object->dlpi_phdr[i];
    const uintptr_t at = object->dlpi_addr + segment->p_vaddr;
    if (segment->p_type == PT_GNU_EH_FRAME) tables = at;
    if (segment->p_type == PT_LOAD && search->address - at < segment->p_memsz)
      start = at, end = at + segment->p_memsz;
  }
  if (end == 0 || tables == 0) return 0;
  search->found->dlfo_map_start = (void*)start;
  search->found->dlfo_map_end = (void*)end;
  search->found->dlfo_eh_frame = (void*)tables;
  return 1;
}

HIDDEN int _dl_find_object(void* address, struct dl_find_object* found) {
  struct search search = {(uintptr_t)address, found};
  *found = (struct dl_find_object){0};
  return dl_iterate_phdr(look_into, &search) == 1 ? 0 : -1;
}
