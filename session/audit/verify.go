package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Report is the result of Verify.
type Report struct {
	OK       bool      `json:"ok" doc:"the records are consistent with each other and with the heads that are known, and none is missing; only an anchor proves that they are as they were written"`
	Records  uint64    `json:"records" doc:"records that are in order"`
	First    uint64    `json:"first,omitempty" doc:"number of the oldest"`
	Head     Head      `json:"head" doc:"the newest"`
	Proven   bool      `json:"proven" doc:"intact, and either nothing was dropped or a given anchor covers the drop record; otherwise the log's writer could have removed its beginning and recorded a drop"`
	Dropped  *Dropped  `json:"dropped,omitempty" doc:"removed records: all up to its newest one; later records are proven"`
	Findings []Finding `json:"findings" doc:"what is wrong, at most 1000"`
	More     int       `json:"more,omitempty" doc:"findings that are not listed"`
	Notes    []Finding `json:"notes,omitempty" doc:"what happened to the log and is no damage"`
}

// Finding is a fact about the log.
type Finding struct {
	Seq    uint64 `json:"seq,omitempty" doc:"number of the record, as far as it is known"`
	File   string `json:"file,omitempty"`
	Offset int64  `json:"offset" doc:"in the file, bytes"`
	What   string `json:"what"`
}

// maxFindings bounds the listed findings.
const maxFindings = 1000

// addFinding adds a finding, or counts it once maxFindings are listed.
func (r *Report) addFinding(f Finding) {
	if len(r.Findings) < maxFindings {
		r.Findings = append(r.Findings, f)
	} else {
		r.More++
	}
}

// Baseline is what a log is compared with, besides its head file.
type Baseline struct { // heads that were kept elsewhere
	Anchors  []Head // that were kept elsewhere
	Written  Head   // the newest record according to the log's writer; zero: not known
	Expected bool   // a log existed: a missing one is damage
}

// Verify reads a whole log and checks each record against its hash, the record before it, and the known heads. A daemon may be
// writing the log. The error is of an unreadable log; damage is in the report.
func Verify(dir string, against Baseline) (Report, error) { return verify(osFS{}, dir, against) }

// verify repeats verifyOnce if segments are dropped during the read.
func verify(fsys FS, dir string, against Baseline) (r Report, err error) {
	for range 3 { // a segment may be dropped in the middle of it
		before := oldestNumber(fsys, dir)
		r, err = verifyOnce(fsys, dir, against)
		if !errors.Is(err, os.ErrNotExist) && (r.OK || oldestNumber(fsys, dir) == before) {
			break
		}
	}
	return r, err
}

// oldestNumber returns the number in the oldest segment's name.
func oldestNumber(fsys FS, dir string) uint64 {
	segs, err := segments(fsys, dir)
	if err != nil || len(segs) == 0 {
		return 0
	}
	return segs[0].first
}

// verifyOnce verifies a log in one pass.
func verifyOnce(fsys FS, dir string, against Baseline) (Report, error) {
	anchors := slices.Clone(against.Anchors)
	if against.Written.Seq > 0 {
		anchors = append(anchors, against.Written)
	}
	r := Report{Findings: []Finding{}}
	kept, herr := readHead(fsys, dir) // before the records: newer ones do not matter
	if herr != nil {
		r.addFinding(Finding{File: filepath.Base(headPath(dir)), What: herr.Error()})
	}
	if kept != nil && kept.Seq > 0 {
		anchors = append(anchors, *kept)
	}
	c := checker{report: &r, dir: dir, fsys: fsys, anchors: map[uint64][]string{}, last: Head{0, zeroHash}, givenAnchors: against.Anchors}
	if kept != nil {
		c.keptSeq = kept.Seq
	}
	for _, a := range anchors {
		c.anchors[a.Seq] = append(c.anchors[a.Seq], a.Hash)
	}
	if err := walkLines(fsys, dir, 0, c.checkLine); err != nil {
		return r, fmt.Errorf("read the audit log: %w", err)
	}
	c.checkEnd()
	if now, err := readHead(fsys, dir); c.appended != nil && err == nil && now != nil && kept != nil && *now == *kept { // otherwise a daemon has just opened the log
		r.addFinding(*c.appended)
	}
	if kept == nil && herr == nil && c.hasLines {
		r.addFinding(Finding{File: filepath.Base(headPath(dir)), What: "the head next to the log is missing: unknown whether records are missing at the end"})
	}
	if kept == nil && herr == nil && !c.hasLines && (against.Expected || against.Written.Seq > 0) {
		r.addFinding(Finding{File: filepath.Base(dir), What: "the audit log was removed: neither records nor head exist"})
	}
	r.OK = len(r.Findings) == 0
	r.Proven = r.OK && c.dropped <= c.proven
	if c.last.Seq > 0 {
		r.Head = c.last
	}
	return r, nil
}

