package prompt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/store/atomicfile"
)

// Limits of a history.
const (
	// maxHistory is the number of stored lines of a directory, maxHistoryFile that of all directories when the file is
	// compacted.
	maxHistory     = 1000
	maxHistoryFile = 10_000
	maxHistoryLine = 64 << 10 // bytes
)

// History is the history of a directory, in a file for all directories. A nil History stores nothing beyond its Prompt.
type History struct {
	path, dir    string
	lines        []string // oldest first
	unterminated bool     // the file's last line has no end, because its writer died
}

// record is a line of the file.
type record struct {
	Dir  string `json:"dir"`
	Text string `json:"text"`
}

// OpenHistory reads the lines of a directory; a missing file counts as empty. Unreadable lines are skipped.
func OpenHistory(path, dir string) (*History, error) {
	h := &History{path: path, dir: dir}
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	h.unterminated = len(b) > 0 && b[len(b)-1] != '\n'
	all := records(b)
	for _, r := range all {
		if r.Dir == dir {
			h.keep(r.Text)
		}
	}
	if len(all) > maxHistoryFile {
		return h, h.compact(all[len(all)-maxHistoryFile/2:])
	}
	return h, nil
}

func records(b []byte) []record {
	var all []record
	for line := range bytes.Lines(b) {
		var r record
		if json.Unmarshal(line, &r) == nil && r.Text != "" {
			all = append(all, r)
		}
	}
	return all
}

// keep adds a line, unless it equals the previous one.
func (h *History) keep(text string) bool {
	if n := len(h.lines); n > 0 && h.lines[n-1] == text {
		return false
	}
	h.lines = append(h.lines, text)
	if len(h.lines) > maxHistory {
		h.lines = slices.Delete(h.lines, 0, len(h.lines)-maxHistory)
	}
	return true
}

// Add stores a line. As in shells, a line with a leading blank is not stored.
func (h *History) Add(text string) error {
	if h == nil || strings.TrimSpace(text) == "" || text[0] == ' ' || len(text) > maxHistoryLine || !h.keep(text) || h.path == "" {
		return nil
	}
	b, err := json.Marshal(record{h.dir, text})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return fmt.Errorf("history: %w", err)
	}
	// One write at the end of the file: several viewers may do so at a time.
	f, err := os.OpenFile(h.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("history: %w", err)
	}
	if h.unterminated {
		b, h.unterminated = append([]byte{'\n'}, b...), false
	}
	_, err = f.Write(append(b, '\n'))
	return errors.Join(err, f.Close())
}

// compact rewrites the file with some of the records.
func (h *History) compact(keep []record) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, r := range keep {
		if err := enc.Encode(r); err != nil {
			return err
		}
	}
	// Not synced: what a loss of power takes is what was searched for. Another viewer may do the same.
	if err := atomicfile.Write(h.path, atomicfile.Options{Shared: true}, b.Bytes()); err != nil {
		return fmt.Errorf("history: %w", err)
	}
	h.unterminated = false
	return nil
}

// position is a position in the history; the line being typed comes after the newest.
type position struct {
	at    int // index; len: the typed line
	typed string
	on    bool
}

// move steps to the previous or next line that starts with the typed text.
func (w *position) move(h *History, text string, back bool) (string, bool) {
	if h == nil {
		return "", false
	}
	if !w.on {
		*w = position{at: len(h.lines), typed: text, on: true}
	}
	step := 1
	if back {
		step = -1
	}
	for at := w.at + step; at >= 0 && at <= len(h.lines); at += step {
		if at == len(h.lines) {
			w.at = at
			return w.typed, true
		}
		if strings.HasPrefix(h.lines[at], w.typed) && h.lines[at] != text {
			w.at = at
			return h.lines[at], true
		}
	}
	return "", false
}

// search is a reverse search in progress.
type search struct {
	query string
	at    int // index of the match; len: none yet
	from  saved
	shell bool // shell mode before the search
	fails bool // no line matches
}

// find searches for the query backwards from an index.
func (s *search) find(h *History, from int) {
	for at := min(from, len(h.lines)-1); at >= 0; at-- {
		if strings.Contains(h.lines[at], s.query) {
			s.at, s.fails = at, false
			return
		}
	}
	s.fails = true
}
