// Package lineexec decides when a command line is typed into a shell, and when it has ended.
//
//	callers ──Submit, Drop, Interrupt─▶ ┌─────────┐ ──Do(Action)──▶ keys, timers, results
//	shell's marks ──HandleChange──────▶ │ Machine │ ──View─────────▶ state of the tracker
//	other keys, replies ──────────────▶ └─────────┘ ──Probe────────▶ state of the kernel
//
// Lines run one after the other. A line's steps:
//
//	Queued ─▶ Typed ─▶ Running ─▶ Done          Typed ─▶ Dropped ─▶ Done (incomplete, refused)
//
// Three rules keep a session usable:
//
//   - Marks report starts and ends. If a mark is missing and the kernel reports that the shell,
//     or one that replaced it, waits for a line, then the line has ended. Its status is known or
//     unknown, with a reason.
//   - After Ctrl-C, typed or sent, nothing is typed before the shell is at a prompt and reads it:
//     terminals discard what was typed before.
//   - Unfinished input of others in the shell's editor, and unread replies to queries, are
//     removed before a line is typed.
//
// The machine belongs to the session's owner: no clock, no I/O, no goroutine. Times are those of View.Now.
package lineexec
