//go:build unix

package viewsource

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/identity"
)

// TestViewApproval checks that an approval has all that a user needs: its caller, the command, and the effects of
// answers.
//
// FEATURES: R63
func TestViewApproval(t *testing.T) {
	now := time.Now()
	got := viewApproval(&api.Approval{
		ID: "A1", State: "pending", Kind: "line", Actor: identity.Actor{UID: os.Getuid(), Agent: "claude"}, Session: "s", Name: "build",
		Line: "make && git push", Cwd: "/src", Risk: "high", Group: "push", Rule: "git push", NoRule: "x asks", Prefixes: []string{"git push"}, Count: 2, Asked: now,
		Judgement: api.Judgement{Why: "it publishes", Rule: "p:push", Instead: "ask", Commands: []api.Judged{{Argv: []string{"git", "push", "a b"}, Verdict: "ask"}}},
	})
	want := model.Approval{
		ID: "A1", Requester: "agent claude", Session: "s", Name: "build", What: "make && git push", Cwd: "/src", Risk: "high", Group: "push",
		Rule: "git push", NoRule: "x asks", Covers: []string{"git push"}, Count: 2, Asked: now, Effects: []string{"it publishes"}, Why: `rule "p:push"`, Instead: "ask",
		Commands: []model.Judged{{Text: "git push 'a b'", Verdict: "ask"}},
	}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}
	for _, c := range []struct {
		a    api.Approval
		what string
	}{
		{api.Approval{Kind: "command", Argv: []string{"rm", "-r", "a b"}}, "rm -r 'a b'"},
		{api.Approval{Kind: "execution", Path: "/bin/rm"}, "/bin/rm"},
		{api.Approval{Kind: "network", Path: "example.org:443"}, "connect to example.org:443"},
		{api.Approval{Kind: "reveal", Path: "TOKEN"}, "show the secret TOKEN"},
		{api.Approval{Kind: "write", Path: "/x/policy.toml"}, "write /x/policy.toml"},
	} {
		if v := viewApproval(&c.a); v.What != c.what || v.Group != c.a.ID {
			t.Errorf("%s: %q, group %q", c.a.Kind, v.What, v.Group)
		}
	}
	for want, a := range map[string]identity.Actor{
		"you": {UID: os.Getuid()}, "uid 70000": {UID: 70000}, "agent x": {UID: os.Getuid(), Agent: "x"},
		"agent x (uid 70000)": {UID: 70000, Agent: "x"}, "uid 0 (token t, host h)": {Token: "t", Host: "h"},
	} {
		if os.Getuid() != 0 && strings.Contains(want, "uid 0") {
			continue
		}
		if got := describeActor(&a); got != want {
			t.Errorf("%+v is %q, want %q", a, got, want)
		}
	}
}

// TestViewFeedFollowsApprovals checks that events maintain the list of pending approvals and their sessions, and how
// others ended. Events that were missed while the daemon was down are made up for.
//
// FEATURES: R63 R80
func TestViewFeedFollowsApprovals(t *testing.T) {
	src := source{mark: "mine", options: &Options{}}
	f := &feed{v: src, out: make(chan model.Update, 1), bells: map[string]int{}, exits: map[string]*int{}}
	s := api.Session{ID: "s", Name: "s", State: "running", Needs: &api.InputRequest{Kind: "password"}, Labels: map[string]string{markLabel: "mine"}}
	f.all = []api.Session{s}
	tell := func(a api.Approval, with *api.Session) model.Update {
		t.Helper()
		if err := f.event(context.Background(), api.Event{Kind: "approval", Approval: &a, Session: with}); err != nil {
			t.Fatal(err)
		}
		return <-f.out
	}
	ids := func(u model.Update) (list []string) {
		for _, a := range u.Approvals {
			list = append(list, fmt.Sprint(a.ID, "×", a.Count))
		}
		return list
	}
	u := tell(api.Approval{ID: "A1", State: "pending", Session: "s", Line: "x", Count: 1}, nil)
	if !slices.Equal(ids(u), []string{"A1×1"}) || len(u.Sessions) != 1 || u.Sessions[0].Needs != model.NeedsApproval {
		t.Errorf("asked: %+v", u)
	}
	s.Needs = nil
	u = tell(api.Approval{ID: "A2", State: "pending", Line: "y", Count: 1}, &s) // without a session so far
	u = tell(api.Approval{ID: "A1", State: "pending", Session: "s", Line: "x", Count: 2}, nil)
	if !slices.Equal(ids(u), []string{"A1×2", "A2×1"}) || len(u.Sessions) != 1 {
		t.Errorf("asked again: %+v", u)
	}
	u = tell(api.Approval{ID: "A1", State: "answered", Session: "s", Answer: "reject", Feedback: "no", By: &identity.Actor{UID: 70000}}, nil)
	if !slices.Equal(ids(u), []string{"A2×1"}) || len(u.Sessions) != 0 { // our own session, which no longer waits
		t.Errorf("answered: %+v", u)
	}
	u = tell(api.Approval{ID: "A9", State: "gone"}, nil) // its request was not seen
	want := []model.EndedApproval{{ID: "A1", How: "rejected by uid 70000: no"}, {ID: "A9", How: "expired"}}
	if !slices.Equal(u.Ended, want) {
		t.Errorf("ended: %+v", u.Ended)
	}

	f.approvals.load([]api.Approval{{ID: "A3", State: "pending", Count: 1}}) // another daemon's list
	u = tell(api.Approval{ID: "A3", State: "pending", Count: 1}, nil)
	if !slices.Equal(ids(u), []string{"A3×1"}) || len(u.Ended) != 3 || u.Ended[2].ID != "A2" {
		t.Errorf("after a gap: %+v", u)
	}
	for i := range maxEnded + 5 {
		f.approvals.onEvent(&api.Approval{ID: fmt.Sprint("B", i), State: "gone"})
	}
	if n := len(f.approvals.ended); n != maxEnded || f.approvals.ended[n-1].ID != fmt.Sprint("B", maxEnded+4) {
		t.Errorf("%d ends are kept", n)
	}
	for answer, want := range map[string]string{"once": "allowed once", "session": "allowed for the session", "always": "allowed always", "": "answered"} {
		if got := ending(&api.Approval{State: "answered", Answer: answer}); got != want {
			t.Errorf("%q: %q", answer, got)
		}
	}
}