// checker checks the chain.
type checker struct {
	report       *Report
	dir          string
	fsys         FS
	anchors      map[uint64][]string
	last         Head     // of the previous line, as recorded; Hash is empty if unknown
	hasLines     bool     // a line was read
	firstFinding *Finding // position of the first record, if its number is not 1
	predecessor  Head     // head that the first record refers to
	givenAnchors []Head   // anchors that were kept elsewhere
	proven       uint64   // the newest record that an anchor covers
	dropped      uint64   // the newest record of kind Drop
	torn         *Finding // partial record at the end of the previous segment

	keptSeq  uint64   // number in the head file
	closed   uint64   // the newest record of kind Close
	appended *Finding // the first record after the head file's, if the latter closed the log
}

// checkLine checks the next line.
func (c *checker) checkLine(l line) bool {
	at := Finding{File: l.fileName(), Offset: l.offset}
	if c.torn != nil { // another line follows it
		c.report.addFinding(*c.torn)
		c.torn = nil
	}
	c.hasLines = true
	if l.isTorn {
		at.Seq, at.What = c.last.Seq+1, fmt.Sprintf("%d bytes after record %d are half a record", l.size, c.last.Seq)
		c.torn = &at
		return true
	}
	if l.err != nil && !errors.Is(l.err, errChanged) {
		at.Seq, at.What = c.last.Seq+1, fmt.Sprintf("line after record %d: %v", c.last.Seq, l.err)
		c.report.addFinding(at)
		c.last = Head{c.last.Seq + 1, ""}
		return true
	}
	r := &l.record
	at.Seq = r.Seq
	say := func(format string, args ...any) {
		at.What = fmt.Sprintf(format, args...)
		c.report.addFinding(at)
	}
	if l.err != nil {
		say("record %d: %v", r.Seq, l.err)
		if r.Seq != c.last.Seq+1 { // its number may have been changed
			r.Seq = c.last.Seq + 1
		}
		c.last = Head{r.Seq, ""}
		return true
	}
	if l.isFirst && r.Seq != l.file.first {
		say("%s starts with record %d", l.fileName(), r.Seq)
	}
	if c.last.Seq == 0 && c.firstFinding == nil && r.Seq > 1 { // a later drop record shows whether it may start here
		first := at
		c.firstFinding, c.predecessor = &first, Head{r.Seq - 1, r.Prev}
		c.last = c.predecessor
	}
	c.checkNext(r, say)
	c.checkAfterClose(r, at)
	c.report.Records++
	if c.report.First == 0 {
		c.report.First = r.Seq
	}
	for _, hash := range c.anchors[r.Seq] {
		if hash != r.Hash {
			say("record %d is not the one that was written: the hash that was kept is %s", r.Seq, hash)
		}
	}
	delete(c.anchors, r.Seq)
	c.last = Head{r.Seq, r.Hash}
	if slices.Contains(c.givenAnchors, c.last) {
		c.proven = r.Seq
	}
	c.recordChange(r, at)
	return true
}

// checkAfterClose checks that after a record of kind Close a daemon opens the log before any other record is written.
func (c *checker) checkAfterClose(r *Record, at Finding) {
	if own := r.Kind.isOwn(); c.closed > 0 && !own {
		at.What = fmt.Sprintf("record %d was appended after record %d closed the log", r.Seq, c.closed)
		switch {
		case c.closed+1 == r.Seq:
			c.report.addFinding(at)
		case c.closed == c.keptSeq && c.appended == nil:
			c.appended = &at
		}
	}
	if r.Kind == Close {
		c.closed = r.Seq
	}
}

// checkNext checks that a record follows the previous one.
func (c *checker) checkNext(r *Record, say func(string, ...any)) {
	switch {
	case r.Seq == c.last.Seq+1:
		if c.last.Hash != "" && r.Prev != c.last.Hash {
			say("record %d does not follow record %d as it is now: one of them was changed", r.Seq, c.last.Seq)
		}
	case r.Seq <= c.last.Seq:
		say("record %d stands after record %d: it was moved or doubled", r.Seq, c.last.Seq)
	case r.Seq == c.last.Seq+2:
		say("record %d is missing", c.last.Seq+1)
	default:
		say("records %d to %d are missing", c.last.Seq+1, r.Seq-1)
	}
}

