package respond

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// rig drives an engine as the owner of a session would, with a clock of its own.
type rig struct {
	t   testing.TB
	e   *Engine
	now time.Time
	off uint64
	got []string // actions but "fired"
	rec []Record
	log []byte // all output
}

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func newRig(t testing.TB, set Set) *rig {
	t.Helper()
	e, err := New(set)
	if err != nil {
		t.Fatal(err)
	}
	return &rig{t: t, e: e, now: epoch}
}

func (r *rig) did(acts []Action) {
	for _, a := range acts {
		if a.Kind == ActFired {
			r.rec = append(r.rec, *a.Record)
			continue
		}
		r.got = append(r.got, string(a.Kind)+" "+a.Value)
	}
}

// print has the program write.
func (r *rig) print(s string) {
	r.did(r.e.Output(r.now, r.off, []byte(s)))
	r.off += uint64(len(s))
	r.log = append(r.log, s...)
}

// pause lets time pass as it would, with each tick that is asked for.
func (r *rig) pause(d time.Duration) {
	end := r.now.Add(d)
	for range 1000 {
		at, ok := r.e.Next()
		if !ok || at.After(end) {
			r.now = end
			return
		}
		if at.After(r.now) {
			r.now = at
		}
		r.did(r.e.Tick(r.now))
	}
	r.t.Fatal("the engine asks for ticks without end")
}

// typed has a user type, with the echo a terminal makes.
func (r *rig) typed(s string, reply bool) {
	r.did(r.e.HandleInput(r.now, Input{Data: []byte(s), Reply: reply}))
	if r.e.echo == EchoOn {
		r.print(echoOf(s))
	}
}

