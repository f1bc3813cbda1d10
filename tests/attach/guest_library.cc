// SPDX-License-Identifier: Apache-2.0
// What attach_cycles puts into a process: gives its argument back as a number, and uses the heap and vector
// registers on the way, so that state that was not saved shows.
#include <cstdlib>
#include <string>
#include <vector>

extern "C" __attribute__((visibility("default"))) int guest_entry(const char* argument) {
  std::vector<double> junk(1000, 3.25);
  for (double& value : junk) value = value * 7.5 + 1;
  return junk[999] == 25.375 ? std::atoi(argument) : -1;
}
