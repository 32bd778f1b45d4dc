package respond

import (
	"bytes"
	"slices"
	"testing"
	"time"
)

// fuzzRules have every target.
var fuzzRules = Set{Rules: append([]Rule{
	{Regexp: `\w+`, On: OnScreen, Reply: textReply("$0"), Max: 3},
	{Text: "a", On: OnCursor, Reply: textReply("x")},
	{Regexp: `(a|b)+$`, On: OnScreen, Region: &Region{Top: 1, Bottom: 3, Left: 1, Right: 4}, Reply: textReply("x")},
	{Regexp: `\b`, Reply: textReply("x")},
}, propertyRules.Rules...)}

// FuzzEngine passes random events. The engine must not panic, nor request ticks without end.
func FuzzEngine(f *testing.F) {
	f.Add([]byte("Name: \x01\x05Password: \x02yes\r\x03\x04"))
	f.Add([]byte("\x1b[H\x1b[2JGo\x01\xff\x02\x1b[A\x7f\x15\x05ab\nba\x05"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := newTestEngine(t, fuzzRules)
		begin := 0
		for i, b := range in {
			if b == 0 || b > 6 {
				continue
			}
			r.feedEvent(b, in[begin:i])
			begin = i + 1
		}
		r.feedEvent(1, in[begin:])
		r.pause(time.Minute)
	})
}

// feedEvent passes an event of the given kind to the engine, made from arg.
func (r *testEngine) feedEvent(kind byte, arg []byte) {
	s := string(arg)
	switch kind {
	case 1:
		r.writeOutput(s)
		r.pause(25 * time.Millisecond)
	case 2:
		r.collect(r.engine.HandleInput(r.now, Input{Data: arg, Reply: len(arg)%2 == 0}))
	case 3:
		r.collect(r.engine.SetEcho(r.now, []EchoState{EchoOn, EchoOff, EchoApp}[len(arg)%3]))
	case 4:
		r.writeOutput(s)
	case 5:
		r.collect(r.engine.Screen(r.now, fuzzScreen(s)))
	case 6:
		r.offset += uint64(len(arg))
	}
}

// fuzzScreen returns a screen with s in rows of 8 bytes.
func fuzzScreen(s string) Screen {
	sc := Screen{Cols: 8, CursorRow: len(s) % 5, CursorCol: len(s) % 9, Top: uint64(len(s) / 7), Alt: len(s)%2 == 0}
	for len(s) > 0 {
		n := min(len(s), 8)
		sc.Rows = append(sc.Rows, Row{Text: s[:n], Wrapped: n%3 == 0})
		s = s[n:]
	}
	return sc
}

// FuzzRestore restores mutated states, which must not cause a panic.
func FuzzRestore(f *testing.F) {
	r := newTestEngine(f, fuzzRules)
	r.writeOutput("Name: \r\nmore")
	r.collect(r.engine.HandleInput(r.now, Input{Data: []byte("yes\rab")}))
	r.collect(r.engine.Screen(r.now, fuzzScreen("some text on rows")))
	r.pause(25 * time.Millisecond)
	data, err := r.engine.State()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, "Name: \r\nmore")
	f.Fuzz(func(t *testing.T, data []byte, out string) {
		e, resume, err := Restore(fuzzRules, data)
		if err != nil {
			return
		}
		r := &testEngine{t: t, engine: e, now: epoch, offset: resume}
		r.writeOutput(out)
		r.collect(e.HandleInput(r.now, Input{Data: []byte("yes\r")}))
		r.collect(e.Screen(r.now, fuzzScreen(out)))
		r.writeOutput(out)
		if _, err := e.State(); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzPattern checks that the filter returns each rule whose regexp matches.
func FuzzPattern(f *testing.F) {
	for _, s := range []string{"a|bc", "(?i)pass(word|phrase): ?$", "^x+y?z{2,3}", `[$#] $`, "(?i)ſk"} {
		f.Add(s, "some Password: here xyzz bc $ ")
	}
	f.Fuzz(func(t *testing.T, expr, text string) {
		p, err := newPattern("", expr)
		if err != nil {
			return
		}
		want := p.variants[atStart|atEnd].FindStringIndex(text)
		if want == nil {
			return
		}
		if got := newFilter([][]string{p.required}).candidates([]byte(text)); len(got) != 1 {
			t.Fatalf("%q matches %q at %v; the filter with %q misses it", expr, text, want, p.required)
		}
	})
}

// FuzzExpecter checks that the sizes of reads do not change the matches.
func FuzzExpecter(f *testing.F) {
	f.Add([]byte("Name: \x01yes\r\nyes \x1b[H\x1b[2Jyes\x02a: b\r\n"))
	f.Add([]byte("\x01\x7f\x15\x1b[A\x02\xff\xc3\rab\b\b\x1b[Kaa"))
	ps, err := Compile(Pattern{Text: "a"}, Pattern{Regexp: `\w+: $`}, Pattern{Regexp: "^b+"}, Pattern{Text: "yes"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, cut := findAll(in, ps, len(in)+1), findAll(in, ps, 1)
		if !slices.Equal(whole, cut) {
			t.Fatalf("%q, cut %q", whole, cut)
		}
	})
}

// findAll returns all matches in output that is processed in pieces of at most n bytes. Text between bytes 1 and 2 is
// typed.
func findAll(in []byte, ps Patterns, n int) (all []string) {
	x := NewExpecter(0)
	now, off := epoch, uint64(0)
	find := func() {
		now = now.Add(time.Second)
		for range 1000 {
			f, ok := x.Find(now, ps, false)
			if !ok {
				return
			}
			all = append(all, f.Text)
		}
	}
	for part := range bytes.SplitSeq(in, []byte{2}) {
		out, typed, _ := bytes.Cut(part, []byte{1})
		for p := range slices.Chunk(out, n) {
			x.Output(now, off, p)
			off += uint64(len(p))
		}
		find()
		x.HandleInput(Input{Data: typed})
	}
	return all
}
