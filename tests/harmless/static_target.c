/* SPDX-License-Identifier: Apache-2.0
 * A program without a dynamic loader: prints a line and ends with the exit code of its argument; with a
 * second one, only when its input ends. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  puts("static");
  while (argc > 2 && getchar() != EOF) {
  }
  return argc > 1 ? atoi(argv[1]) : 0;
}
