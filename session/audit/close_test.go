package audit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// appendTo appends records as another program that knows the format could.
func appendTo(t *testing.T, dir string, last Head, kinds ...Kind) Head {
	t.Helper()
	segs, err := segments(osFS{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(segs[len(segs)-1].path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, k := range kinds {
		r := Record{Kind: k, Seq: last.Seq + 1, Prev: last.Hash, Line: "forged"}
		line, err := r.encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(line); err != nil {
			t.Fatal(err)
		}
		last = Head{r.Seq, r.Hash}
	}
	return last
}

// TestVerify_AppendedAfterClose checks that records appended to a closed log are found, by Verify and by the daemon
// that opens it next, also after a forged opening record. Daemons that open and close the log, and one that is killed,
// leave it intact.
// FAULT: G18
func TestVerify_AppendedAfterClose(t *testing.T) {
	for name, tt := range map[string]struct {
		kinds  []Kind
		killed bool
		ok     bool
	}{
		"nothing":               {ok: true},
		"a line":                {kinds: []Kind{Line}},
		"an opening":            {kinds: []Kind{Begin}, ok: true}, // left by a daemon that is killed at once
		"an opening and a line": {kinds: []Kind{Begin, Line}},
		"another close":         {kinds: []Kind{Begin, Close, Line}},
		"a daemon was killed":   {killed: true, kinds: []Kind{Line}, ok: true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "audit")
			var last Head
			for range 2 {
				l := openLog(t, Options{Dir: dir})
				appendAll(t, l, Record{Kind: Line, Line: "a"}, Record{Kind: Line, Line: "b"})
				shut := func() error { return l.CloseMarked(Record{}) }
				if tt.killed {
					shut = l.Close
				}
				if err := shut(); err != nil {
					t.Fatal(err)
				}
				last = l.Head()
			}
			appendTo(t, dir, last, tt.kinds...)
			for _, when := range []string{"before", "after"} {
				r, err := Verify(dir, Baseline{})
				if err != nil || r.OK != tt.ok || !tt.ok && !strings.Contains(r.Findings[0].What, "appended after record ") {
					t.Errorf("%s it is opened again: %+v, %v", when, r, err)
				}
				l := openLog(t, Options{Dir: dir})
				appendAll(t, l, Record{Kind: Begin}, Record{Kind: Line, Line: "c"})
				if err := l.CloseMarked(Record{}); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
