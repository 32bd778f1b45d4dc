package respond

import (
	"strings"
	"testing"
	"time"
)

// Rules come and go; what was answered stays answered, what stands there unread is not
// missed.
// FEATURES: R50, R51
func TestChange(t *testing.T) {
	name := Rule{Text: "Name: ", Reply: say("bob\r")}
	goOn := Rule{Text: "Go? ", Reply: say("y\r"), Max: 2}
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
		{"a rule for what stands there", []Rule{name}, "out Go? \npause 1s", []Rule{name, goOn}, []int{0, -1}, "pause 1s", "text y\r"},
		{"not for what was answered", []Rule{name}, "out Name: \npause 1s", []Rule{{Text: "Name", Reply: say("x")}, name}, []int{-1, 0}, "pause 1s", "text bob\r"},
		{"nor for what was typed", []Rule{name}, "out $ \npause 1s\ntype Go?\\x20", []Rule{name, goOn}, []int{0, -1}, "pause 1s", ""},
		{"counts go with rules", []Rule{name, goOn}, "out Go? Go? \npause 1s", []Rule{goOn, name}, []int{1, 0}, "out \\r\\nGo? \npause 1s", "text y\r,text y\r"},
		{"so do prompts that are drawn again", []Rule{name, goOn}, "out Go? \npause 1s", []Rule{goOn}, []int{1}, "out \\rGo? \npause 1s", "text y\r"},
		{"and replies that wait", []Rule{name, wait}, "out slow\\r\\n", []Rule{wait}, []int{1}, "pause 2s", "text late"},
		{"unless their rule goes", []Rule{name, wait}, "out slow\\r\\n", []Rule{name}, []int{0}, "pause 2s", ""},
		{"after a failure of all", []Rule{{Text: "a", Reply: []Reply{{Kind: ReplyFail, Value: "no"}}}}, "out a\\r\\nxyz", []Rule{name}, []int{-1}, "out \\r\\nName: \npause 1s", "fail no,text bob\r"},
		{"none at all for a time", []Rule{name}, "out x", nil, nil, "out Name: \\r\\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, Set{Rules: tt.before})
			r.play(strings.ReplaceAll(tt.script, " \n", "\\x20\n"))
			acts, err := r.e.Change(r.now, Set{Rules: tt.after}, tt.from)
			if err != nil {
				t.Fatal(err)
			}
			r.did(acts)
			r.play(strings.ReplaceAll(tt.then, " \n", "\\x20\n"))
			if got := strings.Join(r.got, ","); got != tt.want {
				t.Errorf("did %q, want %q", got, tt.want)
			}
			if _, err := r.e.State(); err != nil {
				t.Error(err)
			}
		})
	}
}

// FEATURES: R50, R54
func TestFailureEndsItsList(t *testing.T) {
	r := newRig(t, Set{Rules: []Rule{
		{Text: "bad", List: "call", Reply: []Reply{{Kind: ReplyFail, Value: "it is bad"}}},
		{Text: "Go?", List: "call", Reply: say("call")},
		{Text: "Go?", Reply: say("session")},
		{Text: "never", List: "other", Timeout: time.Second, Reply: say("x")},
	}})
	r.play(`out Go?\r\nbad\r\nGo?\r\n
		pause 2s
		out Go?\r\n`)
	want := `text call,fail it is bad,text session,fail "never" did not appear within 1s,text session`
	if got := strings.Join(r.got, ","); got != want || r.e.Done() {
		t.Errorf("did %q, want %q; done %v", got, want, r.e.Done())
	}
}

// FEATURES: R51
func TestAfter(t *testing.T) {
	r := newRig(t, Set{Rules: []Rule{
		{Text: "a", Reply: say("A"), Max: 2}, {Text: "b", Reply: say("B"), After: true}, {Text: "c", Reply: say("C")}}})
	r.play(`out b c\r\na b\r\na b b a\r\n`)
	if got := strings.Join(r.got, ","); got != "text C,text A,text A,text B,text B" {
		t.Errorf("did %q", got)
	}
}

// Old output fires nothing but in the line it ends in.
// FEATURES: R50, R51
func TestSkip(t *testing.T) {
	r := newRig(t, Set{Rules: []Rule{{Text: "Go? ", Reply: say("y")}}})
	r.did(r.e.Skip(r.now, 0, []byte("Go? \r\n"+strings.Repeat("Go? ", 10000)+"\r\nGo? ")))
	if len(r.got) > 0 {
		t.Fatalf("did %q", r.got)
	}
	r.pause(time.Second)
	if got := strings.Join(r.got, ","); got != "text y" {
		t.Errorf("did %q", got)
	}
	r.e.MarkAnswered(r.now)
	r.pause(time.Second)
	if len(r.got) != 1 {
		t.Errorf("did %q", r.got)
	}
}

// FEATURES: R53
func TestDurableStateHoldsNothingUnseen(t *testing.T) {
	r := newRig(t, Set{Rules: []Rule{{Text: "x"}}})
	r.did(r.e.Echo(r.now, EchoApp))
	r.did(r.e.HandleInput(r.now, Input{Data: []byte("hunter2\r")}))
	r.did(r.e.Echo(r.now, EchoOn))
	r.did(r.e.HandleInput(r.now, Input{Data: []byte("harmless")}))
	data, err := r.e.DurableState()
	if err != nil {
		t.Fatal(err)
	}
	if s := string(data); strings.Contains(s, "hunter2") || !strings.Contains(s, "harmless") {
		t.Errorf("the state is %s", s)
	}
}
