package audit

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// recoverTail finds the newest record, saves a partial record, and opens the segment for the next one. It returns
// records about its findings.
func (w *writer) recoverTail() (found []Record, err error) {
	w.file, w.last, w.size, w.isClosed = nil, Head{}, 0, false
	segs, err := segments(w.options.FS, w.options.Dir)
	if err != nil {
		return nil, err
	}
	head, herr := readHead(w.options.FS, w.options.Dir)
	if own := w.lastOwn; own.Seq > 0 { // the head file may be older, or foreign
		head, herr = &own, nil
	}
	if w.options.IsExpected && len(segs) == 0 && head == nil && herr == nil { // the head file is written before the first record
		w.foreignChanges = append(w.foreignChanges, damagef("the previous log and its head are missing: removed while no daemon was running"))
		w.options.Log.Error("audit log and head are missing; starting a new one, which records this", "dir", w.options.Dir)
	}
	newest, body := segment{}, []byte(nil)
	for i := len(segs) - 1; i >= 0 && len(body) == 0; i-- {
		newest = segs[i]
		all, err := readFile(w.options.FS, newest.path)
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
		if r := w.setLast(newest, body, head); r != nil {
			found, whole = append(found, *r), false
		}
	}
	if n := len(segs); n > 0 && w.last.Seq+1 < segs[n-1].first { // the segment's name has a later number
		found, whole = append(found, damagef("%s is not where it belongs", filepath.Base(segs[n-1].path))), false
		w.last = Head{segs[n-1].first, zeroHash}
	}
	if r := w.compareHead(head, herr); r != nil {
		found = append(found, *r)
		whole = whole && r.Kind != Missing
	}
	if whole {
		if w.file, err = w.options.FS.OpenFile(newest.path, os.O_RDWR, 0); err != nil {
			return nil, err
		}
		w.size, w.firstSeq = int64(len(body)), newest.first
	}
	if w.last.Seq == 0 {
		w.writeHead() // the head file is written before the first record
	}
	return found, nil
}

// damagef returns a record of damage.
func damagef(format string, args ...any) Record {
	return Record{Kind: Damage, Note: fmt.Sprintf(format, args...)}
}

// cutTorn saves a partial record and cuts it off: the result of a kill during a write or of a full disk.
func (w *writer) cutTorn(s segment, body, torn []byte) (Record, error) {
	after := s.first - 1
	if r, err := decode(lastLine(body)); err == nil {
		after = r.Seq
	}
	path := tornPath(w.options.Dir, after, torn)
	if err := w.saveTorn(path, torn); err != nil {
		return Record{}, fmt.Errorf("set half a record aside: %w", err)
	}
	f, err := w.options.FS.OpenFile(s.path, os.O_RDWR, 0)
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

// setLast makes the newest record the predecessor of the next one, and returns a record if it is untrustworthy.
func (w *writer) setLast(s segment, body []byte, head *Head) *Record {
	r, err := decode(lastLine(body))
	switch {
	case err == nil:
		w.last, w.isClosed = Head{r.Seq, r.Hash}, r.Kind == Close
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

// compareHead compares the end of the log with the head file.
func (w *writer) compareHead(head *Head, herr error) *Record {
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
		hash, appended, err := hashAndAppended(w.options.FS, w.options.Dir, head.Seq)
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

// hashAndAppended returns the hash of record seq. If that record closed the log, appended is the number of the first later
// record that only a daemon with an open log can write, or 0.
func hashAndAppended(fsys FS, dir string, seq uint64) (hash string, appended uint64, err error) {
	closed := false
	err = walkLines(fsys, dir, seq, func(l line) bool {
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
