package rules

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/longterm-dev/longterm/store/atomicfile"
)

// MaxLogBytes is the size at which the older half of the matches is dropped.
const MaxLogBytes = 1 << 20

// Log is the path of the file that records matches, one JSON object per line.
type Log string

// Append appends a firing to the file.
func (l Log) Append(f *MatchRecord) error {
	b, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return l.appendLine(b)
}

// appendLine appends a line to the file, and drops older ones above MaxLogBytes.
func (l Log) appendLine(line []byte) error {
	f, err := os.OpenFile(string(l), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(append(line, '\n')); err != nil {
		return err
	}
	if st, err := f.Stat(); err != nil || st.Size() < MaxLogBytes {
		return err
	}
	return l.dropOlderHalf(f)
}

// dropOlderHalf removes the older half of the file's lines.
func (l Log) dropOlderHalf(f *os.File) error {
	b := make([]byte, MaxLogBytes/2)
	st, err := f.Stat()
	if err != nil {
		return err
	}
	n, err := f.ReadAt(b, st.Size()-int64(len(b)))
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	_, rest, _ := bytes.Cut(b[:n], []byte("\n"))
	return atomicfile.Write(string(l), atomicfile.Options{}, rest) // not synced, as what is appended is not
}

// Matches returns the recorded firings, oldest first, as far as they are retained.
func (l Log) Matches() ([]MatchRecord, error) {
	f, err := os.Open(string(l))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list []MatchRecord
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return list, nil // the last line is incomplete: the daemon was killed while it wrote
		}
		if err != nil {
			return list, err
		}
		var x MatchRecord
		if err := json.Unmarshal(line, &x); err != nil {
			return list, fmt.Errorf("record of a firing: %w", err)
		}
		list = append(list, x)
	}
}
