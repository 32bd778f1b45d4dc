package view

import "time"

// alert is something a person may want to know of a session they do not look at.
type alert struct {
	kind  alertKind
	since time.Time
}

type alertKind uint8

// Alerts, the more urgent the later.
const (
	alertNone alertKind = iota
	alertFinished
	alertBell
	alertFailed
	alertNeeds
)

// sign marks sessions and tabs.
func (k alertKind) sign() string { return alertSigns[k] }

// words say what happened.
func (k alertKind) words() string { return alertWords[k] }

// alertSigns mark sessions and tabs.
var alertSigns = [...]string{alertNone: "", alertFinished: "✓", alertBell: "♪", alertFailed: "✗", alertNeeds: "?"}

var alertWords = [...]string{alertNone: "", alertFinished: "finished", alertBell: "rang the bell", alertFailed: "failed", alertNeeds: "needs input"}

// worthTelling is how long a command runs whose end is told, unless the person says.
const worthTelling = 3 * time.Second

// notice compares what is known with what was.
func (m *model) notice(now []Session, at time.Time) {
	for i := range now {
		s := &now[i]
		old := m.session(s.ID)
		if old == nil {
			continue
		}
		kind := m.quiet.worth(change(old, s, at, m.quiet.Long))
		if kind == alertFinished && m.onScreen(s.ID) {
			continue // it can be seen
		}
		if kind > m.alerts[s.ID].kind {
			m.alerts[s.ID] = alert{kind, at}
			if m.follow && m.tabOf(s.ID) >= 0 {
				m.goTo(s.ID)
			}
		}
		if a := m.alerts[s.ID]; a.kind == alertNeeds && !wants(s) { // somebody else answered
			delete(m.alerts, s.ID)
		}
	}
}

// worth is the alert, or none where the person wants none of it.
func (a *Alerts) worth(kind alertKind) alertKind {
	switch {
	case kind == alertNeeds && a.NoInput, kind == alertBell && a.NoBell,
		(kind == alertFinished || kind == alertFailed) && a.NoCommand:
		return alertNone
	}
	return kind
}

func change(old, s *Session, now time.Time, long time.Duration) alertKind {
	switch {
	case wants(s) && !wants(old):
		return alertNeeds
	case old.State == StateRunning && s.State != StateRunning:
		return outcome(s.failed())
	case old.Phase == PhaseRunning && s.Phase == PhasePrompt && now.Sub(old.Since) >= long:
		return outcome(s.LastExit != nil && *s.LastExit != 0)
	case s.Bells > old.Bells:
		return alertBell
	}
	return alertNone
}

func outcome(failed bool) alertKind {
	if failed {
		return alertFailed
	}
	return alertFinished
}

// nextAlert is the session that wants attention most, of equals the one that has waited
// longest; empty: none.
func (m *model) nextAlert() string {
	best := ""
	for i := range m.sessions {
		id := m.sessions[i].ID
		a, ok := m.alerts[id]
		if b := m.alerts[best]; ok && (best == "" || a.kind > b.kind || a.kind == b.kind && a.since.Before(b.since)) {
			best = id
		}
	}
	return best
}

// worst is the most urgent alert among sessions.
func (m *model) worst(ids []string) alertKind {
	worst := alertNone
	for _, id := range ids {
		worst = max(worst, m.alerts[id].kind)
	}
	return worst
}

// Alerts say what is not worth a person's attention.
type Alerts struct {
	NoBell    bool
	NoCommand bool
	NoInput   bool
	Long      time.Duration // how long a command runs whose end is told; default 3 s
}
