package audit

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// writer writes the chain. It is its goroutine's own.
//
// Golden order: records → [sync of the segment → sync of the head]. The head is written after the records
// that it is about, so that it is never ahead of them but after a loss of power.
type writer struct {
	o      *Options
	opened time.Time
	last   Head   // the newest record
	own    Head   // the newest that this writer wrote, whatever the files contain
	file   File   // of the newest segment; nil: the next record starts one
	begins uint64 // number of its first record
	size   int64
	head   File

	ready  bool // the end was looked at, and is in order
	dirty  bool // something is not synced
	closed bool // the newest record is of kind Close

	told     bool // that records are kept because of the clock
	unsynced bool // the disk refused to sync what was written last

	strangers []Record // foreign changes of the log that no record describes yet

	lost   uint64    // records that could not be written
	since  time.Time // the first of them
	failed bool      // the disk refused what was tried last
}

// lose counts records that could not be written.
func (w *writer) lose(n uint64, now time.Time) {
	if n == 0 {
		return
	}
	if w.lost == 0 {
		w.since = now
	}
	w.lost += n
}

// try checks and repairs the end of the log, unless done. Findings become the next records.
func (w *writer) try() bool {
	w.checkTail()
	if w.ready {
		return true
	}
	found, err := w.recover()
	if err == nil {
		w.ready = true // for put
		for _, r := range slices.Concat(w.strangers, found) {
			if err = w.put([]Record{r}); err != nil {
				w.ready = false
				break
			}
		}
	}
	if err == nil {
		w.strangers = nil
	}
	w.logState(err)
	return err == nil
}

// logState logs when the disk starts to fail, and when it recovers.
func (w *writer) logState(err error) {
	switch {
	case err != nil && !w.failed:
		w.o.Log.Error("audit records cannot be written", "err", err)
	case err == nil && w.failed:
		w.o.Log.Info("audit records are written again", "lost", w.lost)
	}
	w.failed = err != nil
}

// write writes records, after one that counts unwritten ones. It returns the number of the first; it writes all or
// none.
func (w *writer) write(records []Record) (first uint64, err error) {
	if !w.try() {
		return 0, errors.New("the end of the log cannot be repaired")
	}
	all, gaps := records, 0
	if w.lost > 0 {
		gap := Record{
			Kind: Gap, Time: w.o.Now(), Lost: w.lost,
			Note: "records since " + w.since.UTC().Format(time.RFC3339) + " could not be written",
		}
		all, gaps = append([]Record{gap}, records...), 1
	}
	if w.closed && !all[0].Kind.isOwn() {
		all, gaps = append([]Record{{Kind: Begin, Time: w.o.Now()}}, all...), gaps+1
	}
	first = w.last.Seq + 1 + uint64(gaps)
	if w.closed && len(all) > 1 { // the head is on disk before a record that a closed log may not have
		if err = w.put(all[:1]); err == nil {
			err = w.put(all[1:])
		}
	} else {
		err = w.put(all)
	}
	w.logState(err)
	if err != nil {
		return 0, err
	}
	w.lost = 0
	return first, nil
}

// checkTail compares the newest segment and the head with their last known state. If something else replaced or cut them,
// new records would go to an unread file or over others. The current files are then opened like a new log, and records
// report it.
func (w *writer) checkTail() {
	if w.file == nil {
		return
	}
	path, kept := segmentPath(w.o.Dir, w.begins), headPath(w.o.Dir)
	found := []string{w.strange(w.file, path, w.size), ""}
	if w.head != nil {
		found[1] = w.strange(w.head, kept, int64(len(headLine(w.last))))
	}
	for i, name := range []string{path, kept} {
		if found[i] == "" {
			continue
		}
		w.strangers = append(w.strangers, damagef("%s %s while it was written to: not by longterm", filepath.Base(name), found[i]))
		w.o.Log.Error("another program changed the audit log; run `longterm audit --verify`", "file", name, "how", found[i])
	}
	if found[0] == "" && found[1] == "" {
		return
	}
	_ = w.file.Close() // what was written to them is the kernel's
	if w.head != nil {
		_ = w.head.Close()
	}
	w.file, w.head, w.ready = nil, nil, false
}

// strange describes a foreign change of an open file, or returns "".
func (w *writer) strange(f File, path string, size int64) string {
	ours, err := f.Stat()
	if err != nil {
		return "" // a disk problem; the write reports it
	}
	there, err := w.o.FS.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "was removed"
	case err != nil:
		return ""
	case !os.SameFile(ours, there):
		return "was replaced"
	case ours.Size() != size:
		return fmt.Sprintf("had %d bytes instead of %d", ours.Size(), size)
	}
	return ""
}

