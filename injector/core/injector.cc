// SPDX-License-Identifier: Apache-2.0
// What happens when the loader maps the library into a process: the environment is copied, and nothing else.
#include "injector/core/session.h"

__attribute__((constructor)) static void OnLoad() { vramscope::injector::Initialize(); }
