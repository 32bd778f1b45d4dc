package checkpoint

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/store/atomicfile"
)

const (
	// SeriesName is the name of a series' folder in a session's directory.
	SeriesName = "checkpoints"

	seriesSuffix = ".ltc"

	// DefaultSpacing is the output, in bytes, that lies at most between two checkpoints
	// of a series: about what is replayed within a second.
	DefaultSpacing = 8 << 20
	// DefaultMaxBytes bounds a series on disk.
	DefaultMaxBytes = 64 << 20
	// denseBytes is the least output that Thin keeps between two checkpoints, right at
	// the end.
	denseBytes = 64 << 10
	// density is how the distance of two checkpoints grows with that to the end.
	density = 8
)

// ErrNone is returned when there is no checkpoint to begin with.
var ErrNone = errors.New("no checkpoint at or before this offset")

// Series is a row of checkpoints of past screens: to show the screen as it was at an
// offset, the nearest one before it is restored and the output from there is replayed.
// A file each, named after the offset in 20 decimal digits; the folder is all there is to
// it. Methods may not be called at the same time.
type Series struct {
	dir string
	opt SeriesOptions
}

// SeriesOptions bound a series. Zero means the default.
type SeriesOptions struct {
	Spacing  uint64 // DefaultSpacing
	MaxBytes int64  // DefaultMaxBytes
}

// Entry is what a listing tells of a checkpoint.
type Entry struct {
	Offset uint64
	Bytes  int64 // on disk
}

// NewSeries is the series in a session's directory. Nothing is made before the first Add.
func NewSeries(dir string, o SeriesOptions) *Series {
	o.Spacing = cmp.Or(o.Spacing, DefaultSpacing)
	o.MaxBytes = cmp.Or(o.MaxBytes, DefaultMaxBytes)
	return &Series{dir: filepath.Join(dir, SeriesName), opt: o}
}

func (s *Series) path(offset uint64) string {
	return filepath.Join(s.dir, fmt.Sprintf("%020d%s", offset, seriesSuffix))
}

// Add keeps c. One of the same offset is replaced. Like Write it does not sync: what a
// loss of power takes is only time.
func (s *Series) Add(c Checkpoint) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	if len(c.Snapshot) > maxScreen || len(c.Engine) > maxName {
		return fmt.Errorf("checkpoint of %d bytes by engine %.20q: too large for a series", len(c.Snapshot), c.Engine)
	}
	if err := atomicfile.Write(s.path(c.Offset), atomicfile.Options{}, EncodeCompressed(c)); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

// List is what there is, by offset.
func (s *Series) List() ([]Entry, error) {
	files, err := os.ReadDir(s.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list checkpoints: %w", err)
	}
	var all []Entry
	for _, f := range files {
		offset, ok := offsetOf(f.Name())
		if !ok {
			continue
		}
		info, err := f.Info()
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list checkpoints: %w", err)
		}
		all = append(all, Entry{Offset: offset, Bytes: info.Size()})
	}
	return all, nil // the names sort as the numbers do
}

func offsetOf(name string) (uint64, bool) {
	digits, ok := strings.CutSuffix(name, seriesSuffix)
	if !ok || len(digits) != 20 || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	offset, err := strconv.ParseUint(digits, 10, 64)
	return offset, err == nil
}

// TimeOf reads when the checkpoint at an offset was made, from its head alone.
func (s *Series) TimeOf(offset uint64) (time.Time, error) {
	f, err := os.Open(s.path(offset))
	if err != nil {
		return time.Time{}, fmt.Errorf("checkpoint: %w", err)
	}
	b := make([]byte, seriesHead)
	n, err := f.ReadAt(b, 0)
	if err = errors.Join(f.Close(), err); n < len(b) {
		return time.Time{}, fmt.Errorf("checkpoint at %d: %w: %w", offset, ErrInvalid, err)
	}
	h, err := decodeHead(b)
	if err == nil && h.offset != offset {
		err = ErrInvalid
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("checkpoint at %d: %w", offset, err)
	}
	return h.time, nil
}

// Nearest is the newest checkpoint at or before an offset that can be decoded; ErrNone
// when there is none.
func (s *Series) Nearest(offset uint64) (Checkpoint, error) {
	all, err := s.List()
	if err != nil {
		return Checkpoint{}, err
	}
	for _, e := range slices.Backward(all) {
		if e.Offset > offset || e.Bytes > 2*maxScreen {
			continue
		}
		b, err := os.ReadFile(s.path(e.Offset))
		if err != nil {
			continue // removed since, or not to be read: an older one serves
		}
		if c, err := DecodeCompressed(b); err == nil && c.Offset == e.Offset {
			return c, nil
		}
	}
	return Checkpoint{}, fmt.Errorf("%w: %d", ErrNone, offset)
}

// Thin removes what is closer together than it needs to be, seen from end, the offset
// after the last output. If the series is still too large all spacings are doubled until
// it is not.
func (s *Series) Thin(end uint64) error {
	all, err := s.List()
	if err != nil {
		return err
	}
	return s.remove(thin(all, end, s.opt))
}

// DropBefore removes the checkpoints before an offset: the output to replay after them
// is gone.
func (s *Series) DropBefore(offset uint64) error {
	all, err := s.List()
	if err != nil {
		return err
	}
	return s.remove(slices.DeleteFunc(all, func(e Entry) bool { return e.Offset >= offset }))
}

func (s *Series) remove(some []Entry) error {
	var err error
	for _, e := range some {
		if rerr := os.Remove(s.path(e.Offset)); !errors.Is(rerr, os.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	if err != nil {
		return fmt.Errorf("remove checkpoints: %w", err)
	}
	return nil
}

// thin chooses what to remove.
func thin(all []Entry, end uint64, o SeriesOptions) (gone []Entry) {
	kept := spaced(all, end, o.Spacing, 1)
	for wide := uint64(2); total(kept) > o.MaxBytes && len(kept) > 2; wide *= 2 {
		kept = spaced(all, end, o.Spacing, wide)
	}
	for total(kept) > o.MaxBytes && len(kept) > 1 {
		kept = kept[1:]
	}
	for _, e := range all {
		if !slices.Contains(kept, e) {
			gone = append(gone, e)
		}
	}
	return gone
}

func total(all []Entry) (bytes int64) {
	for _, e := range all {
		bytes += e.Bytes
	}
	return bytes
}

// spaced chooses what to keep: the first, the last, and of those between as few as leave
// no two neighbours further apart than an eighth of their distance to the end, or
// spacing, wide times that. So the count grows with the logarithm of the output at first
// and then by one for each spacing.
func spaced(all []Entry, end, spacing, wide uint64) (kept []Entry) {
	for _, e := range all {
		for n := len(kept); n >= 2 && near(kept[n-2].Offset, e.Offset, end, spacing, wide); n-- {
			kept = kept[:n-1]
		}
		kept = append(kept, e)
	}
	return kept
}

// near reports whether nothing is needed between two checkpoints.
func near(from, to, end, spacing, wide uint64) bool {
	apart := max((end-min(to, end))/density, denseBytes)
	return (to-from)/wide < min(apart, spacing)
}
