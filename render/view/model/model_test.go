package model

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/render/view/layout"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func running(ids ...string) Update {
	var u Update
	for _, id := range ids {
		u.Sessions = append(u.Sessions, Session{ID: id, Name: id, State: StateRunning, Started: epoch})
	}
	return u
}

// tree prints sessions with their tree: rows in brackets, stacks in braces.
func tree(n *layout.Node) string {
	if n.Session != "" {
		return n.Session
	}
	var kids []string
	for _, k := range n.Kids {
		kids = append(kids, tree(k))
	}
	if n.Stacked {
		return "{" + strings.Join(kids, " ") + "}"
	}
	return "[" + strings.Join(kids, " ") + "]"
}

// String is the tabs, the current one with a star, and the focus.
func (m *Model) String() string {
	var tabs []string
	for i, t := range m.Tabs {
		s := "auto"
		if !t.Auto {
			s = tree(t.Tree)
		}
		if i == m.Current {
			s += "*"
		}
		tabs = append(tabs, s)
	}
	return strings.Join(tabs, " ") + " " + m.Focus
}

var area = layout.Rect{W: 120, H: 40}

func TestTabs(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(m *Model)
		want string
	}{
		{"the newest is focused", func(*Model) {}, "auto* c"},
		{"step", func(m *Model) { m.Step(1); m.Step(1) }, "auto* b"},
		{"pick", func(m *Model) { m.Pick(1); m.Pick(7) }, "auto* b"},
		{"to the left", func(m *Model) { m.Toward(-1, 0) }, "auto* a"},
		{"right and down", func(m *Model) { m.Pick(0); m.Toward(1, 0); m.Toward(1, 0) }, "auto* b"},
		{"a tab of its own", func(m *Model) { m.MoveToTab() }, "auto c* c"},
		{"and back", func(m *Model) { m.MoveToTab(); m.StepTab(1) }, "auto* c c"},
		{"all from a tab", func(m *Model) { m.MoveToTab(); m.ToggleAll(); m.ToggleAll() }, "c* c"},
		{"split", func(m *Model) { m.Insert(m.MakeManual(area), "c", "d") }, "{[a b] [c d]}* c"},
		{"leave: the neighbour is focused", func(m *Model) { m.Pick(1); m.MakeManual(area); m.RemoveFromTab("b") }, "{a c}* a"},
		{"leave the last one", func(m *Model) { m.MoveToTab(); m.RemoveFromTab("c") }, "auto* c"},
		{"swap", func(m *Model) { m.Swap(area, 1) }, "{[c b] a}* c"},
		{"go to where it is", func(m *Model) { m.MoveToTab(); m.Show(0); m.GoTo("c") }, "auto* c c"},
		{"go to a tab that was made", func(m *Model) { m.MoveToTab(); m.Show(0); m.RemoveFromTab("c"); m.GoTo("c") }, "auto c* c"},
		{"go to what is in no tab", func(m *Model) { m.RemoveFromTab("a"); m.GoTo("a") }, "auto a* a"},
		{"forget", func(m *Model) { m.MoveToTab(); m.Forget("c") }, "auto* b"},
		{"drop the last tab", func(m *Model) { m.MakeManual(area); m.DropTab(0) }, "auto* c"},
	} {
		m := New(nil)
		m.Update(running("a", "b", "c"), epoch)
		m.Places = m.Arrange(area)
		c.do(&m)
		if got := m.String(); got != c.want {
			t.Errorf("%s: %s; want %s", c.name, got, c.want)
		}
	}
}

