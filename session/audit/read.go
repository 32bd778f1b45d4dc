package audit

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// line is a line of a segment.
type line struct {
	file    segment
	offset  int64 // of its first byte
	size    int
	isFirst bool // first line of its segment
	isTorn  bool // the line has no end
	record  Record
	err     error
}

// walkLines calls f for each line until f returns false. It starts with the segment that contains the record number from.
func walkLines(fsys FS, dir string, from uint64, f func(line) bool) error {
	segs, err := segments(fsys, dir)
	if err != nil {
		return err
	}
	for i, s := range segs {
		if i+1 < len(segs) && segs[i+1].first <= from {
			continue
		}
		more, err := walkSegment(fsys, s, f)
		if i == 0 && errors.Is(err, os.ErrNotExist) { // dropped during the read
			continue
		}
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// readers pools buffers.
var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, maxLine) }}

// walkSegment reads the lines of a segment until f returns false.
func walkSegment(fsys FS, s segment, f func(line) bool) (more bool, err error) {
	file, err := fsys.OpenFile(s.path, os.O_RDONLY, 0)
	if errors.Is(err, errNotRegular) {
		return f(line{file: s, isFirst: true, err: err}), nil
	}
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return f(line{file: s, isFirst: true, err: errors.New("it is a directory; move it out of the log's directory")}), nil
	}
	in := readers.Get().(*bufio.Reader)
	defer readers.Put(in)
	in.Reset(file)
	for at := int64(0); ; {
		text, rerr := in.ReadSlice('\n')
		if rerr == io.EOF && len(text) == 0 {
			return true, nil
		}
		l := line{file: s, offset: at, size: len(text), isFirst: at == 0}
		for errors.Is(rerr, bufio.ErrBufferFull) { // longer than any record
			l.err = errors.New("it is no record")
			text, rerr = in.ReadSlice('\n')
			l.size += len(text)
		}
		at += int64(l.size)
		switch {
		case rerr == io.EOF:
			l.isTorn, l.err = true, errors.New("it is half a record")
		case rerr != nil:
			return false, rerr
		case l.err == nil:
			l.record, l.err = decode(text[:len(text)-1])
		}
		if !f(l) {
			return false, nil
		}
	}
}

// Query selects records. Empty fields select all.
type Query struct {
	After   uint64    // only later numbers
	Since   time.Time // only later ones
	Session string    // id or its start, or name
	Agent   string    // label
	Verdict string
	Kind    Kind
	Limit   int // the newest Limit; 0: all
}

// Matches reports whether a record is selected.
func (q *Query) Matches(r *Record) bool {
	return r.Seq > q.After && (q.Since.IsZero() || !r.Time.Before(q.Since)) &&
		(q.Session == "" || r.Name == q.Session || r.Session != "" && strings.HasPrefix(r.Session, q.Session)) &&
		(q.Agent == "" || r.Actor.Agent == q.Agent) &&
		(q.Verdict == "" || r.Verdict == q.Verdict) &&
		(q.Kind == "" || r.Kind == q.Kind)
}

// Read returns the selected records, oldest first. It skips invalid lines, which Verify reports.
func Read(dir string, q Query) ([]Record, error) {
	var all []Record
	err := walkLines(osFS{}, dir, q.After+1, func(l line) bool {
		if l.err != nil && !errors.Is(l.err, errChanged) || !q.Matches(&l.record) {
			return true
		}
		if all = append(all, l.record); q.Limit > 0 && len(all) >= 2*q.Limit {
			all = append(all[:0], all[len(all)-q.Limit:]...)
		}
		return true
	})
	if q.Limit > 0 && len(all) > q.Limit {
		all = all[len(all)-q.Limit:]
	}
	return all, err
}

// fileName returns the name of the line's segment.
func (l *line) fileName() string { return filepath.Base(l.file.path) }
