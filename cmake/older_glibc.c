// SPDX-License-Identifier: Apache-2.0
// What the compiler's static libstdc++ takes from a C library that is newer than those that packages must run on: linked into all
// programs and libraries of a package (scripts/package.sh), never into an ordinary build.
#include <stdint.h>
#include <sys/random.h>

// glibc 2.36. For std::random_device, which nothing here uses.
__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
  uint32_t number = 0;
  if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) number = 0x9e3779b9;
  return number;
}