// TestMissingSessions_KeepTheirPlace checks that missing sessions keep their place for a while: a daemon that has just
// started may not know all yet.
func TestMissingSessions_KeepTheirPlace(t *testing.T) {
	m := New(nil)
	m.Update(running("a", "b"), epoch)
	m.MakeManual(area)
	m.Update(running("a"), epoch)
	if got := m.String(); got != "{a b}* b" {
		t.Errorf("at once: %s", got)
	}
	m.Tick(epoch.Add(ForgetTime - 1))
	if got := m.String(); got != "{a b}* b" {
		t.Errorf("too early: %s", got)
	}
	m.Tick(epoch.Add(ForgetTime))
	if got := m.String(); got != "a* a" {
		t.Errorf("then: %s", got)
	}
	m.Update(Update{Unavailable: "refused"}, epoch)
	m.Update(Update{Unavailable: "still"}, epoch.Add(time.Second))
	if got := m.String(); got != "a* a" || !m.UnavailableSince.Equal(epoch) {
		t.Errorf("away since %v: %s", m.UnavailableSince, got)
	}
}

func TestAlerts(t *testing.T) {
	code := func(n int) *int { return &n }
	busy := Session{ID: "a", State: StateRunning, Phase: PhaseRunning, Since: epoch}
	for _, c := range []struct {
		name  string
		now   Session
		after time.Duration
		quiet Alerts
		seen  bool // the session is on the screen
		want  AlertKind
	}{
		{"nothing", busy, time.Minute, Alerts{}, false, AlertNone},
		{"asks", Session{State: StateRunning, Phase: PhaseRunning, Needs: "password"}, 0, Alerts{}, true, AlertInput},
		{"asks, unwanted", Session{State: StateRunning, Needs: "password"}, 0, Alerts{NoInput: true}, false, AlertNone},
		{"a command waits for approval", Session{State: StateRunning, Phase: PhaseRunning, Needs: NeedsApproval}, 0, Alerts{}, true, AlertApproval},
		{"approval, unwanted", Session{State: StateRunning, Needs: NeedsApproval}, 0, Alerts{NoApproval: true}, false, AlertNone},
		{"a full-screen program waits", Session{State: StateRunning, Needs: "screen"}, 0, Alerts{}, false, AlertNone},
		{"finished", Session{State: StateRunning, Phase: PhasePrompt, LastExit: code(0)}, time.Minute, Alerts{}, false, AlertFinished},
		{"finished in sight", Session{State: StateRunning, Phase: PhasePrompt, LastExit: code(0)}, time.Minute, Alerts{}, true, AlertNone},
		{"finished soon", Session{State: StateRunning, Phase: PhasePrompt}, time.Second, Alerts{Long: 3 * time.Second}, false, AlertNone},
		{"failed in sight", Session{State: StateRunning, Phase: PhasePrompt, LastExit: code(1)}, time.Minute, Alerts{}, true, AlertFailed},
		{"failed, unwanted", Session{State: StateRunning, Phase: PhasePrompt, LastExit: code(1)}, time.Minute, Alerts{NoCommand: true}, false, AlertNone},
		{"ended", Session{State: "exited", ExitCode: code(0)}, 0, Alerts{}, false, AlertFinished},
		{"killed", Session{State: "exited", Signal: "SIGKILL"}, 0, Alerts{}, false, AlertFailed},
		{"ended by somebody", Session{State: "exited", Signal: "SIGHUP"}, 0, Alerts{}, false, AlertFinished},
		{"ended by somebody, as a shell tells it", Session{State: "exited", ExitCode: code(128 + 15)}, 0, Alerts{}, false, AlertFinished},
		{"crashed", Session{State: "exited", ExitCode: code(128 + 11)}, 0, Alerts{}, false, AlertFailed},
		{"rang", Session{State: StateRunning, Phase: PhaseRunning, Bells: 1}, 0, Alerts{}, false, AlertBell},
		{"failed, and goes", Session{State: "exited", ExitCode: code(1), NoAlerts: true}, 0, Alerts{}, false, AlertNone},
		{"asks before it goes", Session{State: StateRunning, Needs: "password", NoAlerts: true}, 0, Alerts{}, false, AlertInput},
		{"rang, unwanted", Session{State: StateRunning, Phase: PhaseRunning, Bells: 1}, 0, Alerts{NoBell: true}, false, AlertNone},
	} {
		m := New(nil)
		m.DisabledAlerts = c.quiet
		m.Update(Update{Sessions: []Session{busy}}, epoch)
		if c.seen {
			m.Places = m.Arrange(area)
		}
		c.now.ID = "a"
		m.Update(Update{Sessions: []Session{c.now}}, epoch.Add(c.after))
		if got := m.Alerts["a"].Kind; got != c.want {
			t.Errorf("%s: %q; want %q", c.name, got.Words(), c.want.Words())
		}
	}
}

