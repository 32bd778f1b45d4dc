package respond

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// testEngine drives an engine as the owner of a session would, with its own clock.
type testEngine struct {
	t       testing.TB
	engine  *Engine
	now     time.Time
	offset  uint64   // of the next output
	actions []string // "kind value" of each action except ActMatched
	records []Record
	output  []byte // all output so far
}

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// newTestEngine returns an engine with rules at time epoch.
func newTestEngine(t testing.TB, set Set) *testEngine {
	t.Helper()
	e, err := New(set)
	if err != nil {
		t.Fatal(err)
	}
	return &testEngine{t: t, engine: e, now: epoch}
}

// collect stores the actions and records of an event.
func (r *testEngine) collect(acts []Action) {
	for _, a := range acts {
		if a.Kind == ActMatched {
			r.records = append(r.records, *a.Record)
			continue
		}
		r.actions = append(r.actions, string(a.Kind)+" "+a.Value)
	}
}

// writeOutput passes output of the program.
func (r *testEngine) writeOutput(s string) {
	r.collect(r.engine.Output(r.now, r.offset, []byte(s)))
	r.offset += uint64(len(s))
	r.output = append(r.output, s...)
}

// pause advances the clock by d, with each tick that the engine requests.
func (r *testEngine) pause(d time.Duration) {
	end := r.now.Add(d)
	for range 1000 {
		at, ok := r.engine.Next()
		if !ok || at.After(end) {
			r.now = end
			return
		}
		if at.After(r.now) {
			r.now = at
		}
		r.collect(r.engine.Tick(r.now))
	}
	r.t.Fatal("the engine requests ticks without end")
}

// typeInput passes input, and its echo if the terminal echoes.
func (r *testEngine) typeInput(s string, reply bool) {
	r.collect(r.engine.HandleInput(r.now, Input{Data: []byte(s), Reply: reply}))
	if r.engine.echo == EchoOn {
		r.writeOutput(terminalEcho(s))
	}
}

