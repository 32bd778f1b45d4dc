// Package notify notifies users of finished commands, programs that need input, bells and approval requests.
//
//	FinishedEvent ── Options.ShouldNotify ──→ Sender ──→ bell, OSC 9 or notify-send, a command, a webhook (package webhook)
//	InputEvent, ApprovalEvent, BellEvent ────↗
//
// Sender.Redact redacts secrets before anything goes to a webhook. The package knows neither sessions nor terminals:
// callers supply the events and a function that writes to attached terminals. Send may block for up to Options.Timeout,
// so callers run it on a goroutine of their own choice.
package notify