// TestNextAlert checks that the most urgent alert comes first, of equals the oldest, and that one answered elsewhere is
// none.
func TestNextAlert(t *testing.T) {
	m := New(nil)
	m.Update(running("a", "b", "c", "d"), epoch)
	for i, c := range []struct {
		bells    int    // of a
		bAsks    string // what b and c need
		cAsks    string
		want     string
		worstOfA AlertKind
	}{
		{0, "", "", "", AlertNone},
		{1, "", "", "a", AlertBell},
		{1, "", "confirm", "c", AlertBell},
		{1, "text", "confirm", "c", AlertBell},
		{1, "text", "", "b", AlertBell},
		{1, "", "", "a", AlertBell},
	} {
		u := running("a", "b", "c", "d")
		u.Sessions[0].Bells, u.Sessions[1].Needs, u.Sessions[2].Needs = c.bells, c.bAsks, c.cAsks
		m.Update(u, epoch.Add(time.Duration(i)*time.Second))
		if got, worst := m.NextAlert(), m.Worst([]string{"a", "d"}); got != c.want || worst != c.worstOfA {
			t.Errorf("%d: %q is next, a %q; want %q, %q", i, got, worst.Words(), c.want, c.worstOfA.Words())
		}
	}
}

// TestRemovedIsNoAlert checks that a removed session has no alert: there is nothing to go to.
//
// FEATURES: R76
func TestRemovedIsNoAlert(t *testing.T) {
	m := New(nil)
	m.Update(running("a", "b"), epoch)
	u := running("a", "b")
	u.Sessions[0].Bells, u.Sessions[1].Bells = 1, 1
	m.Update(u, epoch)
	u.Sessions = u.Sessions[1:]
	m.Update(u, epoch)
	if len(m.Alerts) != 1 || m.NextAlert() != "b" {
		t.Errorf("alerts: %v", m.Alerts)
	}
}

// TestLayout checks that a layout identifies sessions by id and, if those are gone, by name.
func TestLayout(t *testing.T) {
	m := New(nil)
	m.Update(running("a", "b"), epoch)
	m.MakeManual(area)
	m.AddTab(&Tab{Tree: layout.Leaf("a"), Focus: "a", Name: "first"})
	kept := m.Layout()
	again := New(nil)
	u := running("a", "b2")
	u.Sessions[1].Name = "b"
	again.Update(u, epoch)
	if !again.UseLayout(&kept) || again.String() != "{a b2} a* a" || again.Title(1) != "first" {
		t.Errorf("%s, %q", again.String(), again.Title(1))
	}
	none := New(nil)
	none.Update(running("z"), epoch)
	if none.UseLayout(&kept) || none.String() != "auto* z" {
		t.Errorf("no session of it exists: %s", none.String())
	}
	for broken, want := range map[string]string{"{": "not readable", `{"version":9}`: "version 9"} {
		if _, err := ParseLayout([]byte(broken)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", broken, err)
		}
	}
}

// TestOnly checks that a session that was requested by id is shown in any state, and that others are not.
func TestOnly(t *testing.T) {
	m := New([]string{"b", "x"})
	m.Update(running("a", "b"), epoch)
	m.Expect("n")
	m.Update(running("a", "b", "n"), epoch)
	if got := fmt.Sprint(m.ShownPanes(), m.Number("n"), m.Hidden()); got != "[b n] 2 0" {
		t.Error(got)
	}
}

