//go:build unix

package approvals

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/listing"
)

func pending(n int) []api.Approval {
	var list []api.Approval
	for i := range n {
		list = append(list, api.Approval{
			ID: fmt.Sprintf("A%d", i+1), State: "pending", Kind: "line", Line: fmt.Sprintf("touch f%d", i), Group: "not reading touch", Risk: "low",
			Asked: time.Now(), Count: 1, Session: "0123456789", Prefixes: []string{"touch"}, Rule: "touch", Actor: identity.Actor{Agent: "bot"},
			Judgement: api.Judgement{Verdict: "ask", Rule: "not reading", Why: "why", Commands: []api.Judged{{Argv: []string{"touch", "f 1"}, Verdict: "ask", Rule: "r", Why: "w"}}},
		})
	}
	return list
}

func text(f func(*strings.Builder)) string {
	var b strings.Builder
	f(&b)
	return b.String()
}

// TestHostileText checks that text of a request has no effect on the terminal of the user who is asked.
func TestHostileText(t *testing.T) {
	evil := "\x1b[2Ja\x07\u009b31m\r\nb"
	v := pending(1)[0]
	v.Line, v.Name, v.Cwd, v.Path, v.Feedback, v.Group = evil, evil, evil, evil, evil, evil
	v.NoRule = evil
	v.Actor.Agent, v.Parent, v.Judgement.Why, v.Judgement.Commands[0].Argv, v.Prefixes = evil, []string{evil}, evil, []string{evil}, []string{evil}
	list := []api.Approval{v}
	for range Grouped {
		list = append(list, v)
	}
	var l Live
	l.Set(list)
	l.Note(evil)
	full := l
	full.Key([]byte("\r"))
	for name, out := range map[string]string{
		"list": text(func(b *strings.Builder) { List(b, list[:1], false, listing.TableFormat{Width: 80}) }), "groups": text(func(b *strings.Builder) { List(b, list, false, listing.TableFormat{}) }),
		"show": text(func(b *strings.Builder) { Show(b, &v) }), "answered": text(func(b *strings.Builder) { PrintAnswered(b, &api.ApprovalsAnswered{Answered: list[:1]}) }),
		"grants": text(func(b *strings.Builder) { Grants(b, []api.Grant{{Prefix: evil, Name: evil, Rule: evil}}) }),
		"live":   strings.ReplaceAll(strings.TrimPrefix(string(l.Screen(80, 24)), "\x1b[H\x1b[2J"), "\r\n", "\n"),
		"full":   strings.ReplaceAll(strings.TrimPrefix(string(full.Screen(80, 24)), "\x1b[H\x1b[2J"), "\r\n", "\n"),
	} {
		if strings.ContainsAny(out, "\x1b\x07\r\u009b") {
			t.Errorf("%s: %q", name, out)
		}
	}
}

// TestList_ExplainsFewApprovals_OnATerminal checks that a terminal shows few approvals with effects, rule and answers;
// a pipe and a long list get a table.
//
// FEATURES: R63
// FAULT: H19
func TestList_ExplainsFewApprovals_OnATerminal(t *testing.T) {
	list := pending(2)
	list[0].Judgement.Effects = []string{"deletes node_modules: 214 files, 31 MB", "evil\x1b[2J"}
	list[0].Risk = "high"
	out := text(func(b *strings.Builder) { List(b, list, false, listing.TableFormat{Width: 50, Colour: true}) })
	want := "\x1b[1mA1   \x1b[m \x1b[31mhigh risk\x1b[m  \x1b[2mbot, 01234567, 0.0s ago\x1b[m\n" +
		"      \x1b[1mtouch f0\x1b[m\n" +
		"      → deletes node_modules: 214 files, 31 MB\n      → evil\uFFFD[2J\n" +
		"      \x1b[2mrule \"not reading\": why\x1b[m\n" +
		"      \x1b[2mallow with `longterm approvals answer A1\x1b[m\n      \x1b[2monce`; other answers: session, always,\x1b[m\n      \x1b[2mreject\x1b[m\n" +
		"\n\x1b[1mA2   \x1b[m \x1b[32mlow risk"
	if !strings.HasPrefix(out, want) || !strings.Contains(out, "      → why\n      \x1b[2mrule \"not reading\"\x1b[m\n") {
		t.Errorf("%q\n%q", out, want)
	}
	out = text(func(b *strings.Builder) { List(b, list, false, listing.TableFormat{}) })
	if !strings.Contains(out, "WHAT      EFFECT\n") || !strings.Contains(out, "touch f0  deletes node_modules: 214 files, 31 MB; evil") {
		t.Errorf("%s", out)
	}
	if out := text(func(b *strings.Builder) { List(b, pending(6), false, listing.TableFormat{Width: 80}) }); strings.Contains(out, "→") || !strings.Contains(out, "EFFECT") {
		t.Errorf("%s", out)
	}
}

