// SPDX-License-Identifier: Apache-2.0
// Puts the variables that every event looks at side by side.
//
// Why: a training step runs through megabytes of torch's own code and data between two events, so each cache
// line that an event touches is a likely miss of 5 to 20 ns; the instructions themselves cost 2. Spread over
// their modules these variables were nine lines, together they are two.
#pragma once

// The linker lays all variables of one section next to each other. Only for variables that are read at events
// and hardly ever written.
#define VRAMSCOPE_HOT __attribute__((section("vramscope_hot")))
