package model

import "time"

// Attention is how urgently a session needs the user, most urgent first.
type Attention uint8

// Kinds of attention, in the order in which sessions are listed.
const (
	AttentionNeeds Attention = iota // it waits for input or an approval
	AttentionFailed
	AttentionFinished // finished, not seen by the user yet
	AttentionRuns
	AttentionIdle
	AttentionEnded
)

var attentionWords = [...]string{"needs input", "failed", "finished", "running", "idle", "ended"}

func (a Attention) String() string { return attentionWords[a] }

// Attention returns a session's urgency by its state alone.
func (s *Session) Attention() Attention {
	switch {
	case s.NeedsAnswer():
		return AttentionNeeds
	case s.HasFailed(), s.PromptFailed():
		return AttentionFailed
	case s.State != StateRunning:
		return AttentionEnded
	case s.Phase == PhasePrompt:
		return AttentionIdle
	}
	return AttentionRuns
}

// Attention returns a session's urgency by its state and its unseen alert.
func (m *Model) Attention(s *Session) Attention {
	a := s.Attention()
	if k := m.Alerts[s.ID].Kind; k == AlertFinished && a > AttentionFinished {
		return AttentionFinished
	}
	if a == AttentionFailed && s.State != StateRunning && !m.hasFailedRecently(s) {
		return AttentionEnded
	}
	return a
}

// failedTime is how long a session counts as failed.
const failedTime = time.Hour

// hasFailedRecently reports whether a session failed recently and not by request. It depends only on the end time, so all viewers
// agree, and a new viewer shows recent failures.
func (m *Model) hasFailedRecently(s *Session) bool {
	return !s.wasEnded() && m.now.Sub(s.Ended) < failedTime
}

// wasEnded reports whether a signal or a request ended the session, so it did not fail by itself.
func (s *Session) wasEnded() bool {
	switch s.Signal {
	case "SIGHUP", "SIGINT", "SIGTERM", "SIGKILL":
		return true
	case "":
		if s.ExitCode != nil {
			switch *s.ExitCode {
			case 128 + 1, 128 + 2, 128 + 9, 128 + 15: // how a shell reports a signal
				return true
			}
		}
	}
	return false
}
