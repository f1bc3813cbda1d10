// SPDX-License-Identifier: Apache-2.0
#include "injector/core/options.h"

#include <stdlib.h>
#include <string.h>

#include "trace_format/ring.h"

namespace vramscope::injector {

constinit Options options = {};

namespace {

// False if the variable is unset or too long to copy whole.
bool CopyVariable(const char* name, char* to, size_t capacity) {
  const char* value = secure_getenv(name);
  if (value == nullptr) return false;
  const size_t length = strlen(value);
  if (length >= capacity) return false;
  memcpy(to, value, length + 1);
  return true;
}

}  // namespace

void ReadOptions() {
  char mode[16];
  options.dormant = CopyVariable(trace::kDormantVariable, mode, sizeof mode) && strcmp(mode, "dormant") == 0;
  if (!CopyVariable(trace::kSessionVariable, options.session, sizeof options.session)) return;
  CopyVariable(trace::kOptionsVariable, options.text, sizeof options.text);
  char collector[32];
  if (CopyVariable(trace::kCollectorVariable, collector, sizeof collector))
    options.collector = atoi(collector);
}

bool SetOptions(const char* session, const char* text, int collector) {
  const size_t session_length = strlen(session);
  const size_t text_length = strlen(text);
  if (session_length >= sizeof options.session || text_length >= sizeof options.text) return false;
  // Its first byte is cleared first and set last: other threads read it to see whether there is a session.
  __atomic_store_n(&options.session[0], 0, __ATOMIC_RELAXED);
  __atomic_store_n(&options.collector, collector, __ATOMIC_RELAXED);
  memcpy(options.text, text, text_length + 1);
  if (session_length > 0) memcpy(options.session + 1, session + 1, session_length);
  __atomic_store_n(&options.session[0], session[0], __ATOMIC_RELEASE);
  return true;
}

size_t Option(const char* key, char* buffer, size_t capacity) {
  const size_t key_length = strlen(key);
  for (const char* at = options.text; *at != 0;) {
    const char* end = strchrnul(at, ';');
    if (static_cast<size_t>(end - at) > key_length && memcmp(at, key, key_length) == 0 &&
        at[key_length] == '=') {
      const char* value = at + key_length + 1;
      size_t length = static_cast<size_t>(end - value);
      if (capacity == 0) return 0;
      if (length >= capacity) length = capacity - 1;
      memcpy(buffer, value, length);
      buffer[length] = 0;
      return length;
    }
    at = *end == ';' ? end + 1 : end;
  }
  if (capacity > 0) buffer[0] = 0;
  return 0;
}

bool OptionIs(const char* key, const char* value) {
  char buffer[64];
  Option(key, buffer, sizeof buffer);
  return strcmp(buffer, value) == 0;
}

uint64_t OptionNumber(const char* key, uint64_t absent) {
  char buffer[32];
  if (Option(key, buffer, sizeof buffer) == 0 || buffer[0] < '0' || buffer[0] > '9') return absent;
  return strtoull(buffer, nullptr, 10);
}

}  // namespace vramscope::injector
