package model

import (
	"testing"
	"time"

	"github.com/longterm-dev/longterm/render/view/layout"
)

// TestSessionsOfAHostThatIsCutOff checks that a viewer that starts while a host is unreachable shows the host's
// sessions in their places, and drops only those that the host does not have when it is back.
//
// FEATURES: R94
func TestSessionsOfAHostThatIsCutOff(t *testing.T) {
	tree := layout.Leaf("a").Split("a", "far/b", false).Split("far/b", "far/c", true)
	kept := &Layout{Version: LayoutVersion, Tabs: []TabFile{{Tree: tree, Focus: "far/b"}}, Names: map[string]string{"far/b": "far/build"}}
	cut := Unreachable{Host: "far", Why: "no route", Since: epoch, NeverReached: true}
	m := New(nil)
	u := running("a")
	u.Unreachable = []Unreachable{cut, {Host: "other", Since: epoch}}
	m.Update(u, epoch)
	if !m.UseLayout(kept) {
		t.Fatal("the layout is not used")
	}
	want := "[a {far/b far/c}]* far/b"
	again := running("a")
	again.Unreachable = u.Unreachable
	for _, now := range []time.Time{epoch, epoch.Add(time.Minute), epoch.Add(time.Hour)} {
		m.Update(again, now)
		if got := m.String(); got != want {
			t.Fatalf("after %v: %s; want %s", now.Sub(epoch), got, want)
		}
	}
	if s := m.Session("far/b"); s.Name != "far/build" || !s.UnreachableSince.Equal(epoch) || s.Host != "far" {
		t.Errorf("%+v", s)
	}
	back := running("a", "far/b")
	m.Update(back, epoch.Add(time.Hour))
	m.Update(back, epoch.Add(time.Hour+2*ForgetTime))
	if got, want := m.String(), "[a far/b]* far/b"; got != want {
		t.Errorf("when the host is back: %s; want %s", got, want)
	}
	if len(m.awaited) != 0 || !m.Session("far/b").UnreachableSince.IsZero() {
		t.Errorf("still awaited: %v", m.awaited)
	}
}

// TestNamesOfOtherHosts checks that names of other hosts' sessions contain the host, also if they are derived from the
// running program.
func TestNamesOfOtherHosts(t *testing.T) {
	s := Session{Name: "build/bash-2", Host: "build", Command: "/bin/bash --norc", Cwd: "/home/ann/x"}
	if !s.HasAutomaticName() || s.title() != "build/x" {
		t.Errorf("automatic %v, called %s", s.HasAutomaticName(), s.title())
	}
	if s.Host = ""; s.HasAutomaticName() {
		t.Error("build/bash-2 is not a generated name of a local session")
	}
}

func TestLayoutOfOtherHost(t *testing.T) {
	l := Layout{Tabs: []TabFile{{Auto: true}, {Tree: layout.Leaf("a").Split("a", "b", true), Focus: "b"}}, Names: map[string]string{"a": "x"}}
	l.RenameSessions(func(id string) string { return "far/" + id })
	if got := tree(l.Tabs[1].Tree); got != "{far/a far/b}" || l.Tabs[1].Focus != "far/b" || l.Names["far/a"] != "far/x" {
		t.Errorf("%s, %+v", got, l)
	}
}
