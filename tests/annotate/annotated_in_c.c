/* SPDX-License-Identifier: Apache-2.0
 * The header in strict C, in a second file of the program. */
#include "injector/annotate/vramscope/annotate.h"

int AnnotateInC(const void* address);

int AnnotateInC(const void* address) {
  vramscope_push_range("in C");
  vramscope_name_pool(address, 1 << 16, "own pool");
  vramscope_set_mark("step", 7);
  vramscope_pop_range();
  vramscope_pop_range(); /* one too many */
  return vramscope_is_recording();
}
