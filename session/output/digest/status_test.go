package digest

import (
	"fmt"
	"strings"
	"testing"
)

// TestDigest_IncludesDifferentStatus checks that a line with a different status is not folded with the lines that
// differ only in other numbers.
//
// FEATURES: R88, R105
func TestDigest_IncludesDifferentStatus(t *testing.T) {
	for _, c := range []struct{ form, well, odd string }{
		{`10.0.0.%[1]d - - [01/Jan/2026:00:00:%02[1]d +0000] "GET /api/item/%[1]d HTTP/1.1" %[2]s 500`, "200", "500"},
		{`10.0.0.%[1]d - - [01/Jan/2026:00:00:%02[1]d +0000] "GET /api/item/%[1]d HTTP/2" %[2]s 103`, "200", "404"},
		{`{"level":"info","id":%d,"status":%s,"bytes":500}`, "200", "503"},
		{`id=%d status=%s bytes=500`, "200", "500"},
		{`request %d: response code %s`, "200", "502"},
		{`worker %d exited with code %s`, "0", "137"},
		{`job %d: exit status %s`, "0", "1"},
		{`job %d returncode=%s`, "0", "2"},
		{`unit-%d.service: Main process exited, code=exited, status=%s/X`, "0", "3"},
	} {
		for _, d := range []*Digest{{Max: 1200, Fold: true}, {Max: 8000, Fold: true}, {Max: 1200}} {
			var lines []string
			for i := range 1000 {
				lines = append(lines, fmt.Sprintf(c.form, 1000+i, c.well))
			}
			lines[500] = fmt.Sprintf(c.form, 1500, c.odd)
			all := strings.Join(lines, "\n")
			text, _ := addAll(d, lines...)
			if c.odd == "404" && !d.Fold {
				continue
			}
			if !strings.Contains(text, lines[500]) {
				t.Errorf("got no %q of %d lines, fold %v, in:\n%s", lines[500], len(all), d.Fold, text)
			}
			if d.Fold && len(text) > 900 {
				t.Errorf("got %d bytes of similar lines:\n%s", len(text), text)
			}
		}
	}
}

func TestStatus(t *testing.T) {
	for line, want := range map[string]byte{
		`"GET / HTTP/1.1" 200 500`: 0, `"GET / HTTP/1.1" 500 200`: '5', `"GET /status/500 HTTP/1.1" 200 7`: 0, "HTTP/2 404": '4', "status=301": 0, "status 500ms": 0,
		"status: 50%": 0, "status 1.5": 0, "exited 0": 0, "exited with code 00": 0, "exit code: 1": '1', "exit in 5 s": 0, "code 500 lines": 0, "code=500": '5',
		"barcode=500": 0, "rc=1": '1', "status=1/FAILURE": '1', "status=0/SUCCESS": 0, "the exit 5 of the road": 0, "exit=1": '1', "": 0, "status=": 0, "http/": 0,
		`"status_code": 503`: '5', "status 12345": 0,
	} {
		if got := statusOf(line).failureClass(line); got != want {
			t.Errorf("statusOf(%q) = %q, want %q", line, got, want)
		}
	}
}
