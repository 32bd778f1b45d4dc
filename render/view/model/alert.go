package model

import (
	"slices"
	"strings"
	"time"
)

// Alert is something a person may want to know of a session that is not in sight.
type Alert struct {
	Kind  AlertKind
	Doing string // the command that it is about; empty: none is known
	since time.Time
}

// AlertKind says how urgent an alert is.
type AlertKind uint8

// Kinds of alerts, the more urgent the later.
const (
	AlertNone AlertKind = iota
	AlertFinished
	AlertBell
	AlertFailed
	AlertNeeds
	AlertApproval
)

// Sign marks sessions and tabs.
func (k AlertKind) Sign() string { return signs[k] }

// Words say what happened.
func (k AlertKind) Words() string { return words[k] }

var signs = [...]string{AlertNone: "", AlertFinished: "✓", AlertBell: "♪", AlertFailed: "✗", AlertNeeds: "?", AlertApproval: "!"}

var words = [...]string{AlertNone: "", AlertFinished: "finished", AlertBell: "rang the bell", AlertFailed: "failed", AlertNeeds: "needs input",
	AlertApproval: "needs approval",
}

// DefaultLong is how long a command runs whose end is told, unless the person says.
const DefaultLong = 3 * time.Second

// notice compares what is known with what was.
func (m *Model) notice(now []Session, at time.Time) {
	for i := range now {
		s := &now[i]
		old := m.Session(s.ID)
		if old == nil {
			continue
		}
		kind := m.Quiet.worth(change(old, s, at, m.Quiet.Long))
		if s.Aside && kind < AlertNeeds {
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
		if old.State != StateRunning && s.State == StateRunning { // what is told of it was before it was started anew
			delete(m.Alerts, s.ID)
			continue
		}
		if a == AlertNeeds && !s.Wants() || a == AlertApproval && s.Needs != NeedsApproval { // it was answered elsewhere
			delete(m.Alerts, s.ID)
		}
	}
	for id := range m.Alerts {
		if !slices.ContainsFunc(now, func(s Session) bool { return s.ID == id }) { // removed: nobody can go to it
			delete(m.Alerts, id)
		}
	}
}

// noticeAsking has what asks when the viewer begins be alerts, as they are in one that was there.
func (m *Model) noticeAsking(now []Session, at time.Time) {
	for i := range now {
		s, kind := &now[i], AlertNeeds
		if s.Needs == NeedsApproval {
			kind = AlertApproval
		}
		if s.Wants() && m.Quiet.worth(kind) != AlertNone {
			m.Alerts[s.ID] = Alert{kind, about(s, s), at}
		}
	}
}

// about is the command that is or was running.
func about(old, s *Session) string {
	what := s.Doing
	if what == "" || s.Phase == PhasePrompt {
		what = old.Doing
	}
	what, _, _ = strings.Cut(what, "\n")
	return what
}

// worth is the alert, or none where the person wants none of it.
func (a *Alerts) worth(kind AlertKind) AlertKind {
	switch {
	case kind == AlertNeeds && a.NoInput, kind == AlertApproval && a.NoApproval, kind == AlertBell && a.NoBell,
		(kind == AlertFinished || kind == AlertFailed) && a.NoCommand:
		return AlertNone
	}
	return kind
}

func change(old, s *Session, now time.Time, long time.Duration) AlertKind {
	switch {
	case s.Needs == NeedsApproval && old.Needs != NeedsApproval:
		return AlertApproval
	case s.Wants() && s.Needs != NeedsApproval && (!old.Wants() || old.Needs == NeedsApproval):
		return AlertNeeds
	case old.State == StateRunning && s.State != StateRunning:
		return outcome(s.Failed() && (!s.wasEnded() || s.Signal == "SIGKILL")) // of that one memory may have run out
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

// NextAlert is the session that wants attention most, of equals the one that has waited
// longest; empty: none.
func (m *Model) NextAlert() string {
	best, _ := m.NextAlertBut(AlertNone)
	return best
}

// NextAlertBut returns the session that NextAlert does, without alerts of one kind, and the number of the other alerts.
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

// Asks is a session that was looked at, or was so from the start, and waits for input all the same, but for the one that has
// the focus; empty: none.
func (m *Model) Asks() string {
	for i := range m.Sessions {
		if s := &m.Sessions[i]; s.Wants() && s.ID != m.Focus {
			return s.ID
		}
	}
	return ""
}

// Worst is the most urgent alert among sessions.
func (m *Model) Worst(ids []string) AlertKind {
	worst := AlertNone
	for _, id := range ids {
		worst = max(worst, m.Alerts[id].Kind)
	}
	return worst
}

// Alerts say what is not worth a person's attention.
type Alerts struct {
	NoBell     bool
	NoCommand  bool
	NoInput    bool
	NoApproval bool
	Long       time.Duration // how long a command runs whose end is told; default 3 s
}
