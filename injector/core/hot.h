// SPDX-License-Identifier: Apache-2.0
// Places the variables that every event reads next to each other.
//
// Each cache line that an event touches is a likely miss of 5 to 20 ns. These variables take two lines.
#pragma once

// The linker places the variables of one section together. Only for variables that events read and that are
// rarely written.
#define VRAMSCOPE_HOT __attribute__((section("vramscope_hot")))