// TestViewersCountAlike checks that two viewers of the same sessions show the same numbers of prompts and failures,
// though one was opened later: an existing prompt is an alert in it, and a failure of the last hour is one in both.
//
// FEATURES: R76
func TestViewersCountAlike(t *testing.T) {
	now, one, none := time.Unix(100_000, 0), 1, (*int)(nil)
	before := []Session{{ID: "asks", State: StateRunning}, {ID: "fails", State: StateRunning}, {ID: "old", State: "exited", ExitCode: &one, Ended: now.Add(-2 * time.Hour)}, {ID: "killed", State: StateRunning}}
	after := []Session{
		{ID: "asks", State: StateRunning, Needs: "confirm"}, {ID: "fails", State: "exited", ExitCode: &one, Ended: now}, before[2],
		{ID: "killed", State: "exited", ExitCode: none, Signal: "SIGTERM", Ended: now}, {ID: "stopped", State: "exited", ExitCode: &one, Stopped: true, Ended: now}, // it answered so
	}
	early, late := New(nil), New(nil)
	early.Update(Update{Sessions: before}, now)
	for _, m := range []*Model{&early, &late} {
		m.Update(Update{Sessions: after}, now)
	}
	for name, m := range map[string]*Model{"the first": &early, "the one opened later": &late} {
		if a := m.Alerts["asks"].Kind; a != AlertInput {
			t.Errorf("%s: the prompt is alert %d", name, a)
		}
		for i, want := range []Attention{AttentionNeeds, AttentionFailed, AttentionEnded, AttentionEnded, AttentionEnded} {
			if a := m.Attention(&m.Sessions[i]); a != want {
				t.Errorf("%s: %s is %s, want %s", name, m.Sessions[i].ID, a, want)
			}
		}
	}
}

// TestEndedByRequestIsNoFailure checks that a session that was ended by request has not failed, with any status, and
// also if it had to be killed.
//
// FEATURES: R76
func TestEndedByRequestIsNoFailure(t *testing.T) {
	code := 3
	for name, c := range map[string]struct {
		over Session
		want AlertKind
	}{
		"by itself":                     {Session{ExitCode: &code}, AlertFailed},
		"by request":                    {Session{ExitCode: &code, Stopped: true}, AlertFinished},
		"killed, perhaps out of memory": {Session{Signal: "SIGKILL"}, AlertFailed},
		"killed by request":             {Session{Signal: "SIGKILL", Stopped: true}, AlertFinished},
	} {
		m := New(nil)
		m.Update(running("a", "b"), epoch)
		c.over.ID, c.over.State, c.over.Ended = "b", "exited", epoch
		after := running("a")
		after.Sessions = append(after.Sessions, c.over)
		m.Update(after, epoch)
		if s := m.Session("b"); m.Alerts["b"].Kind != c.want || s.HasFailed() != (c.want == AlertFailed) {
			t.Errorf("%s: %q, failed: %v", name, m.Alerts["b"].Kind.Words(), s.HasFailed())
		}
	}
}

// TestAlerts_ClearedOnRestart checks that alerts of an ended session are cleared once it was restarted.
func TestAlerts_ClearedOnRestart(t *testing.T) {
	m, code := New(nil), 1
	m.Update(running("a", "b"), epoch)
	failed := running("a", "b")
	failed.Sessions[1].State, failed.Sessions[1].ExitCode = "exited", &code
	m.Update(failed, epoch)
	if k := m.Alerts["b"].Kind; k != AlertFailed {
		t.Fatalf("%q", k.Words())
	}
	m.Update(running("a", "b"), epoch)
	if k := m.Alerts["b"].Kind; k != AlertNone {
		t.Errorf("it runs again, and is reported as %s", k.Words())
	}
}