// terminalEcho returns the echo of typed text by a terminal.
func terminalEcho(s string) string {
	var b strings.Builder
	for _, c := range s {
		switch {
		case c == '\r' || c == '\n':
			b.WriteString("\r\n")
		case c == 0x7f:
			b.WriteString("\b \b")
		case c < 0x20 && c != '\t':
			b.WriteString("^" + string(c+'@'))
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// runScript runs a scenario: lines of "out TEXT", "type TEXT", "reply TEXT", "echo STATE", "pause DURATION", "exit".
// Text has Go's escapes.
func (r *testEngine) runScript(script string) {
	r.t.Helper()
	for line := range strings.Lines(script) {
		verb, arg, _ := strings.Cut(strings.TrimSpace(line), " ")
		text := unescape(r.t, arg)
		switch verb {
		case "":
		case "out":
			r.writeOutput(text)
		case "type":
			r.typeInput(text, false)
		case "reply":
			r.typeInput(text, true)
		case "echo":
			r.collect(r.engine.SetEcho(r.now, EchoState(text)))
		case "pause":
			d, err := time.ParseDuration(text)
			if err != nil {
				r.t.Fatal(err)
			}
			r.pause(d)
		case "exit":
			r.collect(r.engine.Exit(r.now))
		default:
			r.t.Fatalf("unknown verb %q", verb)
		}
	}
}

// unescape replaces Go's escapes in s.
func unescape(t testing.TB, s string) string {
	t.Helper()
	var out string
	if _, err := fmt.Sscanf(`"`+s+`"`, "%q", &out); err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return out
}

// textReply returns a reply that types s.
func textReply(s string) []Reply { return []Reply{{Kind: ReplyText, Value: s}} }

// FEATURES: R50, R51, R54
func TestEngine(t *testing.T) {
	name := Rule{Text: "Name: ", Reply: textReply("bob\r")}
	for _, tt := range []struct {
		name   string
		set    Set
		script string
		want   string
	}{
		{"prompt", Set{Rules: []Rule{name}}, `out hello\r\nName:\x20
			pause 30ms`, "text bob\r"},
		{"no match before the settle delay", Set{Rules: []Rule{name}}, `out Name:\x20
			pause 10ms`, ""},
		{"match of a line that keeps changing", Set{Rules: []Rule{{Regexp: "^go", Reply: textReply("x")}}}, strings.Repeat("out go\npause 15ms\n", 15), "text x"},
		{"complete line at once", Set{Rules: []Rule{name}}, `out Name: x\r\n`, "text bob\r"},
		{"in pieces with pauses", Set{Rules: []Rule{name}}, "out Na\npause 1s\nout me: \\x20\npause 1s", "text bob\r"},
		{"coloured", Set{Rules: []Rule{name}}, `out \x1b[1mNa\x1b[0mme\x1b[32m:\x1b[m\x20
			pause 1s`, "text bob\r"},
		{"the same prompt twice", Set{Rules: []Rule{name}}, `out Name:\x20
			pause 1s
			reply bob\r
			out Name:\x20
			pause 1s`, "text bob\r,text bob\r"},
		{"twice on one line", Set{Rules: []Rule{name}}, `out Name: Name:\x20
			pause 1s`, "text bob\r,text bob\r"},
		{"max", Set{Rules: []Rule{{Text: "Name: ", Reply: textReply("x"), Max: 1}}}, `out Name: Name:\x20
			pause 1s`, "text x"},
		{"one match without new output", Set{Rules: []Rule{name}}, "out Name: \\x20\npause 1s\npause 1s", "text bob\r"},
		{"captures", Set{Rules: []Rule{{Regexp: `(?P<user>\w+)@(\w+)'s password`, Reply: textReply("${user} $2 $$1 $0 $x")}}},
			`out bob@host's password:` + "\npause 1s", "text bob host $1 bob@host's password $x"},
		{"captures in keys", Set{Rules: []Rule{{Regexp: `say (.*):`, Reply: []Reply{{Kind: ReplyKeys, Value: "$1<Enter>"}}}}},
			"out say <C-c>:\npause 1s", "keys <lt>C-c><Enter>"},
		{"anchors", Set{Rules: []Rule{{Regexp: `^\$ $`, Reply: textReply("ls\r")}}}, `out cost $ 5\r\n$\x20
			pause 1s
			reply ls\r
			out a $ \r\n
			pause 1s`, "text ls\r"},
		{"^ does not match after a match", Set{Rules: []Rule{name, {Regexp: `^again`, Reply: textReply("no")}}}, `out Name: again\r\nagain\r\n`, "text bob\r,text no"},
		{"first in the text wins", Set{Rules: []Rule{{Text: "b", Reply: textReply("B")}, {Text: "a", Reply: textReply("A")}}}, `out xaxb\r\n`, "text A,text B"},
		{"first in the list wins", Set{Rules: []Rule{{Regexp: "a.", Reply: textReply("1")}, {Text: "ab", Reply: textReply("2")}}}, `out ab\r\n`, "text 1"},
		{"ordered", Set{Ordered: true, Rules: []Rule{{Text: "a", Reply: textReply("A")}, {Text: "b", Max: 2, Reply: textReply("B")}, {Text: "c", Reply: textReply("C")}}},
			`out c b a b c b c a\r\n`, "text A,text B,text B,text C"},
		{"prompt target", Set{Rules: []Rule{{Text: "Name: ", On: OnPrompt, Reply: textReply("x")}}}, `out Name: none\r\nName:\x20
			pause 1s`, "text x"},
		{"cool-down", Set{Rules: []Rule{{Text: "more", CoolDown: time.Second, Reply: textReply(" ")}}}, `out more\r\nmore\r\n
			pause 500ms
			out more
			pause 400ms`, "text  "},
		{"the prompt is still there after the cool-down", Set{Rules: []Rule{{Text: "more", CoolDown: time.Second, Reply: textReply(" ")}}}, `out more\r\n
			pause 500ms
			out more
			pause 600ms`, "text  ,text  "},
		{"wait", Set{Rules: []Rule{{Text: "a", Reply: []Reply{{Kind: ReplyText, Value: "1"}, {Kind: ReplyWait, Wait: time.Second}, {Kind: ReplyText, Value: "2"}}},
			{Text: "b", Reply: textReply("3")}}}, `out a\r\nb\r\n
			pause 900ms
			exit`, "text 1"},
		{"replies keep their order", Set{Rules: []Rule{{Text: "a", Reply: []Reply{{Kind: ReplyText, Value: "1"}, {Kind: ReplyWait, Wait: time.Second}, {Kind: ReplyText, Value: "2"}}},
			{Text: "b", Reply: textReply("3")}}}, `out a\r\nb\r\n
			pause 1s`, "text 1,text 2,text 3"},
		{"fail", Set{Rules: []Rule{{Regexp: "error: (.*)", Reply: []Reply{{Kind: ReplyFail, Value: "it said $1"}}}, name}}, `out error: no\r\nName: x\r\n`, "fail it said no"},
		{"rule timeout", Set{Rules: []Rule{{Text: "a", Timeout: time.Second}}}, "out b\npause 2s", `fail "a" did not appear within 1s`},
		{"match before the timeout", Set{Rules: []Rule{{Text: "a", Timeout: time.Second}}}, "out a\npause 2s", ``},
		{"timeout of an ordered rule", Set{Ordered: true, Rules: []Rule{{Text: "a"}, {Text: "b", Timeout: time.Second}}}, "pause 5s\nout a\\r\\n\npause 900ms", ""},
		{"overall timeout", Set{Timeout: time.Second, Rules: []Rule{name}}, "out a\npause 2s", `fail not finished within 1s`},
		{"loop", Set{MaxMatches: 2, Rules: []Rule{{Text: "a", Reply: textReply("b")}}}, `out aaaa\r\n`, "text b,text b,fail answered 2 times; is it a loop?"},
		{"exit", Set{Rules: []Rule{name}}, "exit\nout Name: x\\r\\n", ""},
		{"case", Set{Rules: []Rule{{Regexp: "(?i)PASSKEY|ſet", Reply: textReply("x")}}}, `out passKey \u212aey Set\r\n`, "text x,text x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newTestEngine(t, tt.set)
			r.collect(r.engine.Tick(r.now))
			r.runScript(tt.script)
			if got := strings.Join(r.actions, ","); got != tt.want {
				t.Errorf("got actions %q, want %q", got, tt.want)
			}
		})
	}
}

// FEATURES: R51
func TestEngine_RedrawnPrompt(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		want         int
	}{
		{"CR and the prompt", `out Go?\x20
			pause 1s
			out \rGo?\x20
			pause 1s`, 1},
		{"erased and drawn after a pause", `out Go?\x20
			pause 1s
			out \r\x1b[K
			pause 1s
			out Go?\x20
			pause 1s`, 1},
		{"screen repainted", `out \x1b[H\x1b[2JTitle\r\nGo?\x20
			pause 1s
			out \x1b[H\x1b[2JTitle\r\nGo?\x20
			pause 1s
			out \x1b[H\x1b[2JTitle\r\nGo?\x20
			pause 1s`, 1},
		{"answered, then prompted on a cleared screen", `out \x1b[H\x1b[2JGo?\x20
			pause 1s
			reply y\r
			out \x1b[H\x1b[2JGo?\x20
			pause 1s`, 2},
		{"prompted again on the next line", `out Go?\x20
			pause 1s
			out \r\nGo?\x20
			pause 1s`, 2},
		{"prompted again on the same line", `out Go?\x20
			pause 1s
			out Go?\x20
			pause 1s`, 2},
		{"bracketed paste is no redraw", `out \x1b[?2004hGo?\x20
			pause 1s
			reply y\r
			out \x1b[?2004l\r\x1b[?2004hGo?\x20
			pause 1s`, 2},
		{"two lines redrawn", `out dir\r\nGo?\x20
			pause 1s
			out \x1b[A\rdir\r\nGo?\x20
			pause 1s`, 1},
		{"prompted again after lines went up and down", `out Go?\x20
			pause 1s
			out y\x1b[A\r\r\nes\x1b[A\r\r\n\r\nGo?\x20
			pause 1s`, 2},
		{"another prompt over it", `out Go?\x20
			pause 1s
			out \r\x1b[KOr Go?\x20
			pause 1s`, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newTestEngine(t, Set{Rules: []Rule{{Text: "Go? ", Reply: textReply("y\r")}}})
			r.runScript(tt.script)
			if len(r.actions) != tt.want {
				t.Errorf("got %d replies, want %d", len(r.actions), tt.want)
			}
		})
	}
}

