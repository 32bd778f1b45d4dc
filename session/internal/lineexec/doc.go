// Package lineexec decides when a command line is typed into a shell, and when it has ended.
//
//	callers ──Give, Drop, Interrupt──▶ ┌─────────┐ ──Do(Action)──▶ keys, timers, answers
//	shell's marks ──Changed──────────▶ │ Machine │ ──View─────────▶ what the tracker knows
//	somebody's keys, replies ────────▶ └─────────┘ ──Probe────────▶ what the kernel knows
//
// Lines run one after the other. A line's steps:
//
//	Waits ─▶ Typed ─▶ Runs ─▶ Over          Typed ─▶ Dropped ─▶ Over (incomplete, refused)
//
// Three rules keep a session from being stranded:
//
//   - Marks tell of beginnings and ends. Where they are missing, the kernel tells that the
//     shell, or another one in its place, waits for a line: the line has ended, with the
//     status that is known or none and the reason.
//   - After Ctrl-C, typed or sent, nothing is typed before the shell is at a prompt again and
//     reads it: terminals throw away what was typed before.
//   - What another one left in the shell's editor, and replies to queries that were not read,
//     are taken away before a line is typed.
//
// The machine belongs to the session's owner: no clock, no I/O, no goroutine. Times are
// those of View.Now.
package lineexec
