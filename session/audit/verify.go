package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Report is what Verify found.
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

// Finding is something about the log.
type Finding struct {
	Seq    uint64 `json:"seq,omitempty" doc:"number of the record, as far as it is known"`
	File   string `json:"file,omitempty"`
	Offset int64  `json:"offset" doc:"in the file, bytes"`
	What   string `json:"what"`
}

const maxFindings = 1000

// addFinding adds a finding, or counts it once maxFindings are listed.
func (r *Report) addFinding(f Finding) {
	if len(r.Findings) < maxFindings {
		r.Findings = append(r.Findings, f)
	} else {
		r.More++
	}
}

// Against is what a log is compared with, besides the head next to it.
type Against struct {
	Anchors  []Head // that were kept elsewhere
	Written  Head   // the newest record according to the log's writer; the zero Head: not asked
	Expected bool   // a log existed: a missing one is damage
}

// Verify reads a whole log and checks each record against its hash, the one before it, and the heads that
// are known. A daemon may be writing it. An error is of a log that cannot be read; what is wrong with it is
// in the report.
func Verify(dir string, against Against) (Report, error) { return verify(osFS{}, dir, against) }

func verify(fsys FS, dir string, against Against) (r Report, err error) {
	for range 3 { // a segment may be dropped in the middle of it
		before := oldest(fsys, dir)
		r, err = verifyOnce(fsys, dir, against)
		if !errors.Is(err, os.ErrNotExist) && (r.OK || oldest(fsys, dir) == before) {
			break
		}
	}
	return r, err
}

// oldest returns the number in the oldest segment's name.
func oldest(fsys FS, dir string) uint64 {
	segs, err := segments(fsys, dir)
	if err != nil || len(segs) == 0 {
		return 0
	}
	return segs[0].first
}

func verifyOnce(fsys FS, dir string, against Against) (Report, error) {
	anchors := slices.Clone(against.Anchors)
	if against.Written.Seq > 0 {
		anchors = append(anchors, against.Written)
	}
	r := Report{Findings: []Finding{}}
	kept, herr := readHead(fsys, dir) // before the records: what is newer than it does not matter
	if herr != nil {
		r.addFinding(Finding{File: filepath.Base(headPath(dir)), What: herr.Error()})
	}
	if kept != nil && kept.Seq > 0 {
		anchors = append(anchors, *kept)
	}
	c := checker{report: &r, dir: dir, fsys: fsys, anchors: map[uint64][]string{}, last: Head{0, zeroHash}, given: against.Anchors}
	if kept != nil {
		c.kept = kept.Seq
	}
	for _, a := range anchors {
		c.anchors[a.Seq] = append(c.anchors[a.Seq], a.Hash)
	}
	if err := walk(fsys, dir, 0, c.line); err != nil {
		return r, fmt.Errorf("read the audit log: %w", err)
	}
	c.end()
	if now, err := readHead(fsys, dir); c.appended != nil && err == nil && now != nil && kept != nil && *now == *kept { // else a daemon has just opened the log
		r.addFinding(*c.appended)
	}
	if kept == nil && herr == nil && c.seen {
		r.addFinding(Finding{File: filepath.Base(headPath(dir)), What: "the head next to the log is missing: unknown whether records are missing at the end"})
	}
	if kept == nil && herr == nil && !c.seen && (against.Expected || against.Written.Seq > 0) {
		r.addFinding(Finding{File: filepath.Base(dir), What: "the audit log was removed: neither records nor head exist"})
	}
	r.OK = len(r.Findings) == 0
	r.Proven = r.OK && c.dropped <= c.proven
	if c.last.Seq > 0 {
		r.Head = c.last
	}
	return r, nil
}

// checker follows the chain.
type checker struct {
	report  *Report
	dir     string
	fsys    FS
	anchors map[uint64][]string
	last    Head // of the previous line, as recorded; Hash is empty if unknown
	seen    bool
	begins  *Finding // where the log starts, if not at record 1
	follows Head     // what the record there follows
	given   []Head   // anchors that were kept elsewhere
	proven  uint64   // the newest record covered by an anchor
	dropped uint64   // the newest record about dropped ones
	torn    *Finding // half a record at the end of the segment before

	kept     uint64   // number of the newest record, by the kept head
	closed   uint64   // the newest record of kind Close
	appended *Finding // the first record after the kept head, if that closed the log
}

func (c *checker) line(l line) bool {
	at := Finding{File: l.place(), Offset: l.offset}
	if c.torn != nil { // something follows it
		c.report.addFinding(*c.torn)
		c.torn = nil
	}
	c.seen = true
	if l.torn {
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
		if r.Seq != c.last.Seq+1 { // its number may be what was changed
			r.Seq = c.last.Seq + 1
		}
		c.last = Head{r.Seq, ""}
		return true
	}
	if l.begins && r.Seq != l.file.first {
		say("%s starts with record %d", l.place(), r.Seq)
	}
	if c.last.Seq == 0 && c.begins == nil && r.Seq > 1 { // a later record shows whether it may start here
		first := at
		c.begins, c.follows = &first, Head{r.Seq - 1, r.Prev}
		c.last = c.follows
	}
	c.isNext(r, say)
	c.afterClose(r, at)
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
	if slices.Contains(c.given, c.last) {
		c.proven = r.Seq
	}
	c.recordChange(r, at)
	return true
}

// afterClose checks that after a record of kind Close a daemon opens the log before any other record is written.
func (c *checker) afterClose(r *Record, at Finding) {
	if own := r.Kind.isOwn(); c.closed > 0 && !own {
		at.What = fmt.Sprintf("record %d was appended after record %d closed the log", r.Seq, c.closed)
		switch {
		case c.closed+1 == r.Seq:
			c.report.addFinding(at)
		case c.closed == c.kept && c.appended == nil:
			c.appended = &at
		}
	}
	if r.Kind == Close {
		c.closed = r.Seq
	}
}

// isNext checks that a record is the one after the last.
func (c *checker) isNext(r *Record, say func(string, ...any)) {
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

// recordChange adds a finding about the log that the log itself records.
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

// end checks the end of the log.
func (c *checker) end() {
	c.beginning()
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

// beginning checks that the records before the first one were dropped, and are what was dropped.
func (c *checker) beginning() {
	if c.begins == nil {
		return
	}
	d, from := c.report.Dropped, uint64(1)
	if d != nil {
		from = d.To + 1
	}
	switch at := *c.begins; {
	case from < c.follows.Seq:
		at.What = fmt.Sprintf("records %d to %d are missing", from, c.follows.Seq)
		c.report.addFinding(at)
	case from == c.follows.Seq:
		at.What = fmt.Sprintf("record %d is missing", from)
		c.report.addFinding(at)
	case d.To == c.follows.Seq && d.Hash != c.follows.Hash:
		at.What = fmt.Sprintf("record %d does not follow record %d as it was dropped", c.follows.Seq+1, d.To)
		c.report.addFinding(at)
	}
}

// KeptHead returns the head stored next to the log; a log without records has the zero Head.
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
		size, serr := sizeOf(osFS{}, s.path)
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
