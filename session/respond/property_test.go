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

// propertyRules have every kind of rule for output.
var propertyRules = Set{
	Settle: 20 * time.Millisecond,
	Rules: []Rule{
		{Text: "Name: ", Reply: textReply("bob\r")},
		{Regexp: `(?i)pass(word|phrase): ?$`, Reply: []Reply{{Kind: ReplySecret, Value: "env:PW"}}, Max: 5},
		{Regexp: `^\[(y)/n\]`, Reply: textReply("$1")},
		{Text: "more", On: OnPrompt, Reply: []Reply{{Kind: ReplyWait, Wait: 30 * time.Millisecond}, {Kind: ReplyKeys, Value: "<Space>"}}},
		{Regexp: `e(rr)or \w+`, CoolDown: 100 * time.Millisecond, Reply: []Reply{{Kind: ReplyHook, Value: "h$1"}}},
		{Regexp: `[$#] $`, Reply: textReply("ls\r")},
	},
}

// scenarioStep is a step of a random scenario.
type scenarioStep struct {
	kind     string // out, type, reply, pause, echo
	text     string
	duration time.Duration // of a pause
}

// outPieces are the parts of random output.
var outPieces = []string{
	"Name: ", "Password: ", "pass", "phrase:", "[y/n]", "more", "error x1", "$ ", "# ",
	"\r\n", "\n", "\r", "\b", " ", "  ", "é界", "\x1b[1m", "\x1b[0m", "\x1b[K", "\x1b[2J", "\x1b[H",
	"\x1b]0;Name: \x07", "\x1b[?2004h", "\t", "plain text", "\xff", "Na", "me: ", "yes",
}

// typedPieces are the parts of random input.
var typedPieces = []string{"y", "yes", "Name: ", "\r", "\x7f", "error yes", "more", "\x1b[A", "\x03"}

// randomScenario returns random steps, with a long pause at the end.
func randomScenario(rnd *rand.Rand) []scenarioStep {
	var ops []scenarioStep
	for range 1 + rnd.IntN(30) {
		switch k := rnd.IntN(10); {
		case k < 6:
			var b strings.Builder
			for range 1 + rnd.IntN(6) {
				b.WriteString(outPieces[rnd.IntN(len(outPieces))])
			}
			ops = append(ops, scenarioStep{kind: "out", text: b.String()})
		case k < 7:
			ops = append(ops, scenarioStep{kind: []string{"type", "reply"}[rnd.IntN(2)], text: typedPieces[rnd.IntN(len(typedPieces))]})
		case k < 9:
			ops = append(ops, scenarioStep{kind: "pause", duration: time.Duration(rnd.IntN(60)) * time.Millisecond})
		default:
			ops = append(ops, scenarioStep{kind: "echo", text: []string{"on", "off", "app"}[rnd.IntN(3)]})
		}
	}
	return append(ops, scenarioStep{kind: "pause", duration: 5 * time.Second})
}

// runStep performs a step of a scenario.
func (r *testEngine) runStep(o scenarioStep) {
	switch o.kind {
	case "out":
		r.writeOutput(o.text)
	case "type", "reply":
		r.typeInput(o.text, o.kind == "reply")
	case "pause":
		r.pause(o.duration)
	case "echo":
		r.collect(r.engine.SetEcho(r.now, EchoState(o.text)))
	}
}

// outcome returns all actions and records of the engine, for comparison.
func (r *testEngine) outcome() string {
	rec, err := json.MarshalIndent(r.records, "", " ")
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.Join(r.actions, "\n") + string(rec)
}

// TestEngine_ResultIndependentOfReadSizes checks that the sizes of reads do not change the actions.
// FEATURES: R51
func TestEngine_ResultIndependentOfReadSizes(t *testing.T) {
	matched := 0
	for seed := range uint64(600) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		ops := randomScenario(rnd)
		whole, cut := newTestEngine(t, propertyRules), newTestEngine(t, propertyRules)
		for _, o := range ops {
			whole.runStep(o)
			if o.kind != "out" {
				cut.runStep(o)
				continue
			}
			for rest := o.text; rest != ""; {
				n := 1 + rnd.IntN(min(len(rest), 5))
				cut.writeOutput(rest[:n])
				rest = rest[n:]
			}
		}
		// The offset of a record is the end of its line, or of the output before the pause.
		if got, want := cut.outcome(), whole.outcome(); got != want {
			t.Fatalf("seed %d: cut\n%s\nwhole\n%s\nops %+v", seed, got, want, ops)
		}
		matched += len(whole.records)
	}
	if matched < 600 {
		t.Errorf("got %d matches in all scenarios, want at least 600", matched)
	}
}