// put chains records and writes them.
func (w *writer) put(records []Record) error {
	if w.file != nil && w.size >= w.o.SegmentBytes {
		w.sync()
		_ = w.file.Close() // it is synced
		w.file = nil
	}
	last, buf := w.last, []byte(nil)
	if last.Hash == "" {
		last.Hash = zeroHash
	}
	for i := range records {
		r := &records[i]
		r.tidy(w.o.Mask)
		if r.Time.IsZero() {
			r.Time = w.o.Now()
		}
		r.Time = r.Time.UTC().Round(0)
		r.Seq, r.Prev = last.Seq+1, last.Hash
		line, err := r.encode()
		if err != nil {
			return err
		}
		buf, last = append(buf, line...), Head{r.Seq, r.Hash}
	}
	if err := w.open(); err != nil {
		return err
	}
	if _, err := w.file.WriteAt(buf, w.size); err != nil {
		if terr := w.file.Truncate(w.size); terr != nil { // half of it may be there: looked at again before the next
			w.ready = false
			_ = w.file.Close()
			w.file = nil
		}
		return err
	}
	w.size += int64(len(buf))
	reopens := w.closed
	w.last, w.own, w.dirty, w.closed = last, last, true, len(records) > 0 && records[len(records)-1].Kind == Close
	w.keepHead()
	if reopens {
		w.sync()
	}
	return nil
}

// open creates the segment for the next record, unless one is open.
func (w *writer) open() error {
	if w.file != nil {
		return nil
	}
	if err := w.o.FS.MkdirAll(w.o.Dir, 0o700); err != nil {
		return err
	}
	path := segmentPath(w.o.Dir, w.last.Seq+1)
	f, err := w.o.FS.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Size() > 0 {
		err = fmt.Errorf("%s is there already", path)
	}
	if err == nil {
		err = syncDir(w.o.FS, w.o.Dir)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	w.file, w.size, w.begins = f, 0, w.last.Seq+1
	return nil
}

// keepHead writes the head down. One that cannot be is older than the log, which is no damage.
func (w *writer) keepHead() {
	made := false
	if w.head == nil {
		_, err := w.o.FS.Lstat(headPath(w.o.Dir))
		made = errors.Is(err, os.ErrNotExist)
		f, err := w.o.FS.OpenFile(headPath(w.o.Dir), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			w.o.Log.Warn("the audit log's head cannot be kept", "err", err)
			return
		}
		w.head = f
		if err := f.Truncate(int64(len(headLine(w.last)))); err != nil { // a damaged one may be longer
			w.o.Log.Warn("the audit log's head cannot be kept", "err", err)
		}
	}
	if _, err := w.head.WriteAt(headLine(w.last), 0); err != nil {
		w.o.Log.Warn("the audit log's head cannot be kept", "err", err)
		if made { // none is what it was; one without its words would be damage
			err = errors.Join(w.head.Close(), w.o.FS.Remove(headPath(w.o.Dir)))
			w.head = nil
		}
		if made && err != nil {
			w.o.Log.Warn("an empty head of the audit log stays", "err", err)
		}
	}
}

func (w *writer) sync() {
	if !w.dirty {
		return
	}
	w.dirty = false
	w.unsynced = false
	for _, f := range []File{w.file, w.head} {
		if f == nil {
			continue
		}
		if err := f.Sync(); err != nil {
			w.o.Log.Warn("sync the audit log", "err", err)
			w.unsynced = true
		}
	}
}

func (w *writer) close() error {
	w.sync()
	var err error
	if w.file != nil {
		err = w.file.Close()
	}
	if w.head != nil {
		err = errors.Join(err, w.head.Close())
	}
	w.file, w.head, w.ready = nil, nil, false
	return err
}

// tornPath returns the path for half a record that followed a record.
func tornPath(dir string, after uint64, torn []byte) string {
	sum := sha256.Sum256(torn)
	return filepath.Join(dir, fmt.Sprintf("torn-after-%d-%x.part", after, sum[:8]))
}

// setAside saves half a record in a separate file.
func (w *writer) setAside(path string, torn []byte) error {
	f, err := w.o.FS.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(torn, 0)
	return errors.Join(err, f.Sync(), f.Close())
}

var _ io.Closer = (*Log)(nil)
