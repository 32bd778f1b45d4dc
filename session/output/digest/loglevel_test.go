package digest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/output/diagnostics"
)

func TestLogLevel(t *testing.T) {
	for line, want := range map[string]diagnostics.Severity{
		"2026-01-01T00:00:00Z ERROR [disk] write failed": diagnostics.Error, `time=… level=error msg="x"`: diagnostics.Error,
		`{"ts":1,"level":"fatal","msg":"x"}`: diagnostics.Error, "2026/01/01 12:00:00 [error] 7#7: *1 open() failed": diagnostics.Error,
		"Jan  1 host app[7]: CRITICAL: no disk": diagnostics.Error, "[WARN] slow": diagnostics.Warning, "severity: warning": diagnostics.Warning,
		"": "", "0 ERRORS": "", "error.go is fine": "", "see docs/ERROR.md": "", "NO_ERROR": "", "no error here": "", "level of error": "", "TERROR": "",
		strings.Repeat("x ", 60) + "ERROR": "",
	} {
		if got := logLevel(line); got != want {
			t.Errorf("logLevel(%q) = %q, want %q", line, got, want)
		}
	}
}

// TestDigest_KeepsErrorInLog checks that a single error in the middle of a long log is kept, with the lines around it.
//
// FEATURES: R105
func TestDigest_KeepsErrorInLog(t *testing.T) {
	d := Digest{Max: 4000}
	at := uint64(0)
	for i := range 100_000 {
		text := fmt.Sprintf("2026-01-01T00:00:00Z info request %d served", i)
		if i == 61_234 {
			text = "2026-01-01T00:00:00Z ERROR [disk] no space left on /dev/sdz9"
		}
		d.Add([]byte(text), at, at+uint64(len(text)), false)
		at += uint64(len(text)) + 1
	}
	text, left := d.Finish()
	for _, want := range []string{"ERROR [disk] no space left", "request 61233 served", "request 61235 served", "request 99999 served", "request 0 served"} {
		if !strings.Contains(text, want) {
			t.Errorf("got no %q in:\n%s", want, text)
		}
	}
	if len(text) > 4000 || left.Bytes == 0 {
		t.Errorf("got %d bytes, %+v", len(text), left)
	}
}

// TestSimilarLines_ClassifiedAlike checks that lines that differ only in the digits of their numbers get one class.
//
// FEATURES: R105
func TestSimilarLines_ClassifiedAlike(t *testing.T) {
	lines := []string{
		"2026-01-01T00:00:00Z ERROR [disk] 12 of 7", "level=warn n=5", "a1error b2 error 3", "[###  ] 10% 2x", "x86_64 and amd64", "9", "", "worker-007 FATAL0", "0 1 22 333",
	}
	r := rand.New(rand.NewPCG(1, 1))
	shapes := map[uint64]string{}
	s := diagnostics.NewStream("")
	for range 20_000 {
		b := []byte(lines[r.IntN(len(lines))])
		for i, c := range b {
			if c >= '0' && c <= '9' {
				b[i] = '0' + byte(r.IntN(10))
			}
		}
		line := string(b)
		_, shape, ok := s.ReadShape(line)
		if !ok {
			t.Fatalf("got no shape of %q", line)
		}
		if like, known := shapes[shape]; known && (logLevel(like) != logLevel(line) || shapeOf(like) != shapeOf(line)) {
			t.Fatalf("got one shape of %q and %q", like, line)
		}
		shapes[shape] = line
	}
	if len(shapes) < 2*len(lines) {
		t.Errorf("got %d shapes", len(shapes))
	}
}

// TestDigest_SameWithCachedClasses checks that cached classes do not change a digest: lines that are too long to have a
// shape give the same one.
//
// FEATURES: R105
func TestDigest_SameWithCachedClasses(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 20 {
		var known, anew Digest
		known.Max, anew.Max, known.Fold, anew.Fold = 3000, 3000, true, true
		for i := range 3000 {
			line := fmt.Sprintf("worker %d: request %d is served", r.IntN(300), i)
			switch r.IntN(400) {
			case 0:
				line = fmt.Sprintf("2026 ERROR [disk %d] no space", i)
			case 1:
				line = fmt.Sprintf("main.go:%d:2: undefined: x", i)
			}
			known.Add([]byte(line), uint64(i), uint64(i+1), false)
			anew.classes = nil
			anew.Add([]byte(line[:1]), uint64(i), uint64(i), true) // in pieces, as long lines arrive
			anew.Add([]byte(line[1:]), uint64(i), uint64(i+1), false)
		}
		a, leftOfA := known.Finish()
		b, leftOfB := anew.Finish()
		if a != b || leftOfA != leftOfB {
			t.Fatalf("got\n%s\n%+v; without cache\n%s\n%+v", a, leftOfA, b, leftOfB)
		}
	}
}
