// SPDX-License-Identifier: Apache-2.0
// When the loader maps the library into a process, it copies the environment and does nothing else.
#include "injector/core/session.h"

__attribute__((constructor)) static void OnLoad() { vramscope::injector::Initialize(); }
