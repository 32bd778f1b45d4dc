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

// writer writes the chain. The Log's goroutine owns it.
//
// Order of writes: records → [sync of the segment → sync of the head]. The head file is written after its records, so that it
// is ahead of them only after a loss of power.
type writer struct {
	options  *Options
	opened   time.Time
	last     Head   // the newest record
	lastOwn  Head   // the newest record that this writer wrote, independent of the files
	file     File   // of the newest segment; nil: the next record starts one
	firstSeq uint64 // number of its first record
	size     int64
	head     File

	isReady  bool // the end of the log was checked
	isDirty  bool // unsynced data exists
	isClosed bool // the newest record is of kind Close

	clockWarned bool // the warning about kept records was logged
	syncFailed  bool // the last sync failed

	foreignChanges []Record // changes by other programs that no record describes yet

	unwritten      uint64    // records that could not be written
	unwrittenSince time.Time // time of the first of them
	hasFailed      bool      // the last write failed
}

// countUnwritten counts records that could not be written.
func (w *writer) countUnwritten(n uint64, now time.Time) {
	if n == 0 {
		return
	}
	if w.unwritten == 0 {
		w.unwrittenSince = now
	}
	w.unwritten += n
}

// prepare checks and repairs the end of the log, unless done. Findings become the next records.
func (w *writer) prepare() bool {
	w.checkTail()
	if w.isReady {
		return true
	}
	found, err := w.recoverTail()
	if err == nil {
		w.isReady = true // for appendRecords
		for _, r := range slices.Concat(w.foreignChanges, found) {
			if err = w.appendRecords([]Record{r}); err != nil {
				w.isReady = false
				break
			}
		}
	}
	if err == nil {
		w.foreignChanges = nil
	}
	w.logState(err)
	return err == nil
}

// logState logs when the disk starts to fail, and when it recovers.
func (w *writer) logState(err error) {
	switch {
	case err != nil && !w.hasFailed:
		w.options.Log.Error("audit records cannot be written", "err", err)
	case err == nil && w.hasFailed:
		w.options.Log.Info("audit records are written again", "lost", w.unwritten)
	}
	w.hasFailed = err != nil
}

// write writes records, after a Gap record if some are unwritten. It returns the number of the first; it writes all or
// none.
func (w *writer) write(records []Record) (first uint64, err error) {
	if !w.prepare() {
		return 0, errors.New("the end of the log cannot be repaired")
	}
	all, gaps := records, 0
	if w.unwritten > 0 {
		gap := Record{
			Kind: Gap, Time: w.options.Now(), Lost: w.unwritten,
			Note: "records since " + w.unwrittenSince.UTC().Format(time.RFC3339) + " could not be written",
		}
		all, gaps = append([]Record{gap}, records...), 1
	}
	if w.isClosed && !all[0].Kind.isOwn() {
		all, gaps = append([]Record{{Kind: Begin, Time: w.options.Now()}}, all...), gaps+1
	}
	first = w.last.Seq + 1 + uint64(gaps)
	if w.isClosed && len(all) > 1 { // the head is synced before a record that a closed log must not have
		if err = w.appendRecords(all[:1]); err == nil {
			err = w.appendRecords(all[1:])
		}
	} else {
		err = w.appendRecords(all)
	}
	w.logState(err)
	if err != nil {
		return 0, err
	}
	w.unwritten = 0
	return first, nil
}

// checkTail compares the newest segment and the head file with their last known state. If another program replaced or truncated
// them, new records would go to an unread file or overwrite others. The current files are then opened like a new log, and
// records report the change.
func (w *writer) checkTail() {
	if w.file == nil {
		return
	}
	path, kept := segmentPath(w.options.Dir, w.firstSeq), headPath(w.options.Dir)
	found := []string{w.foreignChange(w.file, path, w.size), ""}
	if w.head != nil {
		found[1] = w.foreignChange(w.head, kept, int64(len(headLine(w.last))))
	}
	for i, name := range []string{path, kept} {
		if found[i] == "" {
			continue
		}
		w.foreignChanges = append(w.foreignChanges, damagef("%s %s while it was written to: not by longterm", filepath.Base(name), found[i]))
		w.options.Log.Error("another program changed the audit log; run `longterm audit --verify`", "file", name, "how", found[i])
	}
	if found[0] == "" && found[1] == "" {
		return
	}
	_ = w.file.Close() // data written to them may be lost
	if w.head != nil {
		_ = w.head.Close()
	}
	w.file, w.head, w.isReady = nil, nil, false
}