func echoOf(s string) string {
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

// play runs a scenario: lines of "out TEXT", "type TEXT", "reply TEXT", "echo STATE",
// "pause DURATION". Text is in Go's escapes.
func (r *rig) play(script string) {
	r.t.Helper()
	for line := range strings.Lines(script) {
		verb, arg, _ := strings.Cut(strings.TrimSpace(line), " ")
		text := unescape(r.t, arg)
		switch verb {
		case "":
		case "out":
			r.print(text)
		case "type":
			r.typed(text, false)
		case "reply":
			r.typed(text, true)
		case "echo":
			r.did(r.e.Echo(r.now, EchoState(text)))
		case "pause":
			d, err := time.ParseDuration(text)
			if err != nil {
				r.t.Fatal(err)
			}
			r.pause(d)
		case "exit":
			r.did(r.e.Exit(r.now))
		default:
			r.t.Fatalf("%q is no verb", verb)
		}
	}
}

func unescape(t testing.TB, s string) string {
	t.Helper()
	var out string
	if _, err := fmt.Sscanf(`"`+s+`"`, "%q", &out); err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return out
}

func say(s string) []Reply { return []Reply{{Kind: ReplyText, Value: s}} }

// FEATURES: R50, R51, R54
func TestEngine(t *testing.T) {
	name := Rule{Text: "Name: ", Reply: say("bob\r")}
	for _, tt := range []struct {
		name   string
		set    Set
		script string
		want   string
	}{
		{"prompt", Set{Rules: []Rule{name}}, `out hello\r\nName:\x20
			pause 30ms`, "text bob\r"},
		{"a prompt waits for the pause", Set{Rules: []Rule{name}}, `out Name:\x20
			pause 10ms`, ""},
		{"but not for ever", Set{Rules: []Rule{{Regexp: "^go", Reply: say("x")}}}, strings.Repeat("out go\npause 15ms\n", 15), "text x"},
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
		{"max", Set{Rules: []Rule{{Text: "Name: ", Reply: say("x"), Max: 1}}}, `out Name: Name:\x20
			pause 1s`, "text x"},
		{"no more without new output", Set{Rules: []Rule{name}}, "out Name: \\x20\npause 1s\npause 1s", "text bob\r"},
		{"captures", Set{Rules: []Rule{{Regexp: `(?P<user>\w+)@(\w+)'s password`, Reply: say("${user} $2 $$1 $0 $x")}}},
			`out bob@host's password:` + "\npause 1s", "text bob host $1 bob@host's password $x"},
		{"captures in keys", Set{Rules: []Rule{{Regexp: `say (.*):`, Reply: []Reply{{Kind: ReplyKeys, Value: "$1<Enter>"}}}}},
			"out say <C-c>:\npause 1s", "keys <lt>C-c><Enter>"},
		{"anchors", Set{Rules: []Rule{{Regexp: `^\$ $`, Reply: say("ls\r")}}}, `out cost $ 5\r\n$\x20
			pause 1s
			reply ls\r
			out a $ \r\n
			pause 1s`, "text ls\r"},
		{"^ is not where reading stopped", Set{Rules: []Rule{name, {Regexp: `^again`, Reply: say("no")}}}, `out Name: again\r\nagain\r\n`, "text bob\r,text no"},
		{"first in the text wins", Set{Rules: []Rule{{Text: "b", Reply: say("B")}, {Text: "a", Reply: say("A")}}}, `out xaxb\r\n`, "text A,text B"},
		{"first in the list wins", Set{Rules: []Rule{{Regexp: "a.", Reply: say("1")}, {Text: "ab", Reply: say("2")}}}, `out ab\r\n`, "text 1"},
		{"ordered", Set{Ordered: true, Rules: []Rule{{Text: "a", Reply: say("A")}, {Text: "b", Max: 2, Reply: say("B")}, {Text: "c", Reply: say("C")}}},
			`out c b a b c b c a\r\n`, "text A,text B,text B,text C"},
		{"prompt target", Set{Rules: []Rule{{Text: "Name: ", On: OnPrompt, Reply: say("x")}}}, `out Name: none\r\nName:\x20
			pause 1s`, "text x"},
		{"cool-down", Set{Rules: []Rule{{Text: "more", CoolDown: time.Second, Reply: say(" ")}}}, `out more\r\nmore\r\n
			pause 500ms
			out more
			pause 400ms`, "text  "},
		{"the prompt still stands after the cool-down", Set{Rules: []Rule{{Text: "more", CoolDown: time.Second, Reply: say(" ")}}}, `out more\r\n
			pause 500ms
			out more
			pause 600ms`, "text  ,text  "},
		{"wait", Set{Rules: []Rule{{Text: "a", Reply: []Reply{{Kind: ReplyText, Value: "1"}, {Kind: ReplyWait, Wait: time.Second}, {Kind: ReplyText, Value: "2"}}},
			{Text: "b", Reply: say("3")}}}, `out a\r\nb\r\n
			pause 900ms
			exit`, "text 1"},
		{"replies keep their order", Set{Rules: []Rule{{Text: "a", Reply: []Reply{{Kind: ReplyText, Value: "1"}, {Kind: ReplyWait, Wait: time.Second}, {Kind: ReplyText, Value: "2"}}},
			{Text: "b", Reply: say("3")}}}, `out a\r\nb\r\n
			pause 1s`, "text 1,text 2,text 3"},
		{"fail", Set{Rules: []Rule{{Regexp: "error: (.*)", Reply: []Reply{{Kind: ReplyFail, Value: "it said $1"}}}, name}}, `out error: no\r\nName: x\r\n`, "fail it said no"},
		{"rule timeout", Set{Rules: []Rule{{Text: "a", Timeout: time.Second}}}, "out b\npause 2s", `fail "a" did not appear within 1s`},
		{"rule in time", Set{Rules: []Rule{{Text: "a", Timeout: time.Second}}}, "out a\npause 2s", ``},
		{"timeout in turn", Set{Ordered: true, Rules: []Rule{{Text: "a"}, {Text: "b", Timeout: time.Second}}}, "pause 5s\nout a\\r\\n\npause 900ms", ""},
		{"overall timeout", Set{Timeout: time.Second, Rules: []Rule{name}}, "out a\npause 2s", `fail not finished within 1s`},
		{"loop", Set{MaxFirings: 2, Rules: []Rule{{Text: "a", Reply: say("b")}}}, `out aaaa\r\n`, "text b,text b,fail answered 2 times; is it a loop?"},
		{"exit", Set{Rules: []Rule{name}}, "exit\nout Name: x\\r\\n", ""},
		{"case", Set{Rules: []Rule{{Regexp: "(?i)PASSKEY|ſet", Reply: say("x")}}}, `out passKey \u212aey Set\r\n`, "text x,text x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, tt.set)
			r.did(r.e.Tick(r.now))
			r.play(tt.script)
			if got := strings.Join(r.got, ","); got != tt.want {
				t.Errorf("did %q, want %q", got, tt.want)
			}
		})
	}
}

