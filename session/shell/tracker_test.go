package shell

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/vterm"
)

const testNonce = "00112233445566778899aabbccddeeff"

// newTestTracker returns the tracker of a shell with a quality.
func newTestTracker(q Quality) *Tracker {
	return NewTracker(Launch{Quality: q, Nonce: testNonce, Cwd: "/home"})
}

// trackerScript is a session's output and events in short. Each word is a mark with the session's nonce ("A1" with a
// prompt number, "A1b" where B follows, "A1=2" with a status, "C:text", "D0"), a foreign one in parentheses, ">line"
// typed, "!" lost events, "exit", "+prog" and "-prog" the foreground (the shell's or not), or output.
type trackerScript string

// events converts a script to events. Offsets count as if all of it had been printed.
func (s trackerScript) events() []Event {
	var events []Event
	var at uint64
	now := time.Unix(1000, 0)
	for word := range strings.FieldsSeq(string(s)) {
		e := Event{Time: now}
		now = now.Add(time.Second)
		seq := ""
		switch {
		case word == "!":
			e.Kind = EventDropped
		case word == "exit":
			e.Kind = EventExit
		case word[0] == '>':
			e.Kind, e.Text = EventTyped, strings.ReplaceAll(word[1:], "_", " ")
		case word[0] == '+' || word[0] == '-':
			e.Kind, e.On, e.Text = EventForeground, word[0] == '+', word[1:]
		default:
			name, text, ok := markWord(word)
			if !ok {
				at += uint64(len(word))
				continue
			}
			e.Kind, e.Mark = EventMark, ParseMark(133, name, text)
			seq = "\x1b]133;" + name + ";" + text + "\a"
		}
		at += uint64(len(seq))
		e.At = at
		events = append(events, e)
	}
	return events
}

func markWord(word string) (name, text string, ok bool) {
	nonce := "lt=" + testNonce
	if word[0] == '(' {
		nonce, word = "lt=forged", strings.Trim(word, "()")
	}
	rest := word[1:]
	switch word[0] {
	case 'A':
		n, exit, _ := strings.Cut(rest, "=")
		if n == "s" {
			return "A", "k=s;" + nonce, true
		}
		if exit != "" {
			exit = ";exit=" + exit
		}
		if bare, ok := strings.CutSuffix(n, "b"); ok { // mark B reports the prompt's end
			n, exit = bare, exit+";b=1"
		}
		return "A", nonce + ";n=" + n + exit, true
	case 'B':
		if _, exit, ok := strings.Cut(rest, "="); ok {
			return "B", nonce + ";exit=" + exit, true
		}
		return "B", nonce, true
	case 'C':
		if rest != "" {
			return "C", nonce + ";cmdline_url=" + strings.ReplaceAll(rest[1:], "_", " "), true
		}
		return "C", nonce, true
	case 'D':
		return "D", rest + ";" + nonce, true
	}
	return "", "", false
}

// describeRun returns the changes and last state of a tracker for events.
func describeRun(t *Tracker, events []Event) string {
	var words []string
	for _, e := range events {
		for _, c := range t.Apply(e) {
			switch c.Kind {
			case ChangeStarted:
				words = append(words, fmt.Sprintf("start(%s)", c.Command.Text))
			case ChangeOutputEnded:
				words = append(words, "done")
			case ChangeFinished:
				exit := "?"
				if c.Command.Exit != nil {
					exit = fmt.Sprint(*c.Command.Exit)
				}
				words = append(words, fmt.Sprintf("finish(%s,%s,%s)", c.Command.Text, exit, c.Command.Quality))
			case ChangePrompt:
				words = append(words, "prompt")
			case ChangeInput:
				words = append(words, "more")
			}
		}
	}
	s := t.State()
	return strings.Join(append(words, string(s.Phase), string(s.Quality)), " ")
}

