package history

import (
	"errors"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/store/checkpoint"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

const (
	// CheckpointBytes is the output after which a checkpoint is due, and a screen is kept.
	CheckpointBytes = 8 << 20
	// CheckpointQuiet is the pause in the output after which a checkpoint is due.
	CheckpointQuiet = 2 * time.Second
)

// Checkpoints decides when the next checkpoint is due. A snapshot includes the scrollback, so it can be much larger
// than the output since the last one. The bytes written stay in proportion to the output, and so does the output that a
// restart must replay.
type Checkpoints struct {
	at    uint64 // offset of the newest one
	size  uint64 // of the newest one, bytes
	timer *time.Timer
}

// Wrote notes the newest checkpoint.
func (c *Checkpoints) Wrote(at, size uint64) { c.at, c.size = at, size }

// Size returns the size of the newest checkpoint.
func (c *Checkpoints) Size() uint64 { return c.size }

// Worth reports whether enough output came since the newest checkpoint to justify a new one: a sixteenth of its size
// after a pause, or twice its size in a flood, which is replayed within 0.1 s.
func (c *Checkpoints) Worth(off uint64, flood bool) bool {
	grown := off - c.at
	if flood {
		return grown >= max(CheckpointBytes, 2*c.size)
	}
	return grown > 0 && grown >= c.size/16
}

// Grew sets the clock after output up to an offset.
func (c *Checkpoints) Grew(off uint64) {
	wait := CheckpointQuiet
	switch {
	case c.Worth(off, true):
		wait = 0
	case !c.Worth(off, false):
		return
	}
	if c.timer == nil {
		c.timer = time.NewTimer(wait)
	} else {
		c.timer.Reset(wait)
	}
}

// C fires when a checkpoint is due; call Stop then.
func (c *Checkpoints) C() <-chan time.Time {
	if c.timer == nil {
		return nil
	}
	return c.timer.C
}

// Stop makes no checkpoint due until there is more output.
func (c *Checkpoints) Stop() { c.timer = nil }

// Screens saves the screen, without scrollback, at intervals: time travel starts from them.
type Screens struct {
	mu     sync.Mutex // readers are on other goroutines
	series *checkpoint.Series
	at     uint64 // offset of the newest one; the owner's
}

// NewScreens returns the series of screens in a session's directory.
func NewScreens(dir string) *Screens {
	return &Screens{series: checkpoint.NewSeries(dir, checkpoint.SeriesOptions{})}
}

// Due reports whether enough output came since the newest screen.
func (sc *Screens) Due(off uint64) bool { return off-sc.at >= CheckpointBytes }

// MarkTaken notes that a screen was taken, which Keep is about to add.
func (sc *Screens) MarkTaken(off uint64) { sc.at = off }

// Keep adds a screen, on any goroutine.
func (sc *Screens) Keep(c checkpoint.Checkpoint) error {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	return errors.Join(sc.series.Add(c), sc.series.Thin(c.Offset))
}

// DropBefore drops the screens of removed output.
func (sc *Screens) DropBefore(off uint64) error {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	return sc.series.DropBefore(off)
}

func (sc *Screens) nearest(until uint64) (checkpoint.Checkpoint, error) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	return sc.series.Nearest(until)
}

// Past restores emulators to earlier states.
type Past struct {
	Journal *journal.Journal
	Dir     string // directory of checkpoint and screens, or ""
	Engine  string // name of the emulator
	Screens *Screens
	// Unused receives the reason why a checkpoint is not used: it belongs to another emulator or journal, or cannot be
	// read, for example as it does not exist.
	Unused func(engine string, err error)

	seen time.Time // when what was restored was taken
}

// Restore loads the newest checkpoint that is not after until, and returns the offset
// to replay from and the checkpoint's size in bytes.
func (p *Past) Restore(engine vterm.Engine, until uint64) (from, size uint64) {
	start := p.Journal.Start()
	p.seen = time.Time{}
	if p.Dir == "" {
		return start, 0
	}
	c, err := checkpoint.Read(p.Dir)
	switch {
	case err != nil, c.Engine != p.Engine, c.Offset > p.Journal.End():
		p.Unused(c.Engine, err)
		return start, 0
	case c.Offset > until:
		return start, 0
	}
	if err := engine.Restore(c.Snapshot); err != nil {
		p.Unused(c.Engine, err)
		return start, 0
	}
	p.seen = c.Time
	return c.Offset, uint64(len(c.Snapshot))
}

// nearestScreen returns the nearest saved screen after have and not after until. It has no scrollback, so a full
// checkpoint nearby is preferable.
func (p *Past) nearestScreen(until, have uint64) (c checkpoint.Checkpoint, ok bool) {
	if p.Dir == "" {
		return c, false
	}
	c, err := p.Screens.nearest(until)
	return c, err == nil && c.Engine == p.Engine && c.Offset > have && c.Offset >= p.Journal.Start()
}
