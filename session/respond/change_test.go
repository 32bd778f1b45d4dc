package respond

import (
	"strings"
	"testing"
	"time"
)

// TestEngine_Change checks that rules can be replaced: answered prompts stay answered, and unread output is matched
// with the new rules.
// FEATURES: R50, R51
func TestEngine_Change(t *testing.T) {
	name := Rule{Text: "Name: ", Reply: textReply("bob\r")}
	goOn := Rule{Text: "Go? ", Reply: textReply("y\r"), Max: 2}
	wait := Rule{Text: "slow", Reply: []Reply{{Kind: ReplyWait, Wait: time.Second}, {Kind: ReplyText, Value: "late"}}}
	for _, tt := range []struct {
		name   string
		before []Rule
		script string
		after  []Rule
		from   []int
		then   string
		want   string
	}{
		{"a new rule matches an unanswered prompt", []Rule{name}, "out Go? \npause 1s", []Rule{name, goOn}, []int{0, -1}, "pause 1s", "text y\r"},
		{"a new rule does not match an answered prompt", []Rule{name}, "out Name: \npause 1s", []Rule{{Text: "Name", Reply: textReply("x")}, name}, []int{-1, 0}, "pause 1s", "text bob\r"},
		{"a new rule does not match typed text", []Rule{name}, "out $ \npause 1s\ntype Go?\\x20", []Rule{name, goOn}, []int{0, -1}, "pause 1s", ""},
		{"match counts are kept", []Rule{name, goOn}, "out Go? Go? \npause 1s", []Rule{goOn, name}, []int{1, 0}, "out \\r\\nGo? \npause 1s", "text y\r,text y\r"},
		{"redrawn prompts are remembered", []Rule{name, goOn}, "out Go? \npause 1s", []Rule{goOn}, []int{1}, "out \\rGo? \npause 1s", "text y\r"},
		{"waiting replies are kept", []Rule{name, wait}, "out slow\\r\\n", []Rule{wait}, []int{1}, "pause 2s", "text late"},
		{"waiting replies of a removed rule are dropped", []Rule{name, wait}, "out slow\\r\\n", []Rule{name}, []int{0}, "pause 2s", ""},
		{"after a failure of all", []Rule{{Text: "a", Reply: []Reply{{Kind: ReplyFail, Value: "no"}}}}, "out a\\r\\nxyz", []Rule{name}, []int{-1}, "out \\r\\nName: \npause 1s", "fail no,text bob\r"},
		{"no rules", []Rule{name}, "out x", nil, nil, "out Name: \\r\\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newTestEngine(t, Set{Rules: tt.before})
			r.runScript(strings.ReplaceAll(tt.script, " \n", "\\x20\n"))
			acts, err := r.engine.Change(r.now, Set{Rules: tt.after}, tt.from)
			if err != nil {
				t.Fatal(err)
			}
			r.collect(acts)
			r.runScript(strings.ReplaceAll(tt.then, " \n", "\\x20\n"))
			if got := strings.Join(r.actions, ","); got != tt.want {
				t.Errorf("got actions %q, want %q", got, tt.want)
			}
			if _, err := r.engine.State(); err != nil {
				t.Error(err)
			}
		})
	}
}

// FEATURES: R50, R54
func TestEngine_Failure_EndsItsList(t *testing.T) {
	r := newTestEngine(t, Set{Rules: []Rule{
		{Text: "bad", List: "call", Reply: []Reply{{Kind: ReplyFail, Value: "it is bad"}}},
		{Text: "Go?", List: "call", Reply: textReply("call")},
		{Text: "Go?", Reply: textReply("session")},
		{Text: "never", List: "other", Timeout: time.Second, Reply: textReply("x")},
	}})
	r.runScript(`out Go?\r\nbad\r\nGo?\r\n
		pause 2s
		out Go?\r\n`)
	want := `text call,fail it is bad,text session,fail "never" did not appear within 1s,text session`
	if got := strings.Join(r.actions, ","); got != want || r.engine.Done() {
		t.Errorf("got actions %q, want %q; done %v", got, want, r.engine.Done())
	}
}

// FEATURES: R51
func TestRule_After(t *testing.T) {
	r := newTestEngine(t, Set{Rules: []Rule{
		{Text: "a", Reply: textReply("A"), Max: 2}, {Text: "b", Reply: textReply("B"), AfterPrevious: true}, {Text: "c", Reply: textReply("C")}}})
	r.runScript(`out b c\r\na b\r\na b b a\r\n`)
	if got := strings.Join(r.actions, ","); got != "text C,text A,text A,text B,text B" {
		t.Errorf("got actions %q", got)
	}
}

// TestEngine_Skip_MatchesOnlyUnfinishedLine checks that only the unfinished line of skipped output can match.
// FEATURES: R50, R51
func TestEngine_Skip_MatchesOnlyUnfinishedLine(t *testing.T) {
	r := newTestEngine(t, Set{Rules: []Rule{{Text: "Go? ", Reply: textReply("y")}}})
	r.collect(r.engine.Skip(r.now, 0, []byte("Go? \r\n"+strings.Repeat("Go? ", 10000)+"\r\nGo? ")))
	if len(r.actions) > 0 {
		t.Fatalf("got actions %q, want none", r.actions)
	}
	r.pause(time.Second)
	if got := strings.Join(r.actions, ","); got != "text y" {
		t.Errorf("got actions %q", got)
	}
	r.engine.MarkAnswered(r.now)
	r.pause(time.Second)
	if len(r.actions) != 1 {
		t.Errorf("got actions %q", r.actions)
	}
}

// FEATURES: R53
func TestDurableState_HasOnlyInputEchoedByTerminal(t *testing.T) {
	r := newTestEngine(t, Set{Rules: []Rule{{Text: "x"}}})
	r.collect(r.engine.SetEcho(r.now, EchoApp))
	r.collect(r.engine.HandleInput(r.now, Input{Data: []byte("hunter2\r")}))
	r.collect(r.engine.SetEcho(r.now, EchoOn))
	r.collect(r.engine.HandleInput(r.now, Input{Data: []byte("harmless")}))
	data, err := r.engine.DurableState()
	if err != nil {
		t.Fatal(err)
	}
	if s := string(data); strings.Contains(s, "hunter2") || !strings.Contains(s, "harmless") {
		t.Errorf("got state %s", s)
	}
}
