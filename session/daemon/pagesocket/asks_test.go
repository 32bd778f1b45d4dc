//go:build unix

package pagesocket

import (
	"slices"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// TestAskings checks that a page gets the notice of a session's prompt once, and the notice of its end only if that
// lasts, in order, and all of them before any other message.
//
// FEATURES: R112
func TestAskings(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var a inputFilter
	var seq uint64
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	take := func(s, kind string, ms, errors int) []uint64 {
		seq++
		v := api.Event{Seq: seq, Kind: "input", Session: &api.Session{ID: s, Activity: &api.Activity{Running: true, ElapsedMS: int64(ms), Errors: errors}}}
		if kind != "" {
			v.Session.Needs = &api.InputRequest{Kind: kind, Since: at(ms)}
		}
		if errors < 0 {
			v.Session.Activity = nil
		}
		var out []uint64
		for _, v := range a.add(v, at(ms)) {
			out = append(out, v.Seq)
		}
		return out
	}
	want := func(what string, got []uint64, want ...uint64) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: sent %v, want %v", what, got, want)
		}
	}
	want("the first", take("a", "text", 0, 0), 1)
	want("a line is typed", take("a", "", 100, 0))
	if len(a.held) != 1 || a.due != at(100).Add(clearDelay) {
		t.Errorf("%d are held until %v", len(a.held), a.due)
	}
	want("the next prompt", take("a", "text", 200, 0))
	if len(a.held) != 0 {
		t.Error("an outdated notice is held")
	}
	want("with errors", take("a", "text", 300, 2), 4)
	want("typed", take("a", "", 400, 2))
	want("it asks for something else", take("a", "password", 500, 2), 6)
	want("typed", take("a", "", 600, 2))
	want("another session asks: what was held comes before", take("b", "menu", 700, 0), 7, 8)
	want("the first asks again", take("a", "password", 800, 2), 9)
	want("both are typed into", take("a", "", 900, 2))
	want("both are typed into", take("b", "", 950, 0))
	if a.due != at(900).Add(clearDelay) {
		t.Error("due is not that of the first")
	}
	var out []uint64
	for _, v := range a.release() {
		out = append(out, v.Seq)
	}
	want("when it lasts", out, 10, 11)
	want("and nothing is told twice", take("b", "", 1000, 0))
	want("a", take("a", "text", 2000, 0), 13)
	want("long asked: since when is told anew", take("a", "text", 2001+int(samePromptTime/time.Millisecond), 0), 14)
	a.forget("b")
	want("what the page was told otherwise", take("a", "text", 100_000, 0))
	want("what the page was told otherwise", take("b", "", 100_000, 0), 16)
	a.forget("")
	want("the lists were told", take("a", "text", 100_001, 0), 17)
	want("typed", take("a", "", 100_100, 0))
	want("and what it does changes, again and again", take("a", "", 100_300, 1))
	if len(a.held) != 1 || a.held[0].Seq != seq || a.due != at(100_100).Add(clearDelay) {
		t.Errorf("%v is held until %v: frequent changes delay the notices", a.held, a.due)
	}
	a.release()
	want("nothing is known to run", take("c", "text", 0, -1), 20)
	want("for who asks it changes nothing that something runs", take("c", "text", 100, 0))
	want("but that it has errors", take("c", "text", 200, 1), 22)
	a.note(&api.Event{Session: &api.Session{ID: "d", Needs: &api.InputRequest{Kind: "text", Since: at(0)}}})
	want("what the page was told with something else", take("d", "text", 100, 0))
	for n := range 3 * maxReported {
		take("many"+time.Duration(n).String(), "text", 0, 0)
	}
	if len(a.reported) > maxReported {
		t.Errorf("%d sessions are known", len(a.reported))
	}
}
