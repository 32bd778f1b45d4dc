package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

const (
	// tempSuffix is the suffix of a segment that is being written to replace another segment.
	tempSuffix = suffix + ".new"
	// minUncompacted is how much must be appended to the last segment before it is compacted again.
	minUncompacted = 16 << 10
	// compactRounds limits how often compaction catches up with appends to the last segment.
	compactRounds = 4
)

// Compaction reports what Compact did.
type Compaction struct {
	Segments      int   // number of rewritten segments
	Before, After int64 // their size in bytes before and after
	// Damaged counts damaged segments, which stay unchanged for Repair.
	Damaged int
}

// Compact rewrites segments into dense blocks; a build log shrinks to a tenth. Readers see the same records at the same
// offsets before, during and after. Appends and readers continue, and a crash leaves either version of a segment. The
// last segment is rewritten too if it has grown enough and is idle; appends to it continue. Compact may be called after
// Close while no other process has the journal open.
func (j *Journal) Compact(ctx context.Context) (Compaction, error) {
	j.compacting.Lock()
	defer j.compacting.Unlock()
	var all Compaction
	for _, base := range j.bases() {
		if err := ctx.Err(); err != nil {
			return all, err
		}
		err := j.compact(ctx, base, &all)
		switch {
		case errors.Is(err, errDamaged):
			all.Damaged++
		case errors.Is(err, errBusy), errors.Is(err, os.ErrNotExist), errors.Is(err, ErrNewer):
		case err != nil:
			return all, fmt.Errorf("compact journal segment %s: %w", segmentName(base), err)
		}
	}
	return all, nil
}

var (
	errDamaged = errors.New("damaged segment")
	errBusy    = errors.New("the segment is being appended to")
)

// compact rewrites one segment if that saves enough space.
func (j *Journal) compact(ctx context.Context, base uint64, all *Compaction) error {
	tailSize, last := j.tailSize(base) // asked first: once it is sealed its file has all of it
	f, size, err := j.openSegment(base)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // what is needed of it is synced
	if last {
		size = tailSize
	}
	w := walker{scanner: scanner{window: window{file: f, limit: size, ahead: readSize}}}
	defer w.free()
	intact, err := w.readHeader(base)
	if err != nil {
		return err
	}
	if !intact {
		return errDamaged
	}
	if !worthCompacting(size, int64(w.header.dense), last) {
		return nil
	}
	c := compaction{j: j, base: base, last: last, w: &w}
	if err := c.run(ctx); err != nil {
		return err
	}
	all.Segments++
	all.Before += w.limit
	all.After += c.size
	return nil
}

// worthCompacting reports whether rewriting a segment saves enough space.
func worthCompacting(size, dense int64, last bool) bool {
	loose := size - dense
	if last {
		return loose >= minUncompacted && loose >= size/4
	}
	return loose > size/16
}

// tailSize returns how much of the tail segment exists, and whether base is that segment.
func (j *Journal) tailSize(base uint64) (size int64, last bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.size, j.size > 0 && j.segments[len(j.segments)-1] == base
}

// compaction is the rewriting of one segment.
type compaction struct {
	j        *Journal
	base     uint64
	last     bool // it was the last segment at the start
	w        *walker
	head     header    // header of the new version
	size     int64     // size of the new version
	repairer *repairer // repairs the segment; nil: the segment is intact
}

// run writes the new version of the segment next to the old one, and then replaces the old one.
func (c *compaction) run(ctx context.Context) error {
	fsys, name := c.j.opt.FS, c.j.path(c.base)
	temp := strings.TrimSuffix(name, suffix) + tempSuffix
	f, err := fsys.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	err = errors.Join(c.write(ctx, f), f.Close())
	switch {
	case err != nil:
	case c.last:
		err = c.replaceTail(temp, name)
	default:
		err = c.replace(temp, name)
	}
	if err != nil {
		_ = fsys.Remove(temp) // if it stays, the next Open removes it
	}
	return err
}

// write writes the new version and catches up with concurrent appends.
func (c *compaction) write(ctx context.Context, f File) error {
	dims, err := c.dims()
	if err != nil {
		return err
	}
	c.head = header{
		version: version, length: headerSize, base: c.base, created: c.w.header.created, id: c.j.newID(), dims: dims,
	}
	p := newPacker(f, c.head)
	for range compactRounds {
		if err := c.fill(ctx, p); err != nil {
			return err
		}
		if err := c.seal(p); err != nil {
			return err
		}
		size, last := c.j.tailSize(c.base)
		if !c.last || last && size == c.w.limit {
			c.size = p.size
			return nil
		}
		if !last { // a newer segment exists: leave the rest to the next run
			break
		}
		c.w.limit = size
	}
	return errBusy
}

// dims returns the terminal's size before the segment.
func (c *compaction) dims() (dims, error) {
	if c.w.header.dims.known() || c.base == 0 {
		return c.w.header.dims, nil
	}
	return c.j.dimsAt(c.base, c.base)
}

// fill adds the segment's records from the walker's position on.
func (c *compaction) fill(ctx context.Context, p *packer) error {
	if c.repairer != nil {
		err := c.repairer.fill(c.w, p)
		c.head.created = cmp.Or(c.head.created, c.repairer.created)
		return err
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		f, skipped, err := c.w.scanner.record(c.w.limit)
		if skipped > 0 {
			return errDamaged
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := p.put(&f); err != nil {
			return err
		}
	}
}

// put adds a record, or all records of a block.
func (p *packer) put(f *raw) error {
	if f.kind != kindBlock {
		return p.add(f)
	}
	m, _ := decodeBlockMeta(f.payload)
	if err := p.recordDims(m.dims); err != nil {
		return err
	}
	if kept, err := p.addDense(f); kept || err != nil {
		return err
	}
	b, err := unpack(f)
	if err != nil {
		return errDamaged
	}
	defer b.free()
	for i := range b.records {
		if err := p.add(&b.records[i]); err != nil {
			return err
		}
	}
	return nil
}

// seal completes the new version and its header. It syncs both versions, because a sync of the journal may reach either
// during the exchange.
func (c *compaction) seal(p *packer) error {
	if err := p.finish(c.head); err != nil {
		return err
	}
	err := syncPath(c.j.opt.FS, c.j.path(c.base), os.O_RDWR)
	if errors.Is(err, os.ErrNotExist) { // retired
		return nil
	}
	return err
}

// replace renames the new version over the old one, unless the segment was retired. It holds names, on which a reader
// waits if it finds the new file too early.
func (c *compaction) replace(temp, name string) error {
	j := c.j
	j.filesMu.Lock()
	defer j.filesMu.Unlock()
	if !slices.Contains(j.bases(), c.base) {
		return os.ErrNotExist
	}
	if err := j.opt.FS.Rename(temp, name); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if c.last {
		j.size, j.id = c.size, c.head.id
	}
	j.sealedBytesKnown = false
	j.markUnsyncedLocked(0, true, j.opt.Now())
	return nil
}

// replaceTail does the same for the tail segment, unless it was appended to.
func (c *compaction) replaceTail(temp, name string) error {
	t := &c.j.tail
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.base != c.base || t.size != c.w.limit {
		return errBusy
	}
	c.j.shutLocked()
	if err := c.replace(temp, name); err != nil {
		return err
	}
	t.header, t.size, t.untrimmed = c.head, c.size, false
	return nil
}
