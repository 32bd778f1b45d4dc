//go:build unix

package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/store/journal"
)

// journalFinding is the state of one session's history.
type journalFinding struct {
	Session  string   `json:"session"`
	Bytes    int64    `json:"bytes"`
	Segments int      `json:"segments"`
	Records  int      `json:"records"`
	Start    uint64   `json:"start"`     // offset of the first byte
	End      uint64   `json:"end"`       // offset after the last byte
	Gaps     uint64   `json:"gap_bytes"` // missing bytes
	Problems []string `json:"problems"`
	Repaired bool     `json:"repaired,omitempty"`
}

// Journals checks all histories without the daemon, and repairs them if repair is set.
func (d *Doctor) Journals(ctx context.Context, repair bool) error {
	if repair {
		if _, err := d.Quiet.Status(ctx); err == nil {
			return api.Errorf(api.CodeRunning, "the daemon has the histories open").
				WithHint("stop it with `longterm daemon stop`, which leaves sessions running, and start it afterwards")
		}
	}
	dirs, err := os.ReadDir(d.Dirs.Sessions())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	found := []journalFinding{}
	damaged := 0
	for _, dir := range dirs {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		f, err := examine(filepath.Join(d.Dirs.Session(dir.Name()), "journal"), dir.Name(), repair)
		if errors.Is(err, os.ErrNotExist) {
			continue // a session that never printed
		}
		if err != nil {
			return fmt.Errorf("history of %s: %w", dir.Name(), err)
		}
		if len(f.Problems) > 0 && !f.Repaired {
			damaged++
		}
		found = append(found, f)
	}
	if err := d.Print(found, func(w io.Writer) { writeJournals(w, found) }); err != nil {
		return err
	}
	if damaged > 0 {
		return exit.With(api.ExitFailure, fmt.Errorf("%d histories are damaged; what is lost reads as a gap; `longterm doctor --repair` repairs the files", damaged))
	}
	return nil
}

// examine checks one history.
func examine(dir, id string, repair bool) (journalFinding, error) {
	r, err := journal.Verify(dir)
	if err != nil {
		return journalFinding{}, err
	}
	f := journalFinding{
		Session: id, Bytes: r.Bytes, Segments: r.Segments, Records: r.Records, Start: r.Start, End: r.End, Gaps: r.Gaps, Problems: []string{},
	}
	for _, p := range r.Problems {
		f.Problems = append(f.Problems, p.String())
	}
	if r.More > 0 {
		f.Problems = append(f.Problems, fmt.Sprintf("and %d more", r.More))
	}
	if repair && len(f.Problems) > 0 {
		if _, err := journal.Repair(dir); err != nil {
			return f, err
		}
		f.Repaired = true
	}
	return f, nil
}

func writeJournals(w io.Writer, found []journalFinding) {
	if len(found) == 0 {
		fmt.Fprintln(w, "no history")
	}
	for _, f := range found {
		state := "sound"
		switch {
		case f.Repaired:
			state = "repaired"
		case len(f.Problems) > 0:
			state = "DAMAGED"
		}
		fmt.Fprintf(w, "%-8s %s  %d segments, %d bytes, %d records, offsets %d to %d, %d bytes in gaps\n",
			state, f.Session, f.Segments, f.Bytes, f.Records, f.Start, f.End, f.Gaps)
		for _, p := range f.Problems {
			fmt.Fprintf(w, "         %s\n", output.Printable(p))
		}
	}
}
