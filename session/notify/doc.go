// Package notify tells people that a command has finished.
//
//	Finished ── Options.Wants ──→ Sender.Send ──→ bell, OSC 9 or notify-send, a command, a webhook
//
// It knows neither sessions nor terminals: callers say what there is to tell, and how the
// terminals of attached clients are written to. Send takes at most Options.Timeout; callers give
// it a goroutine that may wait.
package notify
