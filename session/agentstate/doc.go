// Package agentstate knows how a coding agent that runs in a terminal gets on: working, waiting for
// input or for an approval, done, idle, or unknown, and by what that is known.
//
//	its own hooks  ── ReadHook ──→ Hook ──┐
//	kernel         ── Waits, Alive ───────┼─→ Machine.Look ──→ Verdict
//	screen, title  ── Agent.read ─────────┘
//
// Hooks count before the screen, the screen before the kernel, unless what counts less has contradicted
// for a while: hooks get lost (an interrupted turn has none), and screens change with versions. What
// nothing tells is unknown, never idle.
//
// What is known of each agent (its programs, what its hooks and screens mean, how a conversation is
// taken up again) is data: a file for each in rules, with a version. The package is pure: no clock, no
// file, no process.
package agentstate
