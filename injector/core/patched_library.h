// SPDX-License-Identifier: Apache-2.0
// A library for the test of the slot patcher. The test redirects two of its calls: one through the PLT, one
// through a vtable.
#pragma once

namespace patched {

int Answer(int question);

class Oracle {
 public:
  virtual ~Oracle() = default;
  virtual int Ask(int question);
};

extern "C" int CallAnswer(int question);
extern "C" int AskOracle(int question);

}  // namespace patched