// FEATURES: R44, R51
func TestEngine_IgnoresEcho(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		want         int
	}{
		{"typed", `out $\x20
			type echo yes\r
			pause 1s`, 0},
		{"typed and printed", `out $\x20
			type echo yes\r
			out yes\r\n`, 1},
		{"typed key by key", `out $\x20
			type y
			pause 1s
			type e
			pause 1s
			type s
			pause 1s
			type \r
			pause 1s`, 0},
		{"half an echo", `out $\x20
			echo app
			type yes ab\r
			out yes a
			pause 1s`, 0},
		{"corrected", `type yet\x7fs\r
			pause 1s`, 0},
		{"a line editor redraws the line", `out $\x20
			echo app
			type yes
			out y\r$ ye\r$ \x1b[31myes\x1b[m
			pause 1s
			type \r
			out \r\n
			pause 1s`, 0},
		{"several lines", `type one\ryes\rtwo\r
			pause 1s`, 0},
		{"typed while the program prints", `out building\x20
			type yes\r
			out built\r\n
			pause 1s`, 0},
		{"cat", `type yes\r
			out yes\r\n
			type yes\r
			out yes\r\n`, 2},
		{"no echo, then the word printed", `echo off
			type yes\r
			out \r\nyes\r\n`, 1},
		{"a key without echo", `echo app
			type q
			out \r\nyes\r\n`, 1},
		{"an echo that never comes", `echo app
			type yes\r
			out ` + strings.Repeat("x", 70) + strings.Repeat(`\r\n`, 20000) + `yes\r\n`, 1},
		{"arrow keys", `echo app
			type ys\x1b[De\r
			out ys\b\x1b[1@e\r\n
			pause 1s`, 0},
		{"interrupt", `type yes^\x03
			pause 1s`, 0},
		{"type-ahead redrawn by a line editor", `type sleep\r
			type echo yes\r
			echo app
			out $\x20
			pause 1s
			out echo yes
			pause 1s
			out \r\nyes\r\n$\x20
			pause 1s`, 1},
		{"type-ahead echoed by the program", `type echo yes\r
			echo app
			out echo yes\r\n`, 1},
		{"prompt with the word", `out yes or no?\x20
			type yes\r
			pause 1s`, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newTestEngine(t, Set{Rules: []Rule{{Text: "yes", Reply: textReply("!")}}})
			r.runScript(tt.script)
			if len(r.actions) != tt.want {
				t.Errorf("got %d replies, want %d: %+v", len(r.actions), tt.want, r.records)
			}
		})
	}
}

