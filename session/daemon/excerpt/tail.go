//go:build unix

package excerpt

import (
	"strings"

	"github.com/longterm-dev/longterm/session/api"
)

// Tail keeps the end of a text, within a number of bytes.
type Tail struct {
	Limit int
	lines []string // lines; those before index from are dropped
	from  int      // index of the first stored line
	size  int      // of those kept, in bytes

	droppedLines int // dropped
	droppedBytes int64
}

// Add adds a line.
func (t *Tail) Add(line string) {
	t.lines = append(t.lines, line)
	t.size += len(line) + 1
	for t.size > t.Limit && t.from < len(t.lines)-1 {
		n := len(t.lines[t.from]) + 1
		t.lines[t.from] = ""
		t.from, t.size, t.droppedLines, t.droppedBytes = t.from+1, t.size-n, t.droppedLines+1, t.droppedBytes+int64(n)
	}
	if t.from > 1000 && 2*t.from > len(t.lines) {
		t.lines = append([]string(nil), t.lines[t.from:]...)
		t.from = 0
	}
}

// Text returns the end of the text and what was omitted before it; nil if nothing was.
func (t *Tail) Text() (string, *api.Omitted) {
	var b strings.Builder
	for _, l := range t.lines[t.from:] {
		b.WriteString(l)
		b.WriteByte('\n')
	}
	text := b.String()
	if cut := len(text) - t.Limit; cut > 0 { // one line that is longer
		t.droppedLines, t.droppedBytes = t.droppedLines+1, t.droppedBytes+int64(cut)
		text = strings.ToValidUTF8(text[cut:], "")
	}
	if t.droppedLines == 0 {
		return text, nil
	}
	return text, &api.Omitted{Bytes: t.droppedBytes, Lines: t.droppedLines}
}