// FEATURES: R7 R45 R48
// FAULT: H26
func TestTracker(t *testing.T) {
	for _, c := range []struct {
		name   string
		offers Quality
		script trackerScript
		want   string
	}{
		{"before the first prompt", Full, "motd", "unknown full"},
		{"a command", Full, "A1 B C:ls x D0 A2", "prompt start(ls) done finish(ls,0,full) prompt prompt full"},
		{"it runs", Full, "A1 B C:ls x", "prompt start(ls) running full"},
		{"it ended, the prompt is being made", Full, "A1 C:ls D0", "prompt start(ls) done running full"},
		{"empty Enter", Full, "A1 A2 A3", "prompt prompt prompt prompt full"},
		{"the prompt is drawn again", Full, "A1 B A1 B B", "prompt prompt full"},
		{"the prompt's end is told", Full, "A1b B C:ls x D0 A2b B", "prompt start(ls) done finish(ls,0,full) prompt prompt full"},
		{"and nothing ran between two of them", Full, "A1b B ^C A2b B A2b B ^C A3b", "prompt prompt prompt full"},
		{"repeated marks", Full, "A1 C:x D1 D0 A2 A2 D5", "prompt start(x) done finish(x,1,full) prompt prompt full"},
		{"the end is missing", Full, "A1 C:x A2=3", "prompt start(x) finish(x,3,basic) prompt prompt full"},
		{"the end and the prompt are missing", Full, "A1 C:x C:y D0 A2",
			"prompt start(x) finish(x,?,basic) start(y) done finish(y,0,full) prompt prompt full"},
		{"a submitted line sends its start again", Full, "A1 >x C:x C:y D4 A2", "prompt start(x) done finish(x,4,full) prompt prompt full"},
		{"a comment", Full, "A1 >#_c A2=7", "prompt start(# c) finish(# c,0,basic) prompt prompt full"},
		{"basic, a comment", Basic, "A1=7 >#_c A2=7", "prompt start(# c) finish(# c,0,basic) prompt prompt basic"},
		{"the shell's hooks are gone", Full, "A1 C:source_rc B=2", "prompt start(source rc) unknown none"},
		{"and another command", Full, "A1 C:source_rc B=2 C:ls",
			"prompt start(source rc) finish(source rc,2,basic) start(ls) running full"},
		{"a command prints the prompt", Full, "A1 C:x B=2 more D4 A2",
			"prompt start(x) done finish(x,4,full) prompt prompt full"},
		{"the prompt's begin is missing", Full, "A1 C:x D4 B=4 C:y", "prompt start(x) done finish(x,4,full) prompt start(y) running full"},
		{"replaced", Full, "A1 C:exec_zsh %", "prompt start(exec zsh) unknown none"},
		{"exec that replaces nothing", Full, "A1 C:exec_2>log D0 A2", "prompt start(exec 2>log) done finish(exec 2>log,0,full) prompt prompt full"},
		{"replaced, as seen from outside", Full, "+bash A1 +bash +zsh", "prompt unknown none"},
		{"forged marks", Full, "A1 C:x (D0) (A2) (C:evil) (D0)", "prompt start(x) running full"},
		{"the shell dies", Full, "A1 C:x exit", "prompt start(x) finish(x,?,basic) ended full"},
		{"nothing after the end", Full, "A1 exit C:x D0 A2", "prompt ended full"},
		{"events were lost", Full, "A1 C:x !", "prompt start(x) finish(x,?,basic) unknown none"},
		{"and a prompt", Full, "A1 C:x ! D0 A7", "prompt start(x) finish(x,?,basic) prompt prompt full"},
		{"typed text wins", Full, "A1 >a\\_b C:a_b D0 A2", "prompt start(a\\ b) done finish(a\\ b,0,full) prompt prompt full"},
		{"but not over another line", Full, "A1 >a C:b D0 A2", "prompt start(b) done finish(b,0,full) prompt prompt full"},
		{"no text but what was typed", Full, "A1 >ls C D0 A2", "prompt start(ls) done finish(ls,0,full) prompt prompt full"},
		{"a syntax error", Full, "A1 >) A2=2", "prompt start()) finish(),2,basic) prompt prompt full"},
		{"typed ahead", Full, "A1 C:x >y D0 A2 B C:y D1 A3",
			"prompt start(x) done finish(x,0,full) prompt start(y) done finish(y,1,full) prompt prompt full"},
		{"the rest of a line", Full, "A1 >( As As C:()", "prompt more start(()) running full"},
		{"basic", Basic, "A1=0 >ls x A2=1", "prompt start(ls) finish(ls,1,basic) prompt prompt basic"},
		{"basic, typed ahead", Basic, "A1 >x >y A2=1 A3=2", "prompt start(x) finish(x,1,basic) prompt start(y) finish(y,2,basic) prompt prompt basic"},
		{"basic, not typed here", Basic, "A1 ls A2=1", "prompt prompt prompt basic"},
		{"none", None, "A1 C:ls D0 A2 >ls", "prompt start(ls) done finish(ls,0,none) prompt prompt none"},
		{"none, from outside", None, "-vim", "running none"},
		{"none, at the prompt perhaps", None, "-vim +sh", "unknown none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := describeRun(newTestTracker(c.offers), c.script.events()); got != c.want {
				t.Errorf("%s\n  got  %s\n  want %s", c.script, got, c.want)
			}
		})
	}
}

