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
	// unfinished ends the name of a segment that is being written to replace another.
	unfinished = suffix + ".new"
	// looseBytes is what has to be appended to the last segment before it is compacted
	// (again).
	looseBytes = 16 << 10
	// compactRounds bounds how often compaction catches up with a last segment that
	// goes on being appended to.
	compactRounds = 4
)

// Compaction says what Compact did.
type Compaction struct {
	Segments      int   // rewritten
	Before, After int64 // bytes of those
	// Damaged segments stay as they are; Repair is for them.
	Damaged int
}

// Compact rewrites segments into dense blocks; of a build's log a tenth stays.
// Readers see the same records at the same offsets before, while and after. It is for
// the background: appends and readers go on, and a crash at any instant leaves either
// version of a segment. The last segment is rewritten as well if it has grown enough to
// be worth it and rests; it goes on being appended to. Compact may be called after
// Close, as long as no other process opened the journal.
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

// compact rewrites one segment, if that is worth it.
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
	w := walker{scanner: scanner{window: window{file: f, limit: size, ahead: chunk}}}
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

func worthCompacting(size, dense int64, last bool) bool {
	loose := size - dense
	if last {
		return loose >= looseBytes && loose >= size/4
	}
	return loose > size/16
}

// tailSize tells whether a segment is the one appended to, and how much of it is there.
func (j *Journal) tailSize(base uint64) (size int64, last bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.size, j.size > 0 && j.segments[len(j.segments)-1] == base
}

// compaction is the rewriting of a segment.
type compaction struct {
	j    *Journal
	base uint64
	last bool // it was the last one at the beginning
	w    *walker
	head header   // of the new version
	size int64    // of it
	mend *mending // nil: the segment is whole
}

// run writes the new version beside the old one and puts it in its place.
func (c *compaction) run(ctx context.Context) error {
	fsys, name := c.j.opt.FS, c.j.path(c.base)
	temp := strings.TrimSuffix(name, suffix) + unfinished
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

// write writes the new version and catches up with what is appended meanwhile.
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
		if !last { // the next one was begun: another time
			break
		}
		c.w.limit = size
	}
	return errBusy
}

// dims is the terminal's size before the segment.
func (c *compaction) dims() (dims, error) {
	if c.w.header.dims.known() || c.base == 0 {
		return c.w.header.dims, nil
	}
	return c.j.dimsAt(c.base, c.base)
}

// fill adds the segment's records from where the walker is.
func (c *compaction) fill(ctx context.Context, p *packer) error {
	if c.mend != nil {
		err := c.mend.fill(c.w, p)
		c.head.created = cmp.Or(c.head.created, c.mend.created)
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

// put adds a record, or those in a block.
func (p *packer) put(f *raw) error {
	if f.kind != kindBlock {
		return p.add(f)
	}
	m, _ := decodeBlockMeta(f.payload)
	if err := p.adopt(m.dims); err != nil {
		return err
	}
	if kept, err := p.keep(f); kept || err != nil {
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

// seal ends the new version, with the header that says so. Both versions are synced:
// a sync of the journal may go to either while they are exchanged.
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

// replace puts the new version in the old one's place, unless the segment was retired. A
// reader that finds the new file before it is told so waits for names.
func (c *compaction) replace(temp, name string) error {
	j := c.j
	j.names.Lock()
	defer j.names.Unlock()
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
	j.othersKnown = false
	j.markUnsyncedLocked(0, true, j.opt.Now())
	return nil
}

// replaceTail does so with the segment appended to, unless that went on.
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
