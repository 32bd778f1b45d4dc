//go:build unix

package excerpt

import (
	"strings"

	"github.com/longterm-dev/longterm/session/api"
)

// Tail keeps the end of a text, within a number of bytes.
type Tail struct {
	Limit int
	kept  []string // lines; the first from are left out
	from  int
	size  int // of those kept, in bytes

	lines int // left out
	bytes int64
}

// Add adds a line.
func (t *Tail) Add(line string) {
	t.kept = append(t.kept, line)
	t.size += len(line) + 1
	for t.size > t.Limit && t.from < len(t.kept)-1 {
		n := len(t.kept[t.from]) + 1
		t.kept[t.from] = ""
		t.from, t.size, t.lines, t.bytes = t.from+1, t.size-n, t.lines+1, t.bytes+int64(n)
	}
	if t.from > 1000 && 2*t.from > len(t.kept) {
		t.kept = append([]string(nil), t.kept[t.from:]...)
		t.from = 0
	}
}

// Text is the end, and what is left out before it; nil: nothing.
func (t *Tail) Text() (string, *api.Omitted) {
	var b strings.Builder
	for _, l := range t.kept[t.from:] {
		b.WriteString(l)
		b.WriteByte('\n')
	}
	text := b.String()
	if cut := len(text) - t.Limit; cut > 0 { // one line that is longer
		t.lines, t.bytes = t.lines+1, t.bytes+int64(cut)
		text = strings.ToValidUTF8(text[cut:], "")
	}
	if t.lines == 0 {
		return text, nil
	}
	return text, &api.Omitted{Bytes: t.bytes, Lines: t.lines}
}