// TestEngine_ResultIndependentOfUnrelatedOutput checks that additional output without matches does not change the
// actions.
// FEATURES: R51
func TestEngine_ResultIndependentOfUnrelatedOutput(t *testing.T) {
	for seed := range uint64(600) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		plain, noisy := newTestEngine(t, propertyRules), newTestEngine(t, propertyRules)
		for _, o := range randomScenario(rnd) {
			plain.runStep(o)
			noisy.runStep(o)
			if o.kind != "out" || !strings.HasSuffix(o.text, "\n") || len(plain.engine.text.unfinished().text) > 0 {
				continue
			}
			for range rnd.IntN(3) {
				noisy.writeOutput(fmt.Sprintf("\x1b[3%dm%d%%\x1b[m\r%d\r\n", rnd.IntN(8), rnd.IntN(100), rnd.IntN(1e6)))
			}
		}
		if !reflect.DeepEqual(plain.actions, noisy.actions) {
			t.Fatalf("seed %d: %q, with other output %q", seed, plain.actions, noisy.actions)
		}
	}
}

// TestEngine_NeverMatchesTypedText checks that typed text never matches, in any mix with output.
// FEATURES: R44, R51
func TestEngine_NeverMatchesTypedText(t *testing.T) {
	set := Set{Rules: []Rule{
		{Text: "yes", Reply: textReply("!")}, {Regexp: `[a-z]`, Reply: textReply("!")},
		{Regexp: `:\s*$`, Reply: textReply("!")}, {Text: "^C", Reply: textReply("!")},
	}}
	words := []string{"yes", "no", "say: ", "a", ":", "界", "é", " "}
	for seed := range uint64(600) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		r := newTestEngine(t, set)
		for range 1 + rnd.IntN(30) {
			switch rnd.IntN(4) {
			case 0:
				r.writeOutput(fmt.Sprintf("%d", rnd.IntN(1000)))
			case 1:
				r.writeOutput("7\r\n")
			case 2:
				r.pause(50 * time.Millisecond)
			}
			word := words[rnd.IntN(len(words))]
			switch rnd.IntN(5) {
			case 0:
				word += "\r"
			case 1:
				word += "\x7f" // erases the last character
			case 2:
				word += "\x03"
			}
			r.typeInput(word, rnd.IntN(2) == 0)
		}
		r.writeOutput("\r\n")
		if len(r.records) > 0 {
			t.Fatalf("seed %d: matched typed %q: %q", seed, r.records[0].Match, r.output)
		}
	}
}

// TestRestore_ContinuesIdentically checks that an engine restored from its state returns the same actions as one that
// ran on.
// FEATURES: R50
func TestRestore_ContinuesIdentically(t *testing.T) {
	tier.Full(t)
	for seed := range uint64(600) {
		rnd := rand.New(rand.NewPCG(seed, 4))
		one, other := newTestEngine(t, propertyRules), newTestEngine(t, propertyRules)
		for _, o := range randomScenario(rnd) {
			one.runStep(o)
			other.runStep(o)
			if rnd.IntN(4) == 0 {
				other.restart()
			}
		}
		if got, want := other.outcome(), one.outcome(); got != want {
			t.Fatalf("seed %d: restored\n%s\nwithout\n%s", seed, got, want)
		}
	}
}

// TestRestore_InLongLine_AnswersOnce checks that a restore within a line longer than a window answers no prompt twice.
// FEATURES: R50
func TestRestore_InLongLine_AnswersOnce(t *testing.T) {
	r := newTestEngine(t, propertyRules)
	for range 20 {
		r.writeOutput("Name: " + strings.Repeat(".", 2000))
		r.pause(50 * time.Millisecond)
		r.restart()
	}
	r.writeOutput("\r\n")
	if len(r.actions) != 20 {
		t.Errorf("got %d replies, want 20", len(r.actions))
	}
}

// restart replaces the engine by one restored from its state.
func (r *testEngine) restart() {
	r.t.Helper()
	data, err := r.engine.State()
	if err != nil {
		r.t.Fatal(err)
	}
	e, resume, err := Restore(propertyRules, data)
	if err != nil {
		r.t.Fatal(err)
	}
	r.engine = e
	r.collect(e.Output(r.now, resume, r.output[resume:]))
}

// FEATURES: R50
func TestRestore_RejectsInvalidState(t *testing.T) {
	r := newTestEngine(t, propertyRules)
	data, err := r.engine.State()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Restore(Set{Rules: []Rule{{Text: "x"}}}, data); err != ErrOtherRules {
		t.Errorf("other rules: got error %v, want %v", err, ErrOtherRules)
	}
	if _, _, err := Restore(propertyRules, data[:len(data)-1]); err == nil {
		t.Error("truncated state: got no error")
	}
}