// TestCommand_OutputOffsets checks that a command's output is between its marks, without them.
func TestCommand_OutputOffsets(t *testing.T) {
	out := "$ \x1b]133;A;lt=" + testNonce + ";n=1\a\x1b]133;C;lt=" + testNonce + ";cmdline_url=ls\aone\r\ntwo\r\n" +
		"\x1b]133;D;0;lt=" + testNonce + "\atitle\x1b]133;A;lt=" + testNonce + ";n=2;exit=0;cwd=/tmp%3b\a$ "
	for _, size := range []int{1, 2, 3, 7, 1 << 20} {
		tr := newTestTracker(Full)
		changes := feedOutput(tr, out, size)
		c := changes[len(changes)-3].Command
		if got := out[c.Start:c.End]; got != "one\r\ntwo\r\n" || c.CwdAfter != "/tmp;" || c.CwdBefore != "/home" {
			t.Errorf("chunks of %d: got output %q, command %+v", size, got, c)
		}
	}
}

// feedOutput runs output through an emulator in chunks.
func feedOutput(tr *Tracker, out string, size int) []Change {
	engine := vterm.New(vterm.Options{})
	var changes []Change
	for len(out) > 0 {
		n := min(size, len(out))
		_, _ = engine.Write([]byte(out[:n]))
		out = out[n:]
		for _, e := range engine.Events(nil) {
			if event, ok := FromVterm(&e); ok {
				changes = append(changes, tr.Apply(event)...)
			}
		}
	}
	return changes
}

// randomScript returns a random sequence of words.
func randomScript(r *rand.Rand, words []string) trackerScript {
	var b strings.Builder
	for n := r.IntN(30); n >= 0; n-- {
		fmt.Fprintf(&b, "%s ", strings.Replace(words[r.IntN(len(words))], "#", fmt.Sprint(r.IntN(12)), 1))
	}
	return trackerScript(b.String())
}

var (
	ownWords     = []string{"A#", "A#=1", "As", "B", "B=1", "C", "C:ls", "C:exec_zsh", "D0", "D#", ">ls", "out", "+sh", "-vim", "!"}
	foreignWords = []string{"(A#)", "(B)", "(C:evil)", "(D0)", "(As)"}
)

// TestTracker_IgnoresForgedMarks checks that forged marks change nothing, at any position.
func TestTracker_IgnoresForgedMarks(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		quality := []Quality{Full, Basic, None}[seed%3]
		s := randomScript(r, append(ownWords, foreignWords...))
		events := s.events()
		var own []Event
		for _, e := range events {
			if e.Kind != EventMark || e.Mark.Nonce != "forged" {
				own = append(own, e)
			}
		}
		a, b := newTestTracker(quality), newTestTracker(quality)
		if describeRun(a, events) != describeRun(b, own) || !reflect.DeepEqual(a.State(), b.State()) {
			t.Fatalf("%s: with forged marks %+v, without %+v", s, a.State(), b.State())
		}
	}
}

// TestTracker_Invariants checks that in any sequence of events each command starts once and finishes once, in order,
// and offsets and numbers increase.
func TestTracker_Invariants(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 2))
		tr := newTestTracker([]Quality{Full, Basic, None}[seed%3])
		s := randomScript(r, append(ownWords, foreignWords...)) + " exit"
		var open, last uint64
		for _, e := range s.events() {
			for _, c := range tr.Apply(e) {
				switch c.Kind {
				case ChangeStarted:
					if open != 0 || c.Command.Number != last+1 {
						t.Fatalf("%s: %d starts while %d runs", s, c.Command.Number, open)
					}
					open, last = c.Command.Number, c.Command.Number
				case ChangeFinished:
					if c.Command.Number != open || c.Command.End < c.Command.Start || c.Command.End > e.At || c.Command.Ended.IsZero() {
						t.Fatalf("%s: %+v finishes at %d while %d runs", s, c.Command, e.At, open)
					}
					open = 0
				}
			}
			if st := tr.State(); (st.Running != nil) != (open != 0) || st.Phase == PhasePrompt && st.Running != nil {
				t.Fatalf("%s: state %+v while %d runs", s, st, open)
			}
		}
		if open != 0 || tr.Phase() != PhaseEnded {
			t.Fatalf("%s: %d runs after the end", s, open)
		}
	}
}

