package model

import "time"

// Attention is how much a session wants a person, the most first.
type Attention uint8

// Kinds of attention, in the order in which sessions are listed.
const (
	AttentionNeeds Attention = iota // it asks, or waits for an approval
	AttentionFailed
	AttentionFinished // and nobody has looked since
	AttentionRuns
	AttentionIdle
	AttentionEnded
)

var attentionWords = [...]string{"needs input", "failed", "finished", "running", "idle", "ended"}

func (a Attention) String() string { return attentionWords[a] }

// Attention is what a session wants by its state alone.
func (s *Session) Attention() Attention {
	switch {
	case s.Wants():
		return AttentionNeeds
	case s.Failed(), s.PromptFailed():
		return AttentionFailed
	case s.State != StateRunning:
		return AttentionEnded
	case s.Phase == PhasePrompt:
		return AttentionIdle
	}
	return AttentionRuns
}

// Attention is what a session wants, by its state and by what was not looked at.
func (m *Model) Attention(s *Session) Attention {
	a := s.Attention()
	if k := m.Alerts[s.ID].Kind; k == AlertFinished && a > AttentionFinished {
		return AttentionFinished
	}
	if a == AttentionFailed && s.State != StateRunning && !m.lately(s) {
		return AttentionEnded
	}
	return a
}

// lateness is for how long a failed session wants somebody to look.
const lateness = time.Hour

// lately says that a session failed by itself not long ago, whether this viewer was there or not: two that are open count alike,
// and one that is opened tells what failed meanwhile.
func (m *Model) lately(s *Session) bool { return !s.wasEnded() && m.now.Sub(s.Ended) < lateness }

// wasEnded says that somebody ended it: it did not fail by itself.
func (s *Session) wasEnded() bool {
	switch s.Signal {
	case "SIGHUP", "SIGINT", "SIGTERM", "SIGKILL":
		return true
	case "":
		if s.ExitCode != nil {
			switch *s.ExitCode {
			case 128 + 1, 128 + 2, 128 + 9, 128 + 15: // a shell tells so of what it ran
				return true
			}
		}
	}
	return false
}
