//go:build unix

package mcp

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// What is left out is told once: where another part of the output is put in, that of the part before is not told with it.
//
// FEATURES: R88
func TestLeftOutIsToldOnce(t *testing.T) {
	r := api.Result{State: "running", TimedOut: "idle", Message: "still running", Job: "j", Omitted: &api.Omitted{Bytes: 10, Lines: 2, Start: 5, End: 15}}
	a := answerOf(&r, "s")
	first := `read{"session":"s","since":5,"to":15}`
	if !strings.Contains(a.text(), "still running; what is left out: "+first) {
		t.Errorf("%s", a.text())
	}
	a.uncut()
	if a.uncut(); a.Message != "still running" || a.Omitted != nil {
		t.Errorf("%q, %+v", a.Message, a.Omitted)
	}
	a.cut(&api.Omitted{Bytes: 3, Lines: 1, Start: 20, End: 23})
	if text := a.text(); strings.Contains(text, first) || strings.Count(text, "left out") != 1 || !strings.Contains(text, `"since":20,"to":23`) {
		t.Errorf("%s", text)
	}
}

// What an agent is refused says what to call instead in its own words, not in those of the command line.
//
// FEATURES: R88
func TestErrorsSayWhatToCall(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{api.Errorf(api.CodeInvalid, "working directory /x does not exist").WithHint("create it or choose another with --cwd"), "create it or choose another with cwd"},
		{api.Errorf(api.CodeInvalid, "the session's name is empty").WithHint("`longterm ls` lists the sessions"), "call list{} for the sessions there are"},
		{
			api.Errorf(api.CodeInvalid, "the id a is that of another call").WithHint("give each call an id of its own, or none; `longterm jobs show a` tells what the other one is"),
			`or none; jobs{"id":"a"} tells what the other one is`,
		},
		{api.Errorf(api.CodeInvalid, "bad query: missing closing )"), `as in search{"text":"f(x"}`},
	} {
		r, _ := failure(c.err, "").StructuredContent.(*refusal)
		if r == nil || !strings.HasSuffix(r.Next, c.want) || strings.Contains(r.Next, "longterm") || strings.Contains(r.Next, "--") {
			t.Errorf("%v: %+v", c.err, r)
		}
	}
}
