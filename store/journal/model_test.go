package journal

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
)

// entry is a record without its time, in a form that compares.
type entry struct {
	Kind       Kind
	Offset     uint64
	Data       string
	Cols, Rows int
	Exit       Exit
	Lost       uint64
}

func (e entry) String() string {
	return fmt.Sprintf("%s@%d %q %d×%d %v lost %d", e.Kind, e.Offset, e.Data, e.Cols, e.Rows, e.Exit, e.Lost)
}

func entryOf(r Record) entry {
	return entry{r.Kind, r.Offset, string(r.Data), r.Cols, r.Rows, r.Exit, r.Lost}
}

// entries reads to the end.
func entries(t testing.TB, j *Journal, from uint64) []entry {
	t.Helper()
	r := j.NewReader(from)
	defer r.Close()
	return rest(t, r)
}

func rest(t testing.TB, r *Reader) []entry {
	t.Helper()
	var all []entry
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		must(t, err)
		all = append(all, entryOf(rec))
	}
}

// model computes the expected content of a journal, independently of it.
type model struct {
	all []entry
	end uint64
}

func (m *model) output(s string) {
	for len(s) > 0 {
		n := min(len(s), MaxPayload)
		m.all = append(m.all, entry{Kind: KindOutput, Offset: m.end, Data: s[:n]})
		m.end += uint64(n)
		s = s[n:]
	}
}

func (m *model) add(e entry) {
	e.Offset = m.end
	m.all = append(m.all, e)
	m.end += e.Lost
}

func equal(t testing.TB, got, want []entry) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Fatalf("%d records, want %d; missing %.200s", len(got), len(want), want[i])
		case i >= len(want):
			t.Fatalf("%d records, want %d; too many: %.200s", len(got), len(want), got[i])
		case got[i] != want[i]:
			t.Fatalf("record %d is %.200s\nwant %.200s", i, got[i], want[i])
		}
	}
}

// fill appends one of everything.
func fill(t testing.TB, j *Journal, m *model) {
	t.Helper()
	must(t, j.AppendResize(80, 24))
	m.add(entry{Kind: KindResize, Cols: 80, Rows: 24})
	must(t, j.AppendOutput([]byte("hello "), nil, []byte("world\r\n")))
	m.output("hello world\r\n")
	must(t, j.AppendMark([]byte{0, 1, 2}))
	m.add(entry{Kind: KindMark, Data: "\x00\x01\x02"})
	must(t, j.AppendGap(1000))
	m.add(entry{Kind: KindGap, Lost: 1000})
	must(t, j.AppendOutput([]byte("again\r\n")))
	m.output("again\r\n")
	e := Exit{Code: -1, Signal: 9, User: 5, System: 6, MaxRSS: 7 << 20}
	must(t, j.AppendExit(e))
	m.add(entry{Kind: KindExit, Exit: e})
}
