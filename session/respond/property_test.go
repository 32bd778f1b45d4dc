package respond

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// propertyRules are of every kind that looks at output.
var propertyRules = Set{
	Settle: 20 * time.Millisecond,
	Rules: []Rule{
		{Text: "Name: ", Reply: say("bob\r")},
		{Regexp: `(?i)pass(word|phrase): ?$`, Reply: []Reply{{Kind: ReplySecret, Value: "env:PW"}}, Max: 5},
		{Regexp: `^\[(y)/n\]`, Reply: say("$1")},
		{Text: "more", On: OnPrompt, Reply: []Reply{{Kind: ReplyWait, Wait: 30 * time.Millisecond}, {Kind: ReplyKeys, Value: "<Space>"}}},
		{Regexp: `e(rr)or \w+`, CoolDown: 100 * time.Millisecond, Reply: []Reply{{Kind: ReplyHook, Value: "h$1"}}},
		{Regexp: `[$#] $`, Reply: say("ls\r")},
	},
}

// op is a step of a random scenario.
type op struct {
	kind string // out, type, reply, pause, echo
	text string
	d    time.Duration
}

var outPieces = []string{
	"Name: ", "Password: ", "pass", "phrase:", "[y/n]", "more", "error x1", "$ ", "# ",
	"\r\n", "\n", "\r", "\b", " ", "  ", "é界", "\x1b[1m", "\x1b[0m", "\x1b[K", "\x1b[2J", "\x1b[H",
	"\x1b]0;Name: \x07", "\x1b[?2004h", "\t", "plain text", "\xff", "Na", "me: ", "yes",
}

var typedPieces = []string{"y", "yes", "Name: ", "\r", "\x7f", "error yes", "more", "\x1b[A", "\x03"}

func scenario(rnd *rand.Rand) []op {
	var ops []op
	for range 1 + rnd.IntN(30) {
		switch k := rnd.IntN(10); {
		case k < 6:
			var b strings.Builder
			for range 1 + rnd.IntN(6) {
				b.WriteString(outPieces[rnd.IntN(len(outPieces))])
			}
			ops = append(ops, op{kind: "out", text: b.String()})
		case k < 7:
			ops = append(ops, op{kind: []string{"type", "reply"}[rnd.IntN(2)], text: typedPieces[rnd.IntN(len(typedPieces))]})
		case k < 9:
			ops = append(ops, op{kind: "pause", d: time.Duration(rnd.IntN(60)) * time.Millisecond})
		default:
			ops = append(ops, op{kind: "echo", text: []string{"on", "off", "app"}[rnd.IntN(3)]})
		}
	}
	return append(ops, op{kind: "pause", d: 5 * time.Second})
}

func (r *rig) do(o op) {
	switch o.kind {
	case "out":
		r.print(o.text)
	case "type", "reply":
		r.typed(o.text, o.kind == "reply")
	case "pause":
		r.pause(o.d)
	case "echo":
		r.did(r.e.Echo(r.now, EchoState(o.text)))
	}
}

// outcome is all that an engine did, to compare.
func (r *rig) outcome() string {
	rec, err := json.MarshalIndent(r.rec, "", " ")
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.Join(r.got, "\n") + string(rec)
}

// Cutting the output differently changes nothing.
// FEATURES: R51
func TestCutsChangeNothing(t *testing.T) {
	fired := 0
	for seed := range uint64(600) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		ops := scenario(rnd)
		whole, cut := newRig(t, propertyRules), newRig(t, propertyRules)
		for _, o := range ops {
			whole.do(o)
			if o.kind != "out" {
				cut.do(o)
				continue
			}
			for rest := o.text; rest != ""; {
				n := 1 + rnd.IntN(min(len(rest), 5))
				cut.print(rest[:n])
				rest = rest[n:]
			}
		}
		// The offset of a record is that of the line's end, or of the pause.
		if got, want := cut.outcome(), whole.outcome(); got != want {
			t.Fatalf("seed %d: cut\n%s\nwhole\n%s\nops %+v", seed, got, want, ops)
		}
		fired += len(whole.rec)
	}
	if fired < 600 {
		t.Errorf("only %d firings: the scenarios are too dull", fired)
	}
}