// TestTracker_Resume checks that a tracker that was stopped and resumed at any event continues identically.
func TestTracker_Resume(t *testing.T) {
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := randomScript(r, ownWords)
		events := s.events()
		cut := r.IntN(len(events) + 1)
		whole, first := newTestTracker(Full), newTestTracker(Full)
		describeRun(whole, events)
		describeRun(first, events[:cut])
		b, err := json.Marshal(first.State())
		if err != nil {
			t.Fatal(err)
		}
		var state State
		if err := json.Unmarshal(b, &state); err != nil {
			t.Fatal(err)
		}
		second := Resume(state)
		describeRun(second, events[cut:])
		if w, g := jsonOf(t, whole.State()), jsonOf(t, second.State()); w != g {
			t.Fatalf("%s cut at %d:\n got %s\nwant %s", s, cut, g, w)
		}
	}
}

// jsonOf returns v as JSON.
func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// FuzzTracker checks that the sizes of reads do not change the state, and that foreign marks have no effect.
func FuzzTracker(f *testing.F) {
	f.Add("\x1b]133;A;lt=NONCE;n=1\a$ \x1b]133;C;lt=NONCE;cmdline_url=ls\aout\x1b]133;D;0;lt=NONCE\a", 3)
	f.Add("\x1b]133;A\a\x1b]133;C\a\x1b]7;file://h/x\a\x1b[?1049h", 1)
	f.Add("\x1b]133;B;lt=NONCE;exit=3\x1b\\\x1b]133;A;k=s;lt=NONCE\a\x1b]633;D;1\a", 2)
	f.Fuzz(func(t *testing.T, out string, size int) {
		forged := strings.ReplaceAll(out, testNonce, "")
		own := strings.ReplaceAll(out, "NONCE", testNonce)
		a, b, c := newTestTracker(Full), newTestTracker(Full), newTestTracker(Full)
		feedOutput(a, own, 1<<20)
		feedOutput(b, own, max(1, size))
		if x, y := jsonOf(t, a.State()), jsonOf(t, b.State()); x != y {
			t.Errorf("in one piece %s\nin pieces %s", x, y)
		}
		feedOutput(c, forged, 1<<20)
		s, fresh := c.State(), newTestTracker(Full).State()
		s.ReportedCwd, s.AltScreen, s.Since = fresh.ReportedCwd, fresh.AltScreen, fresh.Since
		if x, y := jsonOf(t, s), jsonOf(t, fresh); x != y && !losesEvents(forged) {
			t.Errorf("forged %q: %s", forged, x)
		}
	})
}

// losesEvents reports whether output has more events than the emulator stores.
func losesEvents(out string) bool {
	return strings.Count(out, "\a")+strings.Count(out, "\x1b") > vterm.EventQueueMax/2
}

// TestWrappedLine_IsOneCommand_WhenTheShellMarksItToo checks that a line in fish, wrapped for its tab, is one command:
// the shell's own mark starts it, and the wrapper's marks set the offsets of its output and its status.
// FAULT: G1
func TestWrappedLine_IsOneCommand_WhenTheShellMarksItToo(t *testing.T) {
	const nonce, token = "00112233445566778899aabbccddeeff", "ffeeddccbbaa99887766554433221100"
	tr := NewTracker(Launch{Nonce: nonce, Quality: Full})
	zero := 0
	var finished []Command
	apply := func(e Event) {
		for _, c := range tr.Apply(e) {
			if c.Kind == ChangeFinished {
				finished = append(finished, c.Command)
			}
		}
	}
	apply(Event{Kind: EventMark, At: 1, Mark: Mark{Kind: MarkPrompt, Nonce: nonce, Sequence: 1, Prompt: 1}})
	apply(Event{Kind: EventSentinel, At: 2, Text: token})
	apply(Event{Kind: EventTyped, At: 2, Text: "echo 'a\tb'"})
	apply(Event{Kind: EventMark, At: 10, Mark: Mark{Kind: MarkOutput, Nonce: nonce, Sequence: 2, HasText: true, Text: "begin; eval …"}})
	apply(Event{Kind: EventMark, At: 20, Mark: Mark{Kind: MarkOutput, Nonce: token}})
	apply(Event{Kind: EventMark, At: 30, Mark: Mark{Kind: MarkDone, Nonce: token, Exit: &zero}})
	apply(Event{Kind: EventMark, At: 31, Mark: Mark{Kind: MarkDone, Nonce: nonce, Sequence: 3, Exit: &zero}})
	apply(Event{Kind: EventMark, At: 40, Mark: Mark{Kind: MarkPrompt, Nonce: nonce, Sequence: 4, Prompt: 2, Exit: &zero}})
	if len(finished) != 1 || finished[0].Text != "echo 'a\tb'" || finished[0].Exit == nil || finished[0].Start != 20 || finished[0].End != 30 {
		t.Errorf("got commands %+v", finished)
	}
}