// recordChange adds a finding from a record about the log itself.
func (c *checker) recordChange(r *Record, at Finding) {
	switch r.Kind {
	case Drop:
		c.dropped = r.Seq
		if c.report.Dropped = r.Dropped; r.Dropped != nil && r.Dropped.Damaged > 0 {
			at.What = fmt.Sprintf("record %d: of the dropped records %d to %d, %d were altered, or reported damage",
				r.Seq, r.Dropped.From, r.Dropped.To, r.Dropped.Damaged)
			c.report.addFinding(at)
		}
	case Damage, Missing:
		at.What = fmt.Sprintf("record %d: %s", r.Seq, r.Note)
		c.report.addFinding(at)
	case Torn:
		at.What = fmt.Sprintf("record %d: %s", r.Seq, r.Note)
		c.report.Notes = append(c.report.Notes, at)
	case Gap:
		at.What = fmt.Sprintf("record %d: %d %s", r.Seq, r.Lost, r.Note)
		c.report.Notes = append(c.report.Notes, at)
	}
}

// checkEnd checks the end of the log.
func (c *checker) checkEnd() {
	c.checkBeginning()
	if d := c.report.Dropped; d != nil {
		for _, hash := range c.anchors[d.To] {
			if hash != d.Hash {
				c.report.addFinding(Finding{Seq: d.To, What: fmt.Sprintf("record %d, which was dropped, was not the one that was written: the hash that was kept is %s", d.To, hash)})
			}
		}
		delete(c.anchors, d.To)
	}
	for seq, hashes := range c.anchors {
		if seq > c.last.Seq {
			c.report.addFinding(Finding{Seq: seq, What: fmt.Sprintf("the log ends with record %d, but record %d was written (hash %s): its end is missing", c.last.Seq, seq, hashes[0])})
		} else if d := c.report.Dropped; d != nil && seq < d.To {
			c.report.addFinding(Finding{Seq: seq, What: fmt.Sprintf("record %d was dropped with all up to %d, and nothing can be held against it: give a newer head (`longterm audit --head`)", seq, d.To)})
		} else {
			c.report.addFinding(Finding{Seq: seq, What: fmt.Sprintf("record %d, which was written with the hash %s, is not there", seq, hashes[0])})
		}
	}
	if c.torn != nil {
		c.torn.What += "; a daemon is writing it, or was killed, and the next one sets it aside"
		c.report.Notes = append(c.report.Notes, *c.torn)
	}
}

// checkBeginning checks that the records before the first one were dropped, and are those of the drop record.
func (c *checker) checkBeginning() {
	if c.firstFinding == nil {
		return
	}
	d, from := c.report.Dropped, uint64(1)
	if d != nil {
		from = d.To + 1
	}
	switch at := *c.firstFinding; {
	case from < c.predecessor.Seq:
		at.What = fmt.Sprintf("records %d to %d are missing", from, c.predecessor.Seq)
		c.report.addFinding(at)
	case from == c.predecessor.Seq:
		at.What = fmt.Sprintf("record %d is missing", from)
		c.report.addFinding(at)
	case d.To == c.predecessor.Seq && d.Hash != c.predecessor.Hash:
		at.What = fmt.Sprintf("record %d does not follow record %d as it was dropped", c.predecessor.Seq+1, d.To)
		c.report.addFinding(at)
	}
}

// KeptHead returns the head file's content; a log without records has the zero Head.
func KeptHead(dir string) (Head, error) {
	h, err := readHead(osFS{}, dir)
	if err != nil || h == nil || h.Seq == 0 {
		return Head{}, err
	}
	return *h, nil
}

// Size returns the size of a log's records in bytes.
func Size(dir string) (n int64, err error) {
	segs, err := segments(osFS{}, dir)
	for _, s := range segs {
		size, serr := fileSize(osFS{}, s.path)
		n, err = n+size, errors.Join(err, serr)
	}
	return n, err
}

// Exists reports whether a log exists.
func Exists(dir string) bool {
	_, err := os.Stat(headPath(dir))
	_, derr := os.Stat(dir)
	return err == nil || derr == nil
}