// More output that matches nothing changes nothing.
// FEATURES: R51
func TestUnrelatedOutputChangesNothing(t *testing.T) {
	for seed := range uint64(600) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		plain, noisy := newRig(t, propertyRules), newRig(t, propertyRules)
		for _, o := range scenario(rnd) {
			plain.do(o)
			noisy.do(o)
			if o.kind != "out" || !strings.HasSuffix(o.text, "\n") || len(plain.e.text.current().text) > 0 {
				continue
			}
			for range rnd.IntN(3) {
				noisy.print(fmt.Sprintf("\x1b[3%dm%d%%\x1b[m\r%d\r\n", rnd.IntN(8), rnd.IntN(100), rnd.IntN(1e6)))
			}
		}
		if !reflect.DeepEqual(plain.got, noisy.got) {
			t.Fatalf("seed %d: %q, with other output %q", seed, plain.got, noisy.got)
		}
	}
}

// Nothing fires on what was typed, however it is mixed with output.
// FEATURES: R44, R51
func TestNothingFiresOnTyping(t *testing.T) {
	set := Set{Rules: []Rule{
		{Text: "yes", Reply: say("!")}, {Regexp: `[a-z]`, Reply: say("!")},
		{Regexp: `:\s*$`, Reply: say("!")}, {Text: "^C", Reply: say("!")},
	}}
	words := []string{"yes", "no", "say: ", "a", ":", "界", "é", " "}
	for seed := range uint64(600) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		r := newRig(t, set)
		for range 1 + rnd.IntN(30) {
			switch rnd.IntN(4) {
			case 0:
				r.print(fmt.Sprintf("%d", rnd.IntN(1000)))
			case 1:
				r.print("7\r\n")
			case 2:
				r.pause(50 * time.Millisecond)
			}
			word := words[rnd.IntN(len(words))]
			switch rnd.IntN(5) {
			case 0:
				word += "\r"
			case 1:
				word += "\x7f" // the space or letter goes away again
			case 2:
				word += "\x03"
			}
			r.typed(word, rnd.IntN(2) == 0)
		}
		r.print("\r\n")
		if len(r.rec) > 0 {
			t.Fatalf("seed %d: fired on %q: %q", seed, r.rec[0].Match, r.log)
		}
	}
}

// An engine restored from its state goes on as if nothing had happened.
// FEATURES: R50
func TestRestoreChangesNothing(t *testing.T) {
	tier.Full(t)
	for seed := range uint64(600) {
		rnd := rand.New(rand.NewPCG(seed, 4))
		one, other := newRig(t, propertyRules), newRig(t, propertyRules)
		for _, o := range scenario(rnd) {
			one.do(o)
			other.do(o)
			if rnd.IntN(4) == 0 {
				other.restart()
			}
		}
		if got, want := other.outcome(), one.outcome(); got != want {
			t.Fatalf("seed %d: restored\n%s\nwithout\n%s", seed, got, want)
		}
	}
}

// Nor is anything answered twice when that happens in a line that is very long.
// FEATURES: R50
func TestRestoreInLongLine(t *testing.T) {
	r := newRig(t, propertyRules)
	for range 20 {
		r.print("Name: " + strings.Repeat(".", 2000))
		r.pause(50 * time.Millisecond)
		r.restart()
	}
	r.print("\r\n")
	if len(r.got) != 20 {
		t.Errorf("fired %d times, want 20", len(r.got))
	}
}

// restart replaces the engine by one made of its state.
func (r *rig) restart() {
	r.t.Helper()
	data, err := r.e.State()
	if err != nil {
		r.t.Fatal(err)
	}
	e, resume, err := Restore(propertyRules, data)
	if err != nil {
		r.t.Fatal(err)
	}
	r.e = e
	r.did(e.Output(r.now, resume, r.log[resume:]))
}

// FEATURES: R50
func TestRestoreRefuses(t *testing.T) {
	r := newRig(t, propertyRules)
	data, err := r.e.State()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Restore(Set{Rules: []Rule{{Text: "x"}}}, data); err != ErrOtherRules {
		t.Errorf("other rules: %v", err)
	}
	if _, _, err := Restore(propertyRules, data[:len(data)-1]); err == nil {
		t.Error("half a state was taken")
	}
}