// TestEngine_IgnoresEcho_WhenLineEditorWraps checks that a line editor that wraps moves the cursor between rows.
// FEATURES: R44, R51
func TestEngine_IgnoresEcho_WhenLineEditorWraps(t *testing.T) {
	r := newTestEngine(t, Set{Rules: []Rule{{Text: "yes", Reply: textReply("!")}}})
	r.collect(r.engine.Screen(r.now, Screen{Cols: 20}))
	r.collect(r.engine.SetEcho(r.now, EchoApp))
	r.runScript(`out $\x20
		type echo abcdefghijklmnoyespq
		out echo abcdefghijklm \r\x1b[Kn\rnoyespq
		pause 1s
		type \r
		out \r\r\n
		out yes\r\n
		pause 1s`)
	if len(r.actions) != 1 {
		t.Errorf("got %d replies, want 1: %+v", len(r.actions), r.records)
	}
}

// TestRule_SkipsPromptAnsweredByUser checks that a prompt answered by the user is not answered again.
// FEATURES: R51
func TestRule_SkipsPromptAnsweredByUser(t *testing.T) {
	r := newTestEngine(t, Set{Rules: []Rule{{Text: "Go?", Reply: textReply("y\r")}}})
	r.runScript(`out Go?\x20
		type n\r
		pause 1s`)
	if len(r.actions) != 0 {
		t.Errorf("got actions %q, want none", r.actions)
	}
}

