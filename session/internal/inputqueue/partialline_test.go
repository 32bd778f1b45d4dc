package inputqueue

import (
	"testing"
	"time"
)

// TestPartialLine checks which keys start and end a line.
//
// FEATURES: R102
func TestPartialLine(t *testing.T) {
	now := time.Unix(1000, 0)
	for _, c := range []struct {
		typed string
		want  bool
	}{
		{"", false}, {"l", true}, {"ls\r", false}, {"ls\rx", true}, {"ab\x7f\x7f", false}, {"ab\x7f", true}, {"é\x7f", false},
		{"rm -rf\x03", false}, {"abc\x15", false}, {"\x1b[A", false}, {"\x1bOA", false}, {"\x1b[<35;10;20M", false}, {"\x1b[M abc", true},
		{"\x1b[M ab", false}, {"\x1b[I\x1b[O", false}, {"\x1b[200~pasted\x1b[201~", true}, {"\x1b[200~a\r\x1b[201~", false}, {"\x1b", false}, {"\x1bb", false},
		{"\x1b\x1b[A", false}, {"\x1b[", false}, {"\t", false}, {"\xff", true},
	} {
		var b PartialLine
		b.NoteTyped([]byte(c.typed), now)
		if b.IsUnfinished(now.Add(time.Hour), true) != c.want {
			t.Errorf("%q: %v", c.typed, !c.want)
		}
		if b.IsUnfinished(now.Add(time.Second), false) != c.want || b.IsUnfinished(now.Add(time.Hour), false) {
			t.Errorf("%q: in a program without an editor of lines", c.typed)
		}
		if b.Clear(); b.IsUnfinished(now, true) {
			t.Errorf("%q: ended", c.typed)
		}
	}
}

// FuzzPartialLine checks that Enter ends a line after any input.
func FuzzPartialLine(f *testing.F) {
	f.Add([]byte("\x1b[M ab\x1bOA\x1b[200~x"))
	f.Fuzz(func(t *testing.T, p []byte) {
		var b PartialLine
		b.NoteTyped(p, time.Unix(1, 0))
		b.NoteTyped([]byte("\x1b\r"), time.Unix(1, 0)) // ends any cut sequence
		if b.NoteTyped([]byte("\r"), time.Unix(1, 0)); b.IsUnfinished(time.Unix(1, 0), true) {
			t.Error("line unfinished after Enter")
		}
	})
}
