// SPDX-License-Identifier: Apache-2.0
// A shared library for the test of the slot patcher (slot_patcher.h). The test redirects two calls inside the
// library. CallAnswer() calls Answer() through the PLT; AskOracle() calls Oracle::Ask() through a vtable.
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
