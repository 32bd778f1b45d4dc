package cast

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

var began = time.Unix(1_700_000_000, 0)

func write(t *testing.T, version int, f func(*Writer)) string {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, Header{Version: version, Cols: 80, Rows: 24, Started: began, Command: "sh", Env: map[string]string{"TERM": "xterm-256color"}})
	if err != nil {
		t.Fatal(err)
	}
	f(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// FEATURES: R36
func TestForms(t *testing.T) {
	events := func(w *Writer) {
		_ = w.Output(began.Add(1500*time.Millisecond), []byte("a\x1b[1m\r\n"))
		_ = w.Resize(began.Add(2*time.Second), 100, 30)
		_ = w.Output(began.Add(time.Second), []byte("<&>")) // the clock was set back
		_ = w.Mark(began.Add(3*time.Second), "here")
		_ = w.Exit(began.Add(4*time.Second), 3)
	}
	for version, want := range map[int]string{
		V2: `{"version":2,"width":80,"height":24,"timestamp":1700000000,"command":"sh","env":{"TERM":"xterm-256color"}}
[1.500000, "o", "a\u001b[1m\r\n"]
[2.000000, "r", "100x30"]
[2.000000, "o", "\u003c\u0026\u003e"]
[3.000000, "m", "here"]
`,
		V3: `{"version":3,"term":{"cols":80,"rows":24,"type":"xterm-256color"},"timestamp":1700000000,"command":"sh","env":{"TERM":"xterm-256color"}}
[1.500000, "o", "a\u001b[1m\r\n"]
[0.500000, "r", "100x30"]
[0.000000, "o", "\u003c\u0026\u003e"]
[1.000000, "m", "here"]
[1.000000, "x", "3"]
`,
	} {
		if got := write(t, version, events); got != want {
			t.Errorf("version %d:\n%s\nwant\n%s", version, got, want)
		}
	}
}

// FEATURES: R26
func TestCharactersStayWhole(t *testing.T) {
	const text = "é你👩‍💻\xff\xe4\xbd plain \xf0\x9f" // with malformed bytes, and cut off at the end
	whole := strings.ToValidUTF8(text, "\uFFFD")
	for cut := range len(text) {
		for cut2 := cut; cut2 < len(text); cut2++ {
			got := write(t, V3, func(w *Writer) {
				_ = w.Output(began, []byte(text[:cut]))
				_ = w.Output(began, []byte(text[cut:cut2]))
				_ = w.Output(began, []byte(text[cut2:]))
			})
			if out := outputOf(t, got); foldReplaced(out) != foldReplaced(whole) {
				t.Fatalf("cut at %d and %d: %q, want %q", cut, cut2, out, whole)
			}
		}
	}
}

// foldReplaced replaces runs of U+FFFD by one: their number for malformed bytes is not fixed.
func foldReplaced(s string) string {
	for strings.Contains(s, "\uFFFD\uFFFD") {
		s = strings.ReplaceAll(s, "\uFFFD\uFFFD", "\uFFFD")
	}
	return s
}

func outputOf(t *testing.T, recording string) string {
	t.Helper()
	r, err := NewReader(strings.NewReader(recording))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return b.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		if e.Code == "o" {
			b.WriteString(e.Data)
		}
	}
}

func TestTimesSurvive(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var times []time.Duration
	at := time.Duration(0)
	for range 1000 {
		at += time.Duration(r.Int64N(int64(3 * time.Second)))
		times = append(times, at)
	}
	for _, version := range []int{V2, V3} {
		rec := write(t, version, func(w *Writer) {
			for _, d := range times {
				_ = w.Output(began.Add(d), []byte("x"))
			}
		})
		rd, err := NewReader(strings.NewReader(rec))
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range times {
			e, err := rd.Next()
			if err != nil {
				t.Fatal(err)
			}
			if d := want - e.At; d < -2*time.Microsecond || d > 2*time.Microsecond {
				t.Fatalf("version %d event %d: %v, want %v", version, i, e.At, want)
			}
		}
	}
}

func TestReadErrors(t *testing.T) {
	const head = `{"version":2,"width":80,"height":24}` + "\n"
	for in, want := range map[string]string{
		"":                                   "empty",
		"hello":                              "no header in line 1",
		`{"version":9,"width":1}`:            "version 9",
		`{"version":2,"width":0,"height":1}`: "invalid size 0×1",
		head + `[1]`:                         "invalid event in line 2",
		head + "\n" + `[-1,"o","x"]`:         "invalid time in line 3 (-1)",
	} {
		r, err := NewReader(strings.NewReader(in))
		if err == nil {
			_, err = r.Next()
		}
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", in, err, want)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(`{"version":3,"term":{"cols":80,"rows":24}}` + "\n# c\n" + `[0.5,"o","x"]` + "\n" + `[1,"r","3x4"]`))
	f.Add([]byte(`{"version":2,"width":80,"height":24}` + "\n" + `[1e400,"o","x"]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := NewReader(bytes.NewReader(b))
		if err != nil {
			return
		}
		last := time.Duration(0)
		for {
			e, err := r.Next()
			if err != nil {
				return
			}
			if e.At < last {
				t.Fatalf("time decreases from %v to %v", last, e.At)
			}
			last = e.At
			e.Size()
		}
	})
}