// FEATURES: R63
func TestGroups(t *testing.T) {
	list := append(pending(100), api.Approval{ID: "A101", State: "pending", Group: "hard:remove rm", Line: "rm -r $X", Count: 3})
	out := text(func(b *strings.Builder) { List(b, list, false, listing.TableFormat{}) })
	if strings.Count(out, "\n") != 3 || !strings.Contains(out, "100  A1…A100") || !strings.Contains(out, "101 approvals in 2 groups") {
		t.Errorf("%s", out)
	}
	out = text(func(b *strings.Builder) { List(b, list, true, listing.TableFormat{}) })
	if strings.Count(out, "\n") != 103 || !strings.Contains(out, "(×3)") {
		t.Errorf("%s", out)
	}
}

func TestLive(t *testing.T) {
	var l Live
	if a := l.Key([]byte("1")); a.IDs != nil {
		t.Errorf("no answer was sent: %+v", a)
	}
	l.Set(pending(3))
	for _, key := range []string{"\x1b[B", "j", "j", "j", "k"} {
		l.Key([]byte(key))
	}
	for key, answer := range map[string]string{"1": "once", "2": "session", "3": "always"} {
		if a := l.Key([]byte(key)); len(a.IDs) != 1 || a.IDs[0] != "A2" || a.Answer != answer {
			t.Errorf("%s: %+v", key, a)
		}
	}
	if a := l.Key([]byte("12")); a.IDs != nil {
		t.Errorf("a paste answered: %+v", a)
	}
	l.Set(pending(3)[1:]) // the first was answered elsewhere
	if a := l.Key([]byte("1")); !slices.Equal(a.IDs, []string{"A2"}) {
		t.Errorf("another one is chosen: %+v", a)
	}
	l.Set(pending(1))
	if a := l.Key([]byte("1")); !slices.Equal(a.IDs, []string{"A1"}) {
		t.Errorf("%+v", a)
	}
	l.Key([]byte("\r"))
	if out := string(l.Screen(60, 30)); !strings.Contains(out, "for this session: touch") {
		t.Errorf("%s", out)
	}
	for _, size := range [][2]int{{1, 1}, {5, 2}, {300, 100}} {
		if got := strings.Count(string(l.Screen(size[0], size[1])), "\r\n"); got > max(1, size[1]-1) {
			t.Errorf("%v: %d lines", size, got)
		}
	}
	if l.Key([]byte("\x1b")).Quit || strings.Contains(string(l.Screen(60, 30)), "for this session: touch") {
		t.Error("Escape does not lead from the details to the list")
	}
	for _, key := range []string{"q", "\x03", "\x1b"} {
		if !l.Key([]byte(key)).Quit {
			t.Errorf("%q does not quit", key)
		}
	}
}

// TestLiveRejectsWithAReason checks that a rejection applies to the chosen request and carries its reason, and that it
// can be canceled until Enter.
//
// FEATURES: R63
func TestLiveRejectsWithAReason(t *testing.T) {
	var l Live
	l.Set(pending(2))
	for _, key := range []string{"\x1b", "\x03"} {
		if a := l.Key([]byte("4")); a.IDs != nil {
			t.Fatalf("it is rejected at once: %+v", a)
		}
		if a := l.Key([]byte(key)); a.Quit || a.IDs != nil || l.rejecting != nil {
			t.Errorf("%q does not cancel it: %+v", key, a)
		}
	}
	l.Key([]byte("4"))
	l.Set(pending(2)[1:]) // the chosen one was answered elsewhere
	for _, in := range []string{"xx", "\x15", "only", " b", "\x1b[A", "u", "ü", "\x7f", "ild 1", "\x07"} {
		if a := l.Key([]byte(in)); a.Quit || a.IDs != nil {
			t.Fatalf("%q: %+v", in, a)
		}
	}
	if out := string(l.Screen(80, 24)); !strings.HasSuffix(out, "reject A1 (Enter; Escape cancels), reason: only build 1") {
		t.Errorf("%q", out)
	}
	if a := l.Key([]byte("\r")); !slices.Equal(a.IDs, []string{"A1"}) || a.Answer != "reject" || a.Feedback != "only build 1" {
		t.Errorf("%+v", a)
	}
	if a := l.Key([]byte("1")); !slices.Equal(a.IDs, []string{"A2"}) {
		t.Errorf("%+v", a)
	}
	l.Key([]byte("4"))
	l.Key([]byte(strings.Repeat("x", 2*maxReason)))
	if n := len(l.rejecting.text); n != maxReason {
		t.Errorf("%d characters", n)
	}
}

