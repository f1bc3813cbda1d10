/* SPDX-License-Identifier: Apache-2.0
 * Stands in for the injector in the shim's tests: offers injector/core/api.h and writes each call as one line
 * of text.
 *
 *   VRAMSCOPE_STUB_LOG      the log file; without it calls cost what a call costs and nothing is written
 *   VRAMSCOPE_STUB_DEEP     "2-3": steps 2 and 3 are deep; "1-9" begins deep
 *   VRAMSCOPE_STUB_REACHED  what vramscope_torch_ready answers; default 3
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "injector/core/api.h"

static int log_file = -1;
static long first_deep = 0, last_deep = -1, step = 1;

__attribute__((format(printf, 1, 2))) static void Say(const char* format, ...) {
  char line[4096];
  va_list arguments;
  if (log_file < 0) return;
  va_start(arguments, format);
  int length = vsnprintf(line, sizeof line - 1, format, arguments);
  va_end(arguments);
  if (length > (int)sizeof line - 2) length = sizeof line - 2;
  line[length] = '\n';
  if (write(log_file, line, (size_t)length + 1) < 0) _exit(99);
}

/* A child process inherits the text ids of its parent. */
static void SayForked(void) { Say("forked\t%d\t%d", getpid(), getppid()); }

/* Also called in a fork of a process that waits for programs: the program gets a log of its own. */
void vramscope_stub_log(const char* path) {
  if (log_file >= 0) close(log_file);
  log_file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

__attribute__((constructor)) static void Open(void) {
  const char* path = getenv("VRAMSCOPE_STUB_LOG");
  const char* deep = getenv("VRAMSCOPE_STUB_DEEP");
  if (path) vramscope_stub_log(path);
  if (deep) sscanf(deep, "%ld-%ld", &first_deep, &last_deep);
  pthread_atfork(NULL, NULL, SayForked);
}

int vramscope_recording(void) { return 1; }

/* Every text gets a new id; the shim itself remembers them. */
uint32_t vramscope_intern(const char* text, size_t length) {
  static uint32_t next = 0;
  uint32_t id = __atomic_add_fetch(&next, 1, __ATOMIC_RELAXED);
  Say("string\t%d\t%u\t%.*s", getpid(), id, (int)length, text);
  return id;
}

void vramscope_range_begin(uint32_t kind, uint32_t name, uint64_t id) {
  Say("begin\t%d\t%u\t%u\t%llu", getpid(), kind, name, (unsigned long long)id);
}

void vramscope_range_end(uint32_t kind, uint32_t name, uint64_t id) {
  Say("end\t%d\t%u\t%u\t%llu", getpid(), kind, name, (unsigned long long)id);
}

void vramscope_mark(uint32_t kind, uint64_t value, uint32_t name, uint64_t tensor) {
  Say("mark\t%d\t%u\t%llu\t%u\t%llu", getpid(), kind, (unsigned long long)value, name,
      (unsigned long long)tensor);
}

void vramscope_label(uint32_t role, uint32_t source, uint64_t address, uint64_t bytes, uint32_t name,
                     uint64_t tensor) {
  Say("label\t%d\t%u\t%u\t%llu\t%llu\t%u\t%llu", getpid(), role, source, (unsigned long long)address,
      (unsigned long long)bytes, name, (unsigned long long)tensor);
}

void vramscope_coverage(const char* hook, uint32_t state, const char* detail) {
  Say("coverage\t%d\t%s\t%u\t%s", getpid(), hook, state, detail);
}

void vramscope_held_block(uint32_t device, uint64_t address, uint64_t bytes, uint64_t stream,
                          uint64_t requested) {
  (void)stream;
  Say("held_block\t%d\t%u\t%llu\t%llu\t%llu", getpid(), device, (unsigned long long)address,
      (unsigned long long)bytes, (unsigned long long)requested);
}

void vramscope_held_gone(uint32_t device, uint64_t address) {
  Say("held_gone\t%d\t%u\t%llu", getpid(), device, (unsigned long long)address);
}

uint32_t vramscope_driver_seen(void) { return 1; }

void vramscope_held_segment(uint32_t device, uint64_t address, uint64_t bytes, uint64_t stream,
                            uint64_t part_bytes) {
  Say("held_segment\t%d\t%u\t%llu\t%llu\t%llu\t%llu", getpid(), device, (unsigned long long)address,
      (unsigned long long)bytes, (unsigned long long)stream, (unsigned long long)part_bytes);
}

void vramscope_held_segment_gone(uint32_t device, uint64_t address, uint64_t bytes, uint64_t part_bytes) {
  Say("held_segment_gone\t%d\t%u\t%llu\t%llu\t%llu", getpid(), device, (unsigned long long)address,
      (unsigned long long)bytes, (unsigned long long)part_bytes);
}

void vramscope_held_driver_total(void) { Say("held_driver_total\t%d", getpid()); }

uint32_t vramscope_held_tensor(uint64_t tensor, uint64_t address, uint64_t bytes) {
  Say("held_tensor\t%d\t%llu\t%llu\t%llu", getpid(), (unsigned long long)tensor, (unsigned long long)address,
      (unsigned long long)bytes);
  return 1;
}

uint32_t vramscope_held_saved(uint64_t object) {
  Say("held_saved\t%d\t%llu", getpid(), (unsigned long long)object);
  return 1;
}

void vramscope_held_leaf(uint64_t object, uint64_t tensor) {
  Say("held_leaf\t%d\t%llu\t%llu", getpid(), (unsigned long long)object, (unsigned long long)tensor);
}

void vramscope_record(uint8_t type, uint16_t small, uint32_t id, const uint64_t* words, size_t word_count) {
  (void)type, (void)small, (void)id, (void)words, (void)word_count;
}

uint32_t vramscope_intern_stack(const uint32_t* frames, size_t count) {
  (void)frames, (void)count;
  return 0;
}

size_t vramscope_option(const char* key, char* buffer, size_t capacity) {
  (void)key, (void)buffer, (void)capacity;
  return 0;
}

int vramscope_program(const char* text, size_t length, uint64_t step) {
  (void)text;
  Say("program\t%d\t%zu\t%llu", getpid(), length, (unsigned long long)step);
  return 1;
}

uint32_t vramscope_torch_ready(const char* torch_version, const char* torch_directory) {
  const char* reached = getenv("VRAMSCOPE_STUB_REACHED");
  Say("ready\t%d\t%s\t%s", getpid(), torch_version, torch_directory);
  return reached ? (uint32_t)atoi(reached) : 3;
}

int vramscope_deep(void) { return step >= first_deep && step <= last_deep; }

int vramscope_memory_seen(void) { return 1; }

static uint64_t backward_passes = 0;

uint64_t vramscope_backward_passes(void) { return backward_passes; }

/* The program under test reports each backward pass: nothing here can see them. */
void vramscope_stub_passed(void) { backward_passes++; }

int vramscope_step_done(uint64_t done) {
  step = (long)done + 1;
  Say("step_done\t%d\t%llu", getpid(), (unsigned long long)done);
  return vramscope_deep();
}
