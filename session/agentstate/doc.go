// Package agentstate determines the state of a coding agent in a terminal: working, waiting for input or for an
// approval, done, idle, or unknown, with its evidence.
//
//	its own hooks  ── ReadHook ──→ Hook ──┐
//	kernel         ── Waits, Alive ───────┼─→ Machine.Look ──→ Verdict
//	screen, title  ── Agent.read ─────────┘
//
// Hooks precede the screen, and the screen precedes the kernel, unless the weaker evidence has contradicted for a
// while: hooks get lost (an interrupted turn sends no hook), and screens change with versions. Without evidence the state is
// unknown, never idle.
//
// The knowledge of each agent (its programs, the meaning of its hooks and screens, the command that resumes a
// conversation) is data: a file for each in rules, with a version. The package is pure: no clock, no file, no process.
package agentstate
