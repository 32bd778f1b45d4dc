package model

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
	if a == AttentionFailed && s.State != StateRunning && !m.seen[s.ID] { // long ago
		return AttentionEnded
	}
	return a
}

// Seen reports whether the session ran while the viewer was there and is still shown.
func (m *Model) Seen(id string) bool { return m.seen[id] }
