package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// Repair rewrites the damaged segments of the journal in dir, which no process may have open. Unreadable output becomes
// gap records; of overlapping records one is kept. Repair returns what Verify found before. Unreadable segments are
// kept as *.damaged. Invalid bytes inside other segments are dropped: copy the directory first to examine them. Strays
// stay.
func Repair(dir string) (Report, error) { return repair(dir, Options{}) }

func repair(dir string, o Options) (Report, error) {
	o = o.withDefaults()
	rep, err := verify(o.FS, dir)
	if err != nil {
		return rep, err
	}
	bad := map[string]bool{}
	for _, p := range rep.Problems {
		bad[p.File] = p.Fault != FaultStray && p.Fault != FaultNewer || bad[p.File]
	}
	j, _, err := Open(dir, o) // cuts off an incomplete end
	if err != nil {
		return rep, err
	}
	if err := j.removeEmpty(bad); err != nil {
		return rep, errors.Join(fmt.Errorf("repair journal: %w", err), j.Close())
	}
	for _, base := range j.bases() {
		if !bad[segmentName(base)] && rep.More == 0 {
			continue
		}
		if err := j.repairSegment(base); err != nil {
			return rep, errors.Join(fmt.Errorf("repair journal segment %s: %w", segmentName(base), err), j.Close())
		}
	}
	return rep, errors.Join(j.Sync(), j.Close())
}

// removeEmpty removes a last segment that was created but not written. The next append would overwrite it.
func (j *Journal) removeEmpty(bad map[string]bool) error {
	name := segmentName(j.End())
	if !bad[name] || slices.Contains(j.bases(), j.End()) {
		return nil
	}
	if err := j.opt.FS.Remove(j.path(j.End())); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil // already quarantined
}

// repairSegment rewrites a damaged segment.
func (j *Journal) repairSegment(base uint64) error {
	f, size, err := j.openSegment(base)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // was only read
	ext, _ := j.extent(base, 0)
	if !ext.sealed {
		size = ext.size
	}
	w := walker{scanner: scanner{window: window{file: f, limit: size, ahead: readSize}}}
	defer w.free()
	if _, err = w.readHeader(base); errors.Is(err, ErrNewer) {
		return nil
	} else if err != nil {
		return err
	}
	c := compaction{j: j, base: base, last: !ext.sealed, w: &w, repairer: &repairer{end: base, limit: ext.end}}
	if w.header.id == 0 {
		if err := j.renameDamaged(base); err != nil {
			return err
		}
	}
	return c.run(context.Background())
}

// renameDamaged renames a segment that cannot be read at all.
func (j *Journal) renameDamaged(base uint64) error {
	return j.opt.FS.Rename(j.path(base), j.path(base)+damagedSuffix)
}

// repairer turns a damaged segment's records into one sequence of offsets.
type repairer struct {
	end, limit  uint64 // offset after the last added record; offset of the next segment, or of the journal's end
	skipped     bool   // bytes were skipped since
	lastUnknown bool   // the previous record is of an unknown kind
	created     int64
}

// fill adds the readable records, and gaps for the rest.
func (m *repairer) fill(w *walker, p *packer) error {
	for {
		r, skipped, err := w.step()
		m.skipped = m.skipped || skipped > 0
		if errors.Is(err, io.EOF) {
			if m.end < m.limit {
				return m.gap(p, m.limit)
			}
			return nil
		}
		if err != nil {
			return err
		}
		if w.block != nil && r.index == 0 {
			err = p.recordDims(w.dims)
		}
		if err = errors.Join(err, m.add(p, r)); err != nil {
			return err
		}
	}
}

func (m *repairer) add(p *packer, r raw) error {
	if end := r.offset + r.span(); end > m.limit || end < m.end || end == m.end && r.span() > 0 {
		m.skipped = true
		return nil
	}
	if r.offset < m.end {
		r = r.from(m.end)
	}
	if m.created == 0 {
		m.created = r.time
	}
	if r.offset > m.end && !m.lastUnknown || m.skipped {
		if err := m.gap(p, r.offset); err != nil {
			return err
		}
	}
	_, known := r.record()
	m.end, m.lastUnknown = r.offset+r.span(), !known
	return p.add(&r)
}

// gap adds a gap up to offset to, without a time.
func (m *repairer) gap(p *packer, to uint64) error {
	r := raw{kind: KindGap, offset: m.end, payload: le.AppendUint64(nil, to-m.end)}
	m.end, m.skipped, m.lastUnknown = to, false, false
	return p.add(&r)
}

// from cuts a record that stands for output to start at off, which lies inside.
func (r raw) from(off uint64) raw {
	n := off - r.offset
	r.offset = off
	if r.kind == KindGap {
		r.payload = le.AppendUint64(nil, r.span()-n)
	} else {
		r.payload = r.payload[n:]
	}
	return r
}