// foreignChange describes a change of an open file by another program, or returns "".
func (w *writer) foreignChange(f File, path string, size int64) string {
	ours, err := f.Stat()
	if err != nil {
		return "" // a disk problem, which the write reports
	}
	there, err := w.options.FS.Lstat(path)
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

// appendRecords chains records and writes them.
func (w *writer) appendRecords(records []Record) error {
	if w.file != nil && w.size >= w.options.SegmentBytes {
		w.sync()
		_ = w.file.Close() // synced above
		w.file = nil
	}
	last, buf := w.last, []byte(nil)
	if last.Hash == "" {
		last.Hash = zeroHash
	}
	for i := range records {
		r := &records[i]
		r.normalize(w.options.Mask)
		if r.Time.IsZero() {
			r.Time = w.options.Now()
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
		if terr := w.file.Truncate(w.size); terr != nil { // a part may be written: the end is checked before the next record
			w.isReady = false
			_ = w.file.Close()
			w.file = nil
		}
		return err
	}
	w.size += int64(len(buf))
	reopens := w.isClosed
	w.last, w.lastOwn, w.isDirty, w.isClosed = last, last, true, len(records) > 0 && records[len(records)-1].Kind == Close
	w.writeHead()
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
	if err := w.options.FS.MkdirAll(w.options.Dir, 0o700); err != nil {
		return err
	}
	path := segmentPath(w.options.Dir, w.last.Seq+1)
	f, err := w.options.FS.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Size() > 0 {
		err = fmt.Errorf("%s is there already", path)
	}
	if err == nil {
		err = syncDir(w.options.FS, w.options.Dir)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	w.file, w.size, w.firstSeq = f, 0, w.last.Seq+1
	return nil
}

// writeHead writes the head file. If that fails, the file is older than the log, which is not damage.
func (w *writer) writeHead() {
	made := false
	if w.head == nil {
		_, err := w.options.FS.Lstat(headPath(w.options.Dir))
		made = errors.Is(err, os.ErrNotExist)
		f, err := w.options.FS.OpenFile(headPath(w.options.Dir), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			w.options.Log.Warn("the audit log's head cannot be kept", "err", err)
			return
		}
		w.head = f
		if err := f.Truncate(int64(len(headLine(w.last)))); err != nil { // a damaged file may be longer
			w.options.Log.Warn("the audit log's head cannot be kept", "err", err)
		}
	}
	if _, err := w.head.WriteAt(headLine(w.last), 0); err != nil {
		w.options.Log.Warn("the audit log's head cannot be kept", "err", err)
		if made { // a missing file is not damage, an empty one is
			err = errors.Join(w.head.Close(), w.options.FS.Remove(headPath(w.options.Dir)))
			w.head = nil
		}
		if made && err != nil {
			w.options.Log.Warn("an empty head of the audit log stays", "err", err)
		}
	}
}

// sync syncs the segment and the head file.
func (w *writer) sync() {
	if !w.isDirty {
		return
	}
	w.isDirty = false
	w.syncFailed = false
	for _, f := range []File{w.file, w.head} {
		if f == nil {
			continue
		}
		if err := f.Sync(); err != nil {
			w.options.Log.Warn("sync the audit log", "err", err)
			w.syncFailed = true
		}
	}
}

// close syncs and closes the files.
func (w *writer) close() error {
	w.sync()
	var err error
	if w.file != nil {
		err = w.file.Close()
	}
	if w.head != nil {
		err = errors.Join(err, w.head.Close())
	}
	w.file, w.head, w.isReady = nil, nil, false
	return err
}

// tornPath returns the path for a partial record that followed a record.
func tornPath(dir string, after uint64, torn []byte) string {
	sum := sha256.Sum256(torn)
	return filepath.Join(dir, fmt.Sprintf("torn-after-%d-%x.part", after, sum[:8]))
}

// saveTorn saves a partial record in a separate file.
func (w *writer) saveTorn(path string, torn []byte) error {
	f, err := w.options.FS.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(torn, 0)
	return errors.Join(err, f.Sync(), f.Close())
}

var _ io.Closer = (*Log)(nil)
