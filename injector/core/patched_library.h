// SPDX-License-Identifier: Apache-2.0
// A library whose calls the slot patcher's test redirects: one through its PLT, one through a vtable.
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
