//go:build unix

package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/registry"
)

// transcript is what a session's terminal showed between two offsets.
func (s *Server) transcript(ctx context.Context, e *registry.Handle, in *textQuery, from, to uint64) (api.OutputText, error) {
	out := api.OutputText{From: from, Next: to, End: finished(e.Session)}
	if from > in.From {
		out.Gap = from - in.From
	}
	if e.Record().Pipe {
		return out, fmt.Errorf("%w: session %s runs on pipes and has no screen", session.ErrNoTranscript, e.Record().Name)
	}
	t := tail{limit: cmp.Or(in.MaxOutput, int(s.conf.Get().Exec.MaxOutput))}
	stats, err := e.Session.Transcript(ctx, from, to, t.add)
	if err != nil {
		return out, err
	}
	if out.Text = t.text(); t.lines > 0 {
		out.Truncated, out.Omitted = true, &api.Omitted{Bytes: t.bytes, Lines: t.lines}
	}
	if stats.InPlace() {
		out.Note = fmt.Sprintf("the program draws over what it drew (%d rows so far): what it showed before is in no transcript; "+
			"`longterm play %s` shows it", stats.Redrawn, e.Record().Name)
	}
	return out, nil
}

// tail keeps the end of a text, within a number of bytes.
type tail struct {
	limit int
	kept  []string // lines; the first from are left out
	from  int
	size  int // of those kept, in bytes

	lines int // left out
	bytes int64
}

func (t *tail) add(line string) {
	t.kept = append(t.kept, line)
	t.size += len(line) + 1
	for t.size > t.limit && t.from < len(t.kept)-1 {
		n := len(t.kept[t.from]) + 1
		t.kept[t.from] = ""
		t.from, t.size, t.lines, t.bytes = t.from+1, t.size-n, t.lines+1, t.bytes+int64(n)
	}
	if t.from > 1000 && 2*t.from > len(t.kept) {
		t.kept = append([]string(nil), t.kept[t.from:]...)
		t.from = 0
	}
}

func (t *tail) text() string {
	var b strings.Builder
	for _, l := range t.kept[t.from:] {
		b.WriteString(l)
		b.WriteByte('\n')
	}
	text := b.String()
	if cut := len(text) - t.limit; cut > 0 { // one line that is longer
		t.lines, t.bytes = t.lines+1, t.bytes+int64(cut)
		text = strings.ToValidUTF8(text[cut:], "")
	}
	return text
}
