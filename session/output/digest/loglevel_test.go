package digest

import (
	"fmt"
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
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// One error in the middle of a long log is kept, with what stands around it.
//
// FEATURES: R105
func TestErrorInALog(t *testing.T) {
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
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if len(text) > 4000 || left.Bytes == 0 {
		t.Errorf("%d bytes, %+v", len(text), left)
	}
}