// FEATURES: R53
func TestEngine_Secret_NeedsEchoOff(t *testing.T) {
	secret := []Reply{{Kind: ReplySecret, Value: "env:PW"}, {Kind: ReplyKeys, Value: "<Enter>"}}
	const refused = "refused env:PW not sent: the terminal echoes; force it if that is meant"
	for _, tt := range []struct {
		name, script string
		force        bool
		want         string
	}{
		{"echo off", "echo off\nout Password: \\x20\npause 30ms", false, "secret env:PW,keys <Enter>"},
		{"echo on", "out Password: \\x20\npause 5s", false, refused},
		{"echo goes off a little later", "out Password: \\x20\npause 500ms\necho off", false, "secret env:PW,keys <Enter>"},
		{"too late", "out Password: \\x20\npause 2s\necho off", false, refused},
		{"a line editor", "echo app\nout Password: \\x20\npause 5s", false, "refused env:PW not sent: the program reads keys and may show them (no password box found); force it if that is meant"},
		{"forced", "out Password: \\x20\npause 30ms", true, "secret env:PW,keys <Enter>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newTestEngine(t, Set{Rules: []Rule{{Text: "Password:", Reply: secret, Force: tt.force}}})
			r.runScript(tt.script)
			if got := strings.Join(r.actions, ","); got != tt.want {
				t.Errorf("got actions %q, want %q", got, tt.want)
			}
		})
	}
}

// FEATURES: R53
func TestEngine_WaitsForEchoOff(t *testing.T) {
	r := newTestEngine(t, Set{Rules: []Rule{{Text: "Password:", Reply: []Reply{{Kind: ReplySecret, Value: "env:PW"}}}}})
	for _, step := range []struct {
		play string
		want bool
	}{{"out x", false}, {"out Password:\npause 30ms", true}, {"echo off", false}} {
		r.runScript(step.play)
		if got := r.engine.WaitsForEchoOff(); got != step.want {
			t.Errorf("after %q: got %v, want %v", step.play, got, step.want)
		}
	}
}

// FEATURES: R53
func TestState_HasNoSecretInput(t *testing.T) {
	r := newTestEngine(t, Set{Rules: []Rule{{Text: "x"}}})
	r.collect(r.engine.HandleInput(r.now, Input{Data: []byte("hunter2\r"), Secret: true}))
	r.collect(r.engine.HandleInput(r.now, Input{Data: []byte("harmless"), Reply: true}))
	data, err := r.engine.State()
	if err != nil {
		t.Fatal(err)
	}
	if s := string(data); strings.Contains(s, "hunter2") || !strings.Contains(s, "harmless") {
		t.Errorf("got state %s", s)
	}
}

