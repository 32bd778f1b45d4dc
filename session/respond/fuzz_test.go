package respond

import (
	"bytes"
	"slices"
	"testing"
	"time"
)

// fuzzRules look everywhere.
var fuzzRules = Set{Rules: append([]Rule{
	{Regexp: `\w+`, On: OnScreen, Reply: say("$0"), Max: 3},
	{Text: "a", On: OnCursor, Reply: say("x")},
	{Regexp: `(a|b)+$`, On: OnScreen, Region: &Region{Top: 1, Bottom: 3, Left: 1, Right: 4}, Reply: say("x")},
	{Regexp: `\b`, Reply: say("x")},
}, propertyRules.Rules...)}

// FuzzEngine feeds events of any kind: nothing must panic, and no time be asked for
// that never comes.
func FuzzEngine(f *testing.F) {
	f.Add([]byte("Name: \x01\x05Password: \x02yes\r\x03\x04"))
	f.Add([]byte("\x1b[H\x1b[2JGo\x01\xff\x02\x1b[A\x7f\x15\x05ab\nba\x05"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := newRig(t, fuzzRules)
		begin := 0
		for i, b := range in {
			if b == 0 || b > 6 {
				continue
			}
			r.fuzz(b, in[begin:i])
			begin = i + 1
		}
		r.fuzz(1, in[begin:])
		r.pause(time.Minute)
	})
}

func (r *rig) fuzz(kind byte, arg []byte) {
	s := string(arg)
	switch kind {
	case 1:
		r.print(s)
		r.pause(25 * time.Millisecond)
	case 2:
		r.did(r.e.HandleInput(r.now, Input{Data: arg, Reply: len(arg)%2 == 0}))
	case 3:
		r.did(r.e.Echo(r.now, []EchoState{EchoOn, EchoOff, EchoApp}[len(arg)%3]))
	case 4:
		r.print(s)
	case 5:
		r.did(r.e.Screen(r.now, fuzzScreen(s)))
	case 6:
		r.off += uint64(len(arg))
	}
}

func fuzzScreen(s string) Screen {
	sc := Screen{Cols: 8, CursorRow: len(s) % 5, CursorCol: len(s) % 9, Top: uint64(len(s) / 7), Alt: len(s)%2 == 0}
	for len(s) > 0 {
		n := min(len(s), 8)
		sc.Rows = append(sc.Rows, Row{Text: s[:n], Wrapped: n%3 == 0})
		s = s[n:]
	}
	return sc
}

// FuzzRestore reads states that were never written.
func FuzzRestore(f *testing.F) {
	r := newRig(f, fuzzRules)
	r.print("Name: \r\nmore")
	r.did(r.e.HandleInput(r.now, Input{Data: []byte("yes\rab")}))
	r.did(r.e.Screen(r.now, fuzzScreen("some text on rows")))
	r.pause(25 * time.Millisecond)
	data, err := r.e.State()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, "Name: \r\nmore")
	f.Fuzz(func(t *testing.T, data []byte, out string) {
		e, resume, err := Restore(fuzzRules, data)
		if err != nil {
			return
		}
		r := &rig{t: t, e: e, now: epoch, off: resume}
		r.print(out)
		r.did(e.HandleInput(r.now, Input{Data: []byte("yes\r")}))
		r.did(e.Screen(r.now, fuzzScreen(out)))
		r.print(out)
		if _, err := e.State(); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzPattern compares the filter and the cut patterns with plain matching.
func FuzzPattern(f *testing.F) {
	for _, s := range []string{"a|bc", "(?i)pass(word|phrase): ?$", "^x+y?z{2,3}", `[$#] $`, "(?i)ſk"} {
		f.Add(s, "some Password: here xyzz bc $ ")
	}
	f.Fuzz(func(t *testing.T, expr, text string) {
		p, err := newPattern("", expr)
		if err != nil {
			return
		}
		want := p.ends[atStart|atEnd].FindStringIndex(text)
		if want == nil {
			return
		}
		if got := newFilter([][]string{p.needs}).candidates([]byte(text)); len(got) != 1 {
			t.Fatalf("%q matches %q at %v; the filter with %q misses it", expr, text, want, p.needs)
		}
	})
}

// FuzzExpecter: however the output is cut, the same is found.
func FuzzExpecter(f *testing.F) {
	f.Add([]byte("Name: \x01yes\r\nyes \x1b[H\x1b[2Jyes\x02a: b\r\n"))
	f.Add([]byte("\x01\x7f\x15\x1b[A\x02\xff\xc3\rab\b\b\x1b[Kaa"))
	ps, err := Compile(Pattern{Text: "a"}, Pattern{Regexp: `\w+: $`}, Pattern{Regexp: "^b+"}, Pattern{Text: "yes"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, cut := expectAll(in, ps, len(in)+1), expectAll(in, ps, 1)
		if !slices.Equal(whole, cut) {
			t.Fatalf("%q, cut %q", whole, cut)
		}
	})
}

// expectAll finds everything in output that is given in pieces of at most n bytes. What
// stands between 1 and 2 is typed.
func expectAll(in []byte, ps Patterns, n int) (all []string) {
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
