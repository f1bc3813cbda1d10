/* SPDX-License-Identifier: Apache-2.0
 * Functions with which a C or C++ program adds ranges, marks and names of memory to its vramscope trace, and
 * begins and ends recordings.
 *
 * Without a recorder every function does nothing, returns 0, and costs some nanoseconds. The program neither
 * links nor ships a vramscope library.
 *
 *     #include <vramscope/annotate.h>
 *
 *     void Serve(const Request& request) {
 *       const vramscope::Range range("serve");                      // ends with the scope
 *       auto cache = torch::empty({layers, tokens, dim}, cuda);
 *       vramscope::name_block(cache.data_ptr(), cache.nbytes(), "kv cache");
 *       vramscope::mark("request", request.id);
 *     }
 *
 *     vramscope record ./server            the names are in run.vms
 *     vramscope record --dormant ./server  vramscope::start("run.vms") and stop() decide what is recorded
 *
 * The functions may be called from any thread, but not from signal handlers. They copy their texts. Do not
 * put numbers into names, because only 32,768 different names are kept. With a glibc older than 2.34, link
 * with -ldl.
 */
#ifndef VRAMSCOPE_ANNOTATE_H
#define VRAMSCOPE_ANNOTATE_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Values of `annotation` for the recorder's function. Each comment lists the arguments that the function
 * reads and, after "->", the result; "-" means no arguments. A recorder returns 0 for a value that it does
 * not know. */
enum VramscopeAnnotation {
  VRAMSCOPE_PUSH_RANGE = 1,   /* name */
  VRAMSCOPE_POP_RANGE = 2,    /* - */
  VRAMSCOPE_BEGIN_RANGE = 3,  /* name -> id */
  VRAMSCOPE_END_RANGE = 4,    /* first = id */
  VRAMSCOPE_SET_MARK = 5,     /* name, first = value */
  VRAMSCOPE_NAME_MEMORY = 6,  /* name or NULL, first = address, second = bytes */
  VRAMSCOPE_IS_RECORDING = 7, /* - -> 0 or 1 */
  VRAMSCOPE_START = 8,        /* name = file -> 0 or 1 */
  VRAMSCOPE_STOP = 9          /* - -> 0 or 1 */
};
typedef uint64_t (*VramscopeAnnotate)(uint32_t annotation, const char* name, uint64_t first, uint64_t second);

/* The recorder's function; NULL until a recorder is found. All source files of one program or library
 * share this variable. */
__attribute__((weak, visibility("hidden"))) VramscopeAnnotate vramscope_found_annotate;

/* Searches for the recorder. vramscope attach may load the recorder while the program runs. Therefore each
 * thread searches again at every 1,024th call. */
static inline VramscopeAnnotate vramscope_find_annotate(void) {
  static __thread uint32_t calls;
  void* recorder;
  VramscopeAnnotate found = NULL;
  if ((calls++ & 1023) != 0) return NULL;
  recorder = dlopen("libvramscope_injector.so", RTLD_LAZY | RTLD_NOLOAD);
  if (recorder == NULL) return NULL;
  /* The handle is never closed, because the recorder is never unloaded. */
  *(void**)(&found) = dlsym(recorder, "vramscope_annotate");
  __atomic_store_n(&vramscope_found_annotate, found, __ATOMIC_RELEASE);
  return found;
}

static inline uint64_t vramscope_ask(uint32_t annotation, const char* name, uint64_t first, uint64_t second) {
  VramscopeAnnotate annotate = __atomic_load_n(&vramscope_found_annotate, __ATOMIC_ACQUIRE);
  if (annotate == NULL) annotate = vramscope_find_annotate();
  return annotate == NULL ? 0 : annotate(annotation, name, first, second);
}

/* Begins a range of the calling thread. Ranges nest: vramscope_pop_range ends the range that the thread
 * pushed last. If more than 254 ranges are open, only the outer 254 are recorded. */
static inline void vramscope_push_range(const char* name) { vramscope_ask(VRAMSCOPE_PUSH_RANGE, name, 0, 0); }
static inline void vramscope_pop_range(void) { vramscope_ask(VRAMSCOPE_POP_RANGE, NULL, 0, 0); }

/* Begins a range that may overlap other ranges and may end on another thread. Returns the id for
 * vramscope_end_range, or 0 if the range is not recorded. */
static inline uint64_t vramscope_begin_range(const char* name) {
  return vramscope_ask(VRAMSCOPE_BEGIN_RANGE, name, 0, 0);
}
static inline void vramscope_end_range(uint64_t id) {
  if (id != 0) vramscope_ask(VRAMSCOPE_END_RANGE, NULL, id, 0);
}

/* Records a mark at the current time, with a number of your choice. */
static inline void vramscope_set_mark(const char* name, uint64_t value) {
  vramscope_ask(VRAMSCOPE_SET_MARK, name, value, 0);
}

/* Names the block that begins at `address`. The name lasts until the block is freed. NULL removes the
 * name. */
static inline void vramscope_name_block(const void* address, size_t bytes, const char* name) {
  vramscope_ask(VRAMSCOPE_NAME_MEMORY, name, (uint64_t)(uintptr_t)address, bytes);
}
/* Names memory that an allocator of the program hands out in pieces. The pieces can have names too. */
static inline void vramscope_name_pool(const void* address, size_t bytes, const char* name) {
  vramscope_ask(VRAMSCOPE_NAME_MEMORY, name, (uint64_t)(uintptr_t)address, bytes);
}

/* Returns 1 if this process is being recorded, otherwise 0. */
static inline int vramscope_is_recording(void) {
  return (int)vramscope_ask(VRAMSCOPE_IS_RECORDING, NULL, 0, 0);
}

/* Begins to record this process into `file`, if `vramscope record --dormant` started the program. Waits some
 * tens of milliseconds, until the recording has begun. Returns 1 if the process is recorded now, also if a
 * recording was already in progress. Returns 0 if there is no recorder in dormant mode, or if the recording
 * could not begin. */
static inline int vramscope_start(const char* file) {
  return (int)vramscope_ask(VRAMSCOPE_START, file, 0, 0);
}
/* Ends the recording that vramscope_start began. Waits until the file is complete, then returns 1. Returns 0
 * if there is no recording, or if the file is not complete after 30 seconds. */
static inline int vramscope_stop(void) { return (int)vramscope_ask(VRAMSCOPE_STOP, NULL, 0, 0); }

#ifdef __cplusplus
} /* extern "C" */

namespace vramscope {

/* A range that lasts as long as this object. Create and destroy it on one thread. */
class Range {
 public:
  explicit Range(const char* name) { vramscope_push_range(name); }
  ~Range() { vramscope_pop_range(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

inline void mark(const char* name, uint64_t value = 0) { vramscope_set_mark(name, value); }
inline void name_block(const void* address, size_t bytes, const char* name) {
  vramscope_name_block(address, bytes, name);
}
inline void name_pool(const void* address, size_t bytes, const char* name) {
  vramscope_name_pool(address, bytes, name);
}
inline bool is_recording() { return vramscope_is_recording() != 0; }
inline bool start(const char* file) { return vramscope_start(file) != 0; }
inline bool stop() { return vramscope_stop() != 0; }

} /* namespace vramscope */
#endif

#endif
