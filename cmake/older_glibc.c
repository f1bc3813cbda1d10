// SPDX-License-Identifier: Apache-2.0
// Replacements for C library functions that the compiler's static libstdc++ calls, and that older C
// libraries do not have. Linked into all programs and libraries of a package (scripts/package.sh), which
// must run there; never into an ordinary build.
#include <stdint.h>
#include <sys/random.h>

// glibc 2.36. For std::random_device, which nothing here uses.
__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
  uint32_t number = 0;
  if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) number = 0x9e3779b9;
  return number;
}