// FEATURES: R51
func TestRedraw(t *testing.T) {
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
		{"the screen painted again", `out \x1b[H\x1b[2JTitle\r\nGo?\x20
			pause 1s
			out \x1b[H\x1b[2JTitle\r\nGo?\x20
			pause 1s
			out \x1b[H\x1b[2JTitle\r\nGo?\x20
			pause 1s`, 1},
		{"answered, then asked on a cleared screen", `out \x1b[H\x1b[2JGo?\x20
			pause 1s
			reply y\r
			out \x1b[H\x1b[2JGo?\x20
			pause 1s`, 2},
		{"asked again on the next line", `out Go?\x20
			pause 1s
			out \r\nGo?\x20
			pause 1s`, 2},
		{"asked again on the same line", `out Go?\x20
			pause 1s
			out Go?\x20
			pause 1s`, 2},
		{"bracketed paste is no redraw", `out \x1b[?2004hGo?\x20
			pause 1s
			reply y\r
			out \x1b[?2004l\r\x1b[?2004hGo?\x20
			pause 1s`, 2},
		{"two lines drawn again", `out dir\r\nGo?\x20
			pause 1s
			out \x1b[A\rdir\r\nGo?\x20
			pause 1s`, 1},
		{"asked again after lines went up and down", `out Go?\x20
			pause 1s
			out y\x1b[A\r\r\nes\x1b[A\r\r\n\r\nGo?\x20
			pause 1s`, 2},
		{"another prompt over it", `out Go?\x20
			pause 1s
			out \r\x1b[KOr Go?\x20
			pause 1s`, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, Set{Rules: []Rule{{Text: "Go? ", Reply: say("y\r")}}})
			r.play(tt.script)
			if len(r.got) != tt.want {
				t.Errorf("fired %d times, want %d", len(r.got), tt.want)
			}
		})
	}
}

