// SPDX-License-Identifier: Apache-2.0
// Places the variables that every event reads next to each other.
//
// Why: between two events, a training step runs through megabytes of torch's own code and data. So each cache
// line that an event touches is a likely miss of 5 to 20 ns; the instructions themselves cost 2. Spread over
// their modules, these variables took nine lines; together they take two.
#pragma once

// The linker places all variables of one section next to each other. Use the macro only for variables that
// are read at events and rarely written.
#define VRAMSCOPE_HOT __attribute__((section("vramscope_hot")))
