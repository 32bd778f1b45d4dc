package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
)

// Fault is a kind of damage in a journal.
type Fault string

// Faults.
const (
	FaultHeader  Fault = "damaged header"
	FaultNewer   Fault = "written by a newer longterm"
	FaultRecord  Fault = "no whole record" // a bad checksum, or bytes of another origin
	FaultBlock   Fault = "block cannot be decoded"
	FaultOverlap Fault = "offsets go back"
	FaultMissing Fault = "offsets are left out"
	FaultTail    Fault = "incomplete end" // of the last segment: a crash, or an append in progress
	FaultStray   Fault = "not a segment"
)

// Problem is one place of damage.
type Problem struct {
	Fault Fault
	File  string
	Pos   int64 // position in the file
	Bytes int64 // number of affected bytes of the file
	// From and To are the offsets of output that is lost, or that two records claim.
	From, To uint64
}

func (p Problem) String() string {
	s := fmt.Sprintf("%s: %s", p.File, p.Fault)
	if p.Bytes > 0 {
		s += fmt.Sprintf(" (%d bytes at %d)", p.Bytes, p.Pos)
	}
	if p.To > p.From {
		s += fmt.Sprintf(", offsets %d to %d", p.From, p.To)
	}
	return s
}

// Report is the result of Verify.
type Report struct {
	Segments   int
	Bytes      int64
	Records    int
	Start, End uint64
	Gaps       uint64 // bytes that gap records count as lost
	Problems   []Problem
	More       int // number of problems beyond the list
}

// maxProblems limits the list of problems.
const maxProblems = 1000

func (r *Report) add(p Problem) {
	if len(r.Problems) == maxProblems {
		r.More++
		return
	}
	r.Problems = append(r.Problems, p)
}

// Verify reads the whole journal in dir and changes nothing. A journal that is in use may seem to have an incomplete
// end.
func Verify(dir string) (Report, error) { return verify(osFS{}, dir) }

func verify(fsys FS, dir string) (Report, error) {
	j := &Journal{dir: dir, opt: Options{FS: fsys}.withDefaults()}
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return Report{}, fmt.Errorf("verify journal: %w", err)
	}
	var rep Report
	for _, e := range entries {
		base, ok := segmentBase(e.Name())
		if !ok || !e.Type().IsRegular() {
			rep.add(Problem{Fault: FaultStray, File: e.Name()})
			continue
		}
		j.segments = append(j.segments, base) // the names sort as the numbers do
	}
	for i, base := range j.segments {
		v := verifier{j: j, rep: &rep, base: base, file: segmentName(base), last: i == len(j.segments)-1, limit: math.MaxUint64}
		if !v.last {
			v.limit = j.segments[i+1]
		}
		if err := v.segment(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return rep, fmt.Errorf("verify journal segment %s: %w", v.file, err)
		}
	}
	if len(j.segments) > 0 {
		rep.Start = j.segments[0]
	}
	return rep, nil
}

// verifier checks one segment.
type verifier struct {
	j     *Journal
	rep   *Report
	base  uint64
	file  string
	last  bool   // the segment is the last one
	limit uint64 // offset of the next segment

	end         uint64 // offset after the last record
	lastUnknown bool   // the last record is of an unknown kind and may have moved the offset
}

func (v *verifier) segment() error {
	f, size, err := v.j.openSegment(v.base)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // was only read
	v.rep.Segments++
	v.rep.Bytes += size
	v.end, v.rep.End = v.base, max(v.rep.End, v.base)
	s := scanner{window: window{file: f, limit: size, ahead: readSize}}
	defer s.free()
	intact, err := s.readHeader(v.base)
	switch {
	case errors.Is(err, ErrNewer):
		v.rep.add(Problem{Fault: FaultNewer, File: v.file})
		return nil
	case err != nil:
		return err
	case !intact:
		v.rep.add(Problem{Fault: FaultHeader, File: v.file, Bytes: min(size, headerSize)})
	}
	if err := v.records(&s); err != nil {
		return err
	}
	if !v.last && v.end < v.limit {
		v.problem(FaultMissing, size, 0, v.end, v.limit)
	}
	v.rep.End = max(v.rep.End, v.end)
	return nil
}

func (v *verifier) problem(f Fault, pos, bytes int64, from, to uint64) {
	v.rep.add(Problem{f, v.file, pos, bytes, from, to})
}

func (v *verifier) records(s *scanner) error {
	for {
		pos := s.next
		f, skipped, err := s.record(s.limit)
		if errors.Is(err, io.EOF) {
			if v.last && skipped > 0 {
				v.problem(FaultTail, pos, skipped, 0, 0)
			} else if skipped > 0 {
				v.problem(FaultRecord, pos, skipped, v.end, v.limit)
				v.end = v.limit
			}
			return nil
		}
		if err != nil {
			return err
		}
		if skipped > 0 {
			v.problem(FaultRecord, pos, skipped, v.end, f.offset)
			v.end = max(v.end, f.offset)
		}
		v.frame(&f)
	}
}

// frame checks a record of the file.
func (v *verifier) frame(f *raw) {
	if f.kind != kindBlock {
		v.record(f, f.size())
		return
	}
	b, err := unpack(f)
	if err != nil {
		v.problem(FaultBlock, f.pos, f.size(), f.offset, f.offset+f.span())
		v.end = max(v.end, f.offset+f.span())
		return
	}
	defer b.free()
	for i := range b.records {
		v.record(&b.records[i], f.size())
	}
}

// record checks the offset of a record.
func (v *verifier) record(r *raw, bytes int64) {
	v.rep.Records++
	end := r.offset + r.span()
	switch {
	case r.offset < v.end:
		v.problem(FaultOverlap, r.pos, bytes, r.offset, min(end, v.end))
	case end > v.limit:
		v.problem(FaultOverlap, r.pos, bytes, v.limit, end)
		return
	case r.offset > v.end && !v.lastUnknown:
		v.problem(FaultMissing, r.pos, 0, v.end, r.offset)
	case r.offset > v.end:
		v.rep.Gaps += r.offset - v.end
	}
	if r.kind == KindGap {
		v.rep.Gaps += r.span()
	}
	_, known := r.record()
	v.lastUnknown = !known
	v.end = max(v.end, end)
}