// FEATURES: R44, R51
func TestEcho(t *testing.T) {
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
		{"a line editor draws the line anew", `out $\x20
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
		{"no echo, then the word", `echo off
			type yes\r
			out \r\nyes\r\n`, 1},
		{"a key that is not shown", `echo app
			type q
			out \r\nyes\r\n`, 1},
		{"no echo came", `echo app
			type yes\r
			out ` + strings.Repeat("x", 70) + strings.Repeat(`\r\n`, 20000) + `yes\r\n`, 1},
		{"arrow keys", `echo app
			type ys\x1b[De\r
			out ys\b\x1b[1@e\r\n
			pause 1s`, 0},
		{"interrupt", `type yes^\x03
			pause 1s`, 0},
		{"typed ahead, shown again by a line editor", `type sleep\r
			type echo yes\r
			echo app
			out $\x20
			pause 1s
			out echo yes
			pause 1s
			out \r\nyes\r\n$\x20
			pause 1s`, 1},
		{"typed ahead and read", `type echo yes\r
			echo app
			out echo yes\r\n`, 1},
		{"prompt that has the word", `out yes or no?\x20
			type yes\r
			pause 1s`, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, Set{Rules: []Rule{{Text: "yes", Reply: say("!")}}})
			r.play(tt.script)
			if len(r.got) != tt.want {
				t.Errorf("fired %d times, want %d: %+v", len(r.got), tt.want, r.rec)
			}
		})
	}
}

// A line editor that wraps moves about in rows.
// FEATURES: R44, R51
func TestEchoWraps(t *testing.T) {
	r := newRig(t, Set{Rules: []Rule{{Text: "yes", Reply: say("!")}}})
	r.did(r.e.Screen(r.now, Screen{Cols: 20}))
	r.did(r.e.Echo(r.now, EchoApp))
	r.play(`out $\x20
		type echo abcdefghijklmnoyespq
		out echo abcdefghijklm \r\x1b[Kn\rnoyespq
		pause 1s
		type \r
		out \r\r\n
		out yes\r\n
		pause 1s`)
	if len(r.got) != 1 {
		t.Errorf("fired %d times, want 1: %+v", len(r.got), r.rec)
	}
}

// What a user answered is not answered again.
// FEATURES: R51
func TestRule_SkipsPromptAnsweredByUser(t *testing.T) {
	r := newRig(t, Set{Rules: []Rule{{Text: "Go?", Reply: say("y\r")}}})
	r.play(`out Go?\x20
		type n\r
		pause 1s`)
	if len(r.got) != 0 {
		t.Errorf("did %q", r.got)
	}
}

// FEATURES: R53
func TestSecret(t *testing.T) {
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
			r := newRig(t, Set{Rules: []Rule{{Text: "Password:", Reply: secret, Force: tt.force}}})
			r.play(tt.script)
			if got := strings.Join(r.got, ","); got != tt.want {
				t.Errorf("did %q, want %q", got, tt.want)
			}
		})
	}
}

// FEATURES: R53
func TestWaitsForSilence(t *testing.T) {
	r := newRig(t, Set{Rules: []Rule{{Text: "Password:", Reply: []Reply{{Kind: ReplySecret, Value: "env:PW"}}}}})
	for _, step := range []struct {
		play string
		want bool
	}{{"out x", false}, {"out Password:\npause 30ms", true}, {"echo off", false}} {
		r.play(step.play)
		if got := r.e.WaitsForSilence(); got != step.want {
			t.Errorf("after %q: %v", step.play, got)
		}
	}
}

// FEATURES: R53
func TestStateHoldsNoSecret(t *testing.T) {
	r := newRig(t, Set{Rules: []Rule{{Text: "x"}}})
	r.did(r.e.HandleInput(r.now, Input{Data: []byte("hunter2\r"), Secret: true}))
	r.did(r.e.HandleInput(r.now, Input{Data: []byte("harmless"), Reply: true}))
	data, err := r.e.State()
	if err != nil {
		t.Fatal(err)
	}
	if s := string(data); strings.Contains(s, "hunter2") || !strings.Contains(s, "harmless") {
		t.Errorf("the state is %s", s)
	}
}

// FEATURES: R50
func TestCheck(t *testing.T) {
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
		{"group", Rule{Regexp: "a(b)", Reply: say("$2")}, `no group "2"`},
		{"group name", Rule{Regexp: "a(b)", Reply: say("${x}")}, `no group "x"`},
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
				t.Errorf("%v, want %q of rule 2", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Error("the message shows the secret")
			}
		})
	}
}

// Rules that are cheap each may be expensive together.
//
// FEATURES: R50
func TestStepsOfAllRules(t *testing.T) {
	set := Set{Rules: []Rule{{Regexp: "(?i)password(?: for .*)?: *$"}, {Text: strings.Repeat("a", 4096)}}}
	for range 4 {
		set.Rules = append(set.Rules, Rule{Regexp: "[a-z]{1,480}X"})
	}
	if err := set.Check(); err != nil {
		t.Fatal(err)
	}
	set.Rules = append(set.Rules, set.Rules[2])
	if err := set.Check(); err == nil || !strings.Contains(err.Error(), "all rules") {
		t.Errorf("%v", err)
	}
}

// A firing is recorded with its replies, secrets by reference; a hook has the captures.
// FEATURES: R53, R54
func TestRecord(t *testing.T) {
	e, err := New(Set{Rules: []Rule{{Name: "sudo", Regexp: `password for (?P<user>\w+)(x)?:`, Reply: []Reply{
		{Kind: ReplyHook, Value: "told-$1"}, {Kind: ReplySecret, Value: "keyring:$1"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	e.Echo(epoch, EchoOff)
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
		t.Errorf("did\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Moves of the cursor that no line end follows take no memory.
func TestMovesAreBounded(t *testing.T) {
	r := newRig(t, Set{Rules: []Rule{{Text: "x"}}})
	for range 100 {
		r.print(strings.Repeat("\x1b[H\x1b[A", 1000))
	}
	if n := len(r.e.text.moves.found); n > 1 {
		t.Errorf("%d moves are kept", n)
	}
}
