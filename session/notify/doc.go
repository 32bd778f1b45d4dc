// Package notify tells people that a command has finished, that a program asks something, or that they have to allow
// something.
//
//	Finished ── Options.Wants ──→ Sender.Send ──→ bell, OSC 9 or notify-send, a command, a webhook (package webhook)
//	Waiting, Asked ─────────────↗
//
// What leaves the machine is masked first (Sender.Mask).
// It knows neither sessions nor terminals: callers say what there is to tell, and how the
// terminals of attached clients are written to. Send takes at most Options.Timeout; callers give
// it a goroutine that may wait.
package notify
