package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// Repair rewrites the damaged segments of the journal in dir, which no process may have
// open: what cannot be read any more becomes gap records, what is claimed twice is kept
// once. It returns what Verify found before. Segments of which nothing can be read keep
// their bytes as *.damaged; of others the bytes that are no records are not kept: a process that
// wants to look at them copies the directory first. Strays stay.
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
		if err := j.mend(base); err != nil {
			return rep, errors.Join(fmt.Errorf("repair journal segment %s: %w", segmentName(base), err), j.Close())
		}
	}
	return rep, errors.Join(j.Sync(), j.Close())
}

// removeEmpty removes a last segment that was begun and not written. The next append
// would overwrite it.
func (j *Journal) removeEmpty(bad map[string]bool) error {
	name := segmentName(j.End())
	if !bad[name] || slices.Contains(j.bases(), j.End()) {
		return nil
	}
	if err := j.opt.FS.Remove(j.path(j.End())); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil // it was set aside
}

// mend rewrites a damaged segment.
func (j *Journal) mend(base uint64) error {
	f, size, err := j.openSegment(base)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // was only read
	ext, _ := j.extent(base, 0)
	if !ext.sealed {
		size = ext.size
	}
	w := walker{scanner: scanner{window: window{file: f, limit: size, ahead: chunk}}}
	defer w.free()
	if _, err = w.readHeader(base); errors.Is(err, ErrNewer) {
		return nil
	} else if err != nil {
		return err
	}
	c := compaction{j: j, base: base, last: !ext.sealed, w: &w, mend: &mending{end: base, limit: ext.end}}
	if w.header.id == 0 {
		if err := j.preserve(base); err != nil {
			return err
		}
	}
	return c.run(context.Background())
}

// preserve keeps the bytes of a segment that nothing can be read of.
func (j *Journal) preserve(base uint64) error {
	return j.opt.FS.Rename(j.path(base), j.path(base)+damaged)
}

// mending makes one row of offsets out of a damaged segment's records.
type mending struct {
	end, limit uint64 // offset after what was added; of the next segment, or the journal's end
	broken     bool   // bytes were passed over since
	strange    bool   // the record before is of an unknown kind
	created    int64
}

// fill adds what can be read, and gaps for what cannot.
func (m *mending) fill(w *walker, p *packer) error {
	for {
		r, skipped, err := w.step()
		m.broken = m.broken || skipped > 0
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
			err = p.adopt(w.dims)
		}
		if err = errors.Join(err, m.add(p, r)); err != nil {
			return err
		}
	}
}

func (m *mending) add(p *packer, r raw) error {
	if end := r.offset + r.span(); end > m.limit || end < m.end || end == m.end && r.span() > 0 {
		m.broken = true
		return nil
	}
	if r.offset < m.end {
		r = r.from(m.end)
	}
	if m.created == 0 {
		m.created = r.time
	}
	if r.offset > m.end && !m.strange || m.broken {
		if err := m.gap(p, r.offset); err != nil {
			return err
		}
	}
	_, known := r.record()
	m.end, m.strange = r.offset+r.span(), !known
	return p.add(&r)
}

// gap adds that nothing is kept before to, with no time.
func (m *mending) gap(p *packer, to uint64) error {
	r := raw{kind: KindGap, offset: m.end, payload: le.AppendUint64(nil, to-m.end)}
	m.end, m.broken, m.strange = to, false, false
	return p.add(&r)
}

// from cuts a record that stands for output to begin at off, which lies inside.
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
