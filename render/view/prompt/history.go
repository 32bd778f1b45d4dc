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

// Bounds of a history.
const (
	// maxHistory is how many lines are kept of a directory, maxHistoryFile of all when the
	// file is tidied.
	maxHistory     = 1000
	maxHistoryFile = 10_000
	maxHistoryLine = 64 << 10 // bytes
)

// History is what was typed in a directory, in a file for all directories. A nil History
// remembers nothing beyond its Prompt.
type History struct {
	path, dir string
	lines     []string // oldest first
	torn      bool     // the file's last line has no end: its writer died
}

// record is a line of the file.
type record struct {
	Dir  string `json:"dir"`
	Text string `json:"text"`
}

// OpenHistory reads the lines of a directory; a file that is not there is an empty one.
// Lines that cannot be read are left out.
func OpenHistory(path, dir string) (*History, error) {
	h := &History{path: path, dir: dir}
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	h.torn = len(b) > 0 && b[len(b)-1] != '\n'
	all := records(b)
	for _, r := range all {
		if r.Dir == dir {
			h.keep(r.Text)
		}
	}
	if len(all) > maxHistoryFile {
		return h, h.tidy(all[len(all)-maxHistoryFile/2:])
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

// keep remembers a line, unless it is the same as the one before.
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

// Add remembers a line. One that begins with a blank is not remembered, as in shells.
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
	if h.torn {
		b, h.torn = append([]byte{'\n'}, b...), false
	}
	_, err = f.Write(append(b, '\n'))
	return errors.Join(err, f.Close())
}

// tidy leaves only some records in the file.
func (h *History) tidy(keep []record) error {
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
	h.torn = false
	return nil
}

// walk is a place in the history; the line that was being typed comes after the newest.
type walk struct {
	at    int // index; len: the typed line
	typed string
	on    bool
}

// move goes one line back or on among those that the typed text begins.
func (w *walk) move(h *History, text string, back bool) (string, bool) {
	if h == nil {
		return "", false
	}
	if !w.on {
		*w = walk{at: len(h.lines), typed: text, on: true}
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

// search is a reverse search under way.
type search struct {
	query string
	at    int // index of the match; len: none yet
	from  saved
	shell bool // mode before
	fails bool
}

// find looks for the query from an index on backwards.
func (s *search) find(h *History, from int) {
	for at := min(from, len(h.lines)-1); at >= 0; at-- {
		if strings.Contains(h.lines[at], s.query) {
			s.at, s.fails = at, false
			return
		}
	}
	s.fails = true
}
