package audit

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// recover finds the newest record, sets half a record aside, and opens the segment for the next one. It returns records
// about its findings.
func (w *writer) recover() (found []Record, err error) {
	w.file, w.last, w.size, w.closed = nil, Head{}, 0, false
	segs, err := segments(w.o.FS, w.o.Dir)
	if err != nil {
		return nil, err
	}
	head, herr := readHead(w.o.FS, w.o.Dir)
	if own := w.own; own.Seq > 0 { // the kept head may be older, or foreign
		head, herr = &own, nil
	}
	if w.o.Expected && len(segs) == 0 && head == nil && herr == nil { // until it is written: the head is there before it
		w.strangers = append(w.strangers, damagef("the previous log and its head are missing: removed while no daemon was running"))
		w.o.Log.Error("audit log and head are missing; starting a new one, which records this", "dir", w.o.Dir)
	}
	newest, body := segment{}, []byte(nil)
	for i := len(segs) - 1; i >= 0 && len(body) == 0; i-- {
		newest = segs[i]
		all, err := readFile(w.o.FS, newest.path)
		if err != nil {
			return nil, err
		}
		body = all[:bytes.LastIndexByte(all, '\n')+1]
		if torn := all[len(body):]; len(torn) > 0 {
			r, err := w.cutTorn(newest, body, torn)
			if err != nil {
				return nil, err
			}
			found = append(found, r)
		}
	}
	whole := len(body) > 0
	if whole {
		if r := w.takeLast(newest, body, head); r != nil {
			found, whole = append(found, *r), false
		}
	}
	if n := len(segs); n > 0 && w.last.Seq+1 < segs[n-1].first { // a name that promises more than there is
		found, whole = append(found, damagef("%s is not where it belongs", filepath.Base(segs[n-1].path))), false
		w.last = Head{segs[n-1].first, zeroHash}
	}
	if r := w.compare(head, herr); r != nil {
		found = append(found, *r)
		whole = whole && r.Kind != Missing
	}
	if whole {
		if w.file, err = w.o.FS.OpenFile(newest.path, os.O_RDWR, 0); err != nil {
			return nil, err
		}
		w.size, w.begins = int64(len(body)), newest.first
	}
	if w.last.Seq == 0 {
		w.keepHead() // there is a head before there is a record
	}
	return found, nil
}

func damagef(format string, args ...any) Record {
	return Record{Kind: Damage, Note: fmt.Sprintf(format, args...)}
}

// cutTorn sets half a record aside, the result of a kill during a write or of a full disk.
func (w *writer) cutTorn(s segment, body, torn []byte) (Record, error) {
	after := s.first - 1
	if r, err := decode(lastLine(body)); err == nil {
		after = r.Seq
	}
	path := tornPath(w.o.Dir, after, torn)
	if err := w.setAside(path, torn); err != nil {
		return Record{}, fmt.Errorf("set half a record aside: %w", err)
	}
	f, err := w.o.FS.OpenFile(s.path, os.O_RDWR, 0)
	if err != nil {
		return Record{}, err
	}
	if err := errors.Join(f.Truncate(int64(len(body))), f.Sync(), f.Close()); err != nil {
		return Record{}, err
	}
	return Record{Kind: Torn, Note: fmt.Sprintf("%d bytes after record %d were not a whole record (SHA-256 %x) and were set aside as %s",
		len(torn), after, sha256.Sum256(torn), filepath.Base(path))}, nil
}

// lastLine returns the last complete line, without its end.
func lastLine(body []byte) []byte {
	body = bytes.TrimSuffix(body, []byte("\n"))
	return body[bytes.LastIndexByte(body, '\n')+1:]
}

// takeLast makes the newest record the predecessor of the next one, and returns a record if it is untrustworthy.
func (w *writer) takeLast(s segment, body []byte, head *Head) *Record {
	r, err := decode(lastLine(body))
	switch {
	case err == nil:
		w.last, w.closed = Head{r.Seq, r.Hash}, r.Kind == Close
		return nil
	case errors.Is(err, errChanged) && r.Seq >= s.first:
		w.last = Head{r.Seq, zeroHash}
	default:
		w.last = Head{s.first + uint64(bytes.Count(body, []byte("\n"))) - 1, zeroHash}
	}
	if head != nil && head.Seq >= w.last.Seq {
		w.last = *head
	}
	d := damagef("the last line of %s is not the record that was written: %v", filepath.Base(s.path), err)
	return &d
}

// compare holds the end of the log against the head that was kept.
func (w *writer) compare(head *Head, herr error) *Record {
	var r Record
	switch {
	case herr != nil:
		r = damagef("the kept head cannot be read: %v", herr)
	case head == nil && w.last.Seq > 0:
		r = damagef("the kept head is missing; unknown whether records after %d are missing", w.last.Seq)
	case head == nil || head.Seq == 0:
		return nil
	case head.Seq > w.last.Seq:
		r = Record{Kind: Missing, Note: fmt.Sprintf("records %d to %d were there and are not: cut off, or lost with the machine's power", w.last.Seq+1, head.Seq)}
		w.last = *head
	default:
		hash, appended, err := hashAndAppended(w.o.FS, w.o.Dir, head.Seq)
		if err == nil && hash == head.Hash {
			if appended == 0 {
				return nil
			}
			r = damagef("record %d and what follows it were appended after record %d closed the log: not by longterm", appended, head.Seq)
			return &r
		}
		r = damagef("record %d is not the one that was written: its hash was %s", head.Seq, head.Hash)
	}
	return &r
}

// hashAndAppended returns the hash of record seq. If that record closed the log, appended is the number of the first later record
// that only a daemon with an open log can write, or 0.
func hashAndAppended(fsys FS, dir string, seq uint64) (hash string, appended uint64, err error) {
	closed := false
	err = walk(fsys, dir, seq, func(l line) bool {
		switch r := &l.record; {
		case l.err == nil && r.Seq == seq:
			hash, closed = r.Hash, r.Kind == Close
		case l.err == nil && r.Seq > seq && closed && !r.Kind.isOwn():
			appended = r.Seq
		}
		return hash == "" && (l.err != nil || l.record.Seq < seq) || closed && appended == 0
	})
	if err == nil && hash == "" {
		err = fmt.Errorf("record %d not found", seq)
	}
	return hash, appended, err
}