// FEATURES: R50
func TestSet_Check(t *testing.T) {
	for _, tt := range []struct {
		name string
		rule Rule
		want string
	}{
		{"nothing", Rule{}, "it needs a text or a regexp"},
		{"two", Rule{Text: "a", Regexp: "b"}, "one is needed"},
		{"bad regexp", Rule{Regexp: "a("}, "missing closing )"},
		{"empty", Rule{Regexp: "a*"}, "matches the empty text"},
		{"newline", Rule{Regexp: "a\nb"}, "within one line"},
		{"newline text", Rule{Text: "a\n"}, "within one line"},
		{"long", Rule{Text: strings.Repeat("a", 5000)}, "more than 4096 bytes"},
		{"expensive", Rule{Regexp: "[a-z]{1,900}X"}, "more than 1000: repeat less within it"},
		{"expensive and short", Rule{Regexp: "([ab]{9}c{9}){50}"}, "repeat less within it"},
		{"group", Rule{Regexp: "a(b)", Reply: textReply("$2")}, `no group "2"`},
		{"group name", Rule{Regexp: "a(b)", Reply: textReply("${x}")}, `no group "x"`},
		{"key", Rule{Text: "a", Reply: []Reply{{Kind: ReplyKeys, Value: "<Entr>"}}}, "did you mean"},
		{"secret", Rule{Text: "a", Reply: []Reply{{Kind: ReplySecret, Value: "hunter2"}}}, "needs a reference"},
		{"kind", Rule{Text: "a", Reply: []Reply{{Kind: "sing"}}}, "unknown reply"},
		{"no wait", Rule{Text: "a", Reply: []Reply{{Kind: ReplyWait}}}, "needs a time"},
		{"no value", Rule{Text: "a", Reply: []Reply{{Kind: ReplyText}}}, "needs a value"},
		{"target", Rule{Text: "a", On: "moon"}, "unknown target"},
		{"region", Rule{Text: "a", Region: &Region{}}, "a region is for"},
		{"empty region", Rule{Text: "a", On: OnScreen, Region: &Region{Top: 3, Bottom: 2}}, "is empty"},
		{"negative", Rule{Text: "a", Max: -1}, "negative"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := Set{Rules: []Rule{{Text: "fine"}, tt.rule}}.Check()
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "rule 2") {
				t.Errorf("got error %v, want %q for rule 2", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Error("the message shows the secret")
			}
		})
	}
}

// TestSet_Check_BoundsStepsOfAllRules checks that rules that are cheap one by one may be expensive together.
// FEATURES: R50
func TestSet_Check_BoundsStepsOfAllRules(t *testing.T) {
	set := Set{Rules: []Rule{{Regexp: "(?i)password(?: for .*)?: *$"}, {Text: strings.Repeat("a", 4096)}}}
	for range 4 {
		set.Rules = append(set.Rules, Rule{Regexp: "[a-z]{1,480}X"})
	}
	if err := set.Check(); err != nil {
		t.Fatal(err)
	}
	set.Rules = append(set.Rules, set.Rules[2])
	if err := set.Check(); err == nil || !strings.Contains(err.Error(), "all rules") {
		t.Errorf("got error %v, want one about all rules", err)
	}
}

// TestRecord_HasRepliesAndCaptures checks that a match is recorded with its replies, secrets by reference. A hook gets
// the captures.
// FEATURES: R53, R54
func TestRecord_HasRepliesAndCaptures(t *testing.T) {
	e, err := New(Set{Rules: []Rule{{Name: "sudo", Regexp: `password for (?P<user>\w+)(x)?:`, Reply: []Reply{
		{Kind: ReplyHook, Value: "told-$1"}, {Kind: ReplySecret, Value: "keyring:$1"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	e.SetEcho(epoch, EchoOff)
	acts := e.Output(epoch, 100, []byte("password for bob:\r\n"))
	got := make([]string, len(acts))
	for i, a := range acts {
		b, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		got[i] = string(b)
	}
	want := []string{
		`{"kind":"fired","rule":0,"record":{"time":"2026-01-02T03:04:05Z","rule":0,"name":"sudo","on":"output","offset":119,` +
			`"match":"password for bob:","use":1,"reply":[{"kind":"hook","value":"told-$1"},{"kind":"secret","value":"keyring:$1"}]}}`,
		`{"kind":"hook","rule":0,"value":"told-$1","captures":{"0":"password for bob:","1":"bob","user":"bob"}}`,
		`{"kind":"secret","rule":0,"value":"keyring:$1"}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestCursorMoves_AreMerged checks that cursor movement without a line end takes constant memory.
func TestCursorMoves_AreMerged(t *testing.T) {
	r := newTestEngine(t, Set{Rules: []Rule{{Text: "x"}}})
	for range 100 {
		r.writeOutput(strings.Repeat("\x1b[H\x1b[A", 1000))
	}
	if n := len(r.engine.text.moves.pending); n > 1 {
		t.Errorf("got %d pending moves, want at most 1", n)
	}
}