// TestKeyHints_FitWhole_OnUsualWidth checks that all key hints fit on a terminal of the usual width, in each of their
// forms.
//
// FEATURES: R63
func TestKeyHints_FitWhole_OnUsualWidth(t *testing.T) {
	for _, n := range []int{1, 3, 1000} {
		for _, keys := range []string{"", "\t", "\r", "\t\r"} {
			var l Live
			l.Set(pending(n))
			for _, k := range keys {
				l.Key([]byte(string(k)))
			}
			for _, cols := range []int{80, 120} {
				out := string(l.Screen(cols, 24))
				back := map[bool]string{true: "Enter back", false: "Enter details"}[l.full]
				if !strings.Contains(out, back) || !strings.Contains(out, "q quit") || strings.Count(out, "\r\n") > 23 {
					t.Errorf("%d approvals, %d columns, after %q:\n%s", n, cols, keys, out)
				}
			}
		}
	}
}

// TestLiveGroups checks that many requests are grouped, and that an answer applies to those of the group that were
// shown. New requests change neither the choice nor the rows.
//
// FEATURES: R63
func TestLiveGroups(t *testing.T) {
	var l Live
	list := append(pending(100), api.Approval{ID: "A101", State: "pending", Group: "hard:remove rm", Line: "rm -r $X"})
	l.Set(list)
	if out := string(l.Screen(120, 24)); !strings.Contains(out, "101 approvals in 2 groups") || !strings.Contains(out, ">  100") {
		t.Errorf("%s", out)
	}
	l.Key([]byte("4"))
	if a := l.Key([]byte("\r")); len(a.IDs) != 100 || a.Answer != "reject" {
		t.Errorf("%+v", a)
	}
	for _, end := range []string{"G", "\x1b[F", "\x1b[6~", "\x1b[4~"} {
		l.Key([]byte("g"))
		l.Key([]byte(end))
		l.Set(append(pending(3), list...)) // more of the others
		if a := l.Key([]byte("1")); !slices.Equal(a.IDs, []string{"A101"}) {
			t.Errorf("%q: %v", end, a.IDs)
		}
	}
	l.Set(list)
	l.Key([]byte("\t"))
	l.Key([]byte("\x1b[H"))
	l.Screen(80, 13)
	for range 3 {
		l.Key([]byte("\x1b[6~"))
	}
	l.Key([]byte("\x1b[5~"))
	if a := l.Key([]byte("1")); !slices.Equal(a.IDs, []string{"A19"}) {
		t.Errorf("%v", a.IDs)
	}
	var few Live
	few.Set(pending(1))
	few.Set(list)
	if a := few.Key([]byte("1")); !slices.Equal(a.IDs, []string{"A1"}) {
		t.Errorf("a row became a group: %v", a.IDs)
	}
}

type fakeSource struct {
	list     []api.Approval
	answered []string
}

func (s *fakeSource) Pending(context.Context) ([]api.Approval, error) { return s.list, nil }

func (s *fakeSource) Answer(_ context.Context, id string, ans api.ApprovalAnswer) (api.Approval, error) {
	if id == "A2" {
		return api.Approval{}, errors.New("A2 was answered already")
	}
	s.answered = append(s.answered, id+" "+ans.Answer)
	s.list = s.list[1:]
	return api.Approval{ID: id, Answer: ans.Answer}, nil
}

func (s *fakeSource) AnswerAll(_ context.Context, ids []string, ans api.ApprovalAnswer) (api.ApprovalsAnswered, error) {
	s.answered = append(s.answered, strings.Join(ids, " ")+" "+ans.Answer)
	return api.ApprovalsAnswered{Answered: s.list[:len(ids)]}, nil
}

type fakeScreen struct{ last string }

func (s *fakeScreen) Draw(b []byte) error { s.last = string(b); return nil }
func (s *fakeScreen) Size() (int, int)    { return 80, 24 }

// FEATURES: R63
func TestRun(t *testing.T) {
	src, screen := &fakeSource{list: pending(2)}, &fakeScreen{}
	keys, changed := make(chan []byte), make(chan struct{})
	done := make(chan error)
	go func() { done <- Run[int](t.Context(), src, screen, keys, changed, nil) }()
	keys <- []byte("1")
	keys <- []byte("2") // another user was faster
	changed <- struct{}{}
	keys <- []byte("q")
	if err := <-done; err != nil || len(src.answered) != 1 || src.answered[0] != "A1 once" || !strings.Contains(screen.last, "A2 was answered already") {
		t.Errorf("%v %v\n%s", err, src.answered, screen.last)
	}
}
