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
	// SeriesName is the name of a series' directory in a session's directory.
	SeriesName = "checkpoints"

	seriesSuffix = ".ltc"

	// DefaultSpacing is the largest amount of output between two checkpoints of a series, in bytes: about what is
	// replayed within a second.
	DefaultSpacing = 8 << 20
	// DefaultMaxBytes limits the size of a series on disk.
	DefaultMaxBytes = 64 << 20
	// denseBytes is the smallest amount of output that Thin leaves between two checkpoints at the end.
	denseBytes = 64 << 10
	// density is the factor by which Thin's spacing may be smaller than the distance to the end.
	density = 8
)

// ErrNone is returned if no checkpoint precedes the offset.
var ErrNone = errors.New("no checkpoint at or before this offset")

// Series is a sequence of checkpoints of past screens. To show the screen at an offset, the nearest earlier checkpoint
// is restored and the output from there is replayed. Each is a file named after its offset in 20 decimal digits, and no
// other state exists. Methods must not be called concurrently.
type Series struct {
	dir string
	opt SeriesOptions
}

// SeriesOptions limit a series. Zero means the default.
type SeriesOptions struct {
	Spacing  uint64 // largest output between checkpoints, in bytes; 0: DefaultSpacing
	MaxBytes int64  // limit on disk; 0: DefaultMaxBytes
}

// Entry describes a checkpoint in a listing.
type Entry struct {
	Offset uint64
	Bytes  int64 // on disk
}

// NewSeries returns the series in a session's directory. Add creates its files.
func NewSeries(dir string, o SeriesOptions) *Series {
	o.Spacing = cmp.Or(o.Spacing, DefaultSpacing)
	o.MaxBytes = cmp.Or(o.MaxBytes, DefaultMaxBytes)
	return &Series{dir: filepath.Join(dir, SeriesName), opt: o}
}

func (s *Series) path(offset uint64) string {
	return filepath.Join(s.dir, fmt.Sprintf("%020d%s", offset, seriesSuffix))
}

// Add stores c, replacing a checkpoint at the same offset. It does not sync: a loss of power only costs replay time.
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

// List returns all checkpoints, by offset.
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

// TimeOf returns the creation time of the checkpoint at an offset. It reads only the head.
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

// Nearest returns the newest decodable checkpoint at or before an offset, or ErrNone.
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

// DropBefore removes the checkpoints before an offset, where retention removed the output that would be replayed.
func (s *Series) DropBefore(offset uint64) error {
	all, err := s.List()
	if err != nil {
		return err
	}
	return s.remove(slices.DeleteFunc(all, func(e Entry) bool { return e.Offset >= offset }))
}

func (s *Series) remove(entries []Entry) error {
	var err error
	for _, e := range entries {
		if rerr := os.Remove(s.path(e.Offset)); !errors.Is(rerr, os.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	if err != nil {
		return fmt.Errorf("remove checkpoints: %w", err)
	}
	return nil
}

// thin returns the checkpoints to remove.
func thin(all []Entry, end uint64, o SeriesOptions) (removed []Entry) {
	kept := thinOut(all, end, o.Spacing, 1)
	for wide := uint64(2); total(kept) > o.MaxBytes && len(kept) > 2; wide *= 2 {
		kept = thinOut(all, end, o.Spacing, wide)
	}
	for total(kept) > o.MaxBytes && len(kept) > 1 {
		kept = kept[1:]
	}
	for _, e := range all {
		if !slices.Contains(kept, e) {
			removed = append(removed, e)
		}
	}
	return removed
}

// total returns the size of the checkpoints on disk.
func total(all []Entry) (bytes int64) {
	for _, e := range all {
		bytes += e.Bytes
	}
	return bytes
}

// thinOut returns the checkpoints to keep: the first, the last, and as few as possible between them. Neighbours are at most
// factor times as far apart as a limit. That is an eighth of their distance to the end, at least denseBytes and at most
// spacing. So at first the count grows with the logarithm of the output, and then by one for each spacing.
func thinOut(all []Entry, end, spacing, factor uint64) (kept []Entry) {
	for _, e := range all {
		for n := len(kept); n >= 2 && isNear(kept[n-2].Offset, e.Offset, end, spacing, factor); n-- {
			kept = kept[:n-1]
		}
		kept = append(kept, e)
	}
	return kept
}

// isNear reports whether two checkpoints are close enough that none between them is needed.
func isNear(from, to, end, spacing, factor uint64) bool {
	apart := max((end-min(to, end))/density, denseBytes)
	return (to-from)/factor < min(apart, spacing)
}
