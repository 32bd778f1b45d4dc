package model

import (
	"slices"
	"strings"
	"time"
)

// Alert is an unseen event of a session.
type Alert struct {
	Kind    AlertKind
	Command string // the command that it is about; "" means unknown
	since   time.Time
}

// AlertKind is how urgent an alert is.
type AlertKind uint8

// Kinds of alerts, in increasing urgency.
const (
	AlertNone AlertKind = iota
	AlertFinished
	AlertBell
	AlertFailed
	AlertInput
	AlertApproval
)

// Sign returns the symbol that marks sessions and tabs.
func (k AlertKind) Sign() string { return signs[k] }

// Words describes the event.
func (k AlertKind) Words() string { return words[k] }

var signs = [...]string{AlertNone: "", AlertFinished: "✓", AlertBell: "♪", AlertFailed: "✗", AlertInput: "?", AlertApproval: "!"}

var words = [...]string{AlertNone: "", AlertFinished: "finished", AlertBell: "rang the bell", AlertFailed: "failed", AlertInput: "needs input",
	AlertApproval: "needs approval",
}

// DefaultLong is the run time from which the end of a command raises an alert, unless configured.
const DefaultLong = 3 * time.Second

// raiseAlerts raises alerts for the changes between the known sessions and an update.
func (m *Model) raiseAlerts(now []Session, at time.Time) {
	for i := range now {
		s := &now[i]
		old := m.Session(s.ID)
		if old == nil {
			continue
		}
		kind := m.DisabledAlerts.filter(alertForChange(old, s, at, m.DisabledAlerts.Long))
		if s.NoAlerts && kind < AlertInput {
			continue
		}
		if kind == AlertFinished && m.onScreen(s.ID) {
			continue // it can be seen
		}
		if kind > m.Alerts[s.ID].Kind {
			m.Alerts[s.ID] = Alert{kind, about(old, s), at}
			if m.Follow && m.tabOf(s.ID) >= 0 {
				m.GoTo(s.ID)
			}
		}
		a := m.Alerts[s.ID].Kind
		// restarted: alerts of the earlier run no longer apply
		if old.State != StateRunning && s.State == StateRunning {
			delete(m.Alerts, s.ID)
			continue
		}
		if a == AlertInput && !s.NeedsAnswer() || a == AlertApproval && s.Needs != NeedsApproval { // it was answered elsewhere
			delete(m.Alerts, s.ID)
		}
	}
	for id := range m.Alerts {
		if !slices.ContainsFunc(now, func(s Session) bool { return s.ID == id }) { // the session was removed
			delete(m.Alerts, id)
		}
	}
}

// raiseInitialAlerts raises alerts for sessions that already need input when the viewer starts.
func (m *Model) raiseInitialAlerts(now []Session, at time.Time) {
	for i := range now {
		s, kind := &now[i], AlertInput
		if s.Needs == NeedsApproval {
			kind = AlertApproval
		}
		if s.NeedsAnswer() && m.DisabledAlerts.filter(kind) != AlertNone {
			m.Alerts[s.ID] = Alert{kind, about(s, s), at}
		}
	}
}

// about returns the command that runs or ran last.
func about(old, s *Session) string {
	what := s.ShellCommand
	if what == "" || s.Phase == PhasePrompt {
		what = old.ShellCommand
	}
	what, _, _ = strings.Cut(what, "\n")
	return what
}

// filter returns kind, or AlertNone if the user disabled it.
func (a *Alerts) filter(kind AlertKind) AlertKind {
	switch {
	case kind == AlertInput && a.NoInput, kind == AlertApproval && a.NoApproval, kind == AlertBell && a.NoBell,
		(kind == AlertFinished || kind == AlertFailed) && a.NoCommand:
		return AlertNone
	}
	return kind
}

// alertForChange returns the alert for a change of a session.
func alertForChange(old, s *Session, now time.Time, long time.Duration) AlertKind {
	switch {
	case s.Needs == NeedsApproval && old.Needs != NeedsApproval:
		return AlertApproval
	case s.NeedsAnswer() && s.Needs != NeedsApproval && (!old.NeedsAnswer() || old.Needs == NeedsApproval):
		return AlertInput
	case old.State == StateRunning && s.State != StateRunning:
		return outcome(s.HasFailed() && (!s.wasEnded() || s.Signal == "SIGKILL")) // perhaps killed for lack of memory
	case old.Phase == PhaseRunning && s.Phase == PhasePrompt && now.Sub(old.Since) >= long:
		return outcome(s.LastExit != nil && *s.LastExit != 0)
	case s.Bells > old.Bells:
		return AlertBell
	}
	return AlertNone
}

func outcome(failed bool) AlertKind {
	if failed {
		return AlertFailed
	}
	return AlertFinished
}

// NextAlert returns the session with the most urgent alert, the oldest first, or "".
func (m *Model) NextAlert() string {
	best, _ := m.NextAlertBut(AlertNone)
	return best
}

// NextAlertBut returns the same as NextAlert without the alerts of one kind. It also returns the number of the other alerts.
func (m *Model) NextAlertBut(kind AlertKind) (best string, alerts int) {
	for i := range m.Sessions {
		id := m.Sessions[i].ID
		a, ok := m.Alerts[id]
		if !ok || a.Kind == kind {
			continue
		}
		alerts++
		if b := m.Alerts[best]; best == "" || a.Kind > b.Kind || a.Kind == b.Kind && a.since.Before(b.since) {
			best = id
		}
	}
	return best, alerts
}

// WaitingWithoutAlert returns a session, other than the focused one, that still waits for input without an alert, or
// "".
func (m *Model) WaitingWithoutAlert() string {
	for i := range m.Sessions {
		if s := &m.Sessions[i]; s.NeedsAnswer() && s.ID != m.Focus {
			return s.ID
		}
	}
	return ""
}

// Worst returns the most urgent alert among sessions.
func (m *Model) Worst(ids []string) AlertKind {
	worst := AlertNone
	for _, id := range ids {
		worst = max(worst, m.Alerts[id].Kind)
	}
	return worst
}

// Alerts configures which events raise an alert.
type Alerts struct {
	NoBell     bool
	NoCommand  bool
	NoInput    bool
	NoApproval bool
	Long       time.Duration // run time from which the end of a command raises an alert; default 3 s
}
