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
	// CheckpointBytes is the output after which a checkpoint is due, and a screen is saved.
	CheckpointBytes = 8 << 20
	// CheckpointIdle is the pause in the output after which a checkpoint is due.
	CheckpointIdle = 2 * time.Second
)

// CheckpointSchedule decides when the next checkpoint is due. A snapshot includes the scrollback, so it can be much larger
// than the output since the last one. The bytes written stay in proportion to the output, and so does the output that a
// restart must replay.
type CheckpointSchedule struct {
	at    uint64 // offset of the newest one
	size  uint64 // of the newest one, bytes
	timer *time.Timer
}

// NoteWritten records the newest checkpoint.
func (c *CheckpointSchedule) NoteWritten(at, size uint64) { c.at, c.size = at, size }

// Size returns the size of the newest checkpoint.
func (c *CheckpointSchedule) Size() uint64 { return c.size }

// IsWorthwhile reports whether enough output came since the newest checkpoint to justify a new one: a sixteenth of its size
// after a pause, or twice its size in a flood, which is replayed within 0.1 s.
func (c *CheckpointSchedule) IsWorthwhile(off uint64, flood bool) bool {
	grown := off - c.at
	if flood {
		return grown >= max(CheckpointBytes, 2*c.size)
	}
	return grown > 0 && grown >= c.size/16
}

// NoteOutput sets the timer after output up to an offset.
func (c *CheckpointSchedule) NoteOutput(off uint64) {
	wait := CheckpointIdle
	switch {
	case c.IsWorthwhile(off, true):
		wait = 0
	case !c.IsWorthwhile(off, false):
		return
	}
	if c.timer == nil {
		c.timer = time.NewTimer(wait)
	} else {
		c.timer.Reset(wait)
	}
}

// C fires when a checkpoint is due; call Stop then.
func (c *CheckpointSchedule) C() <-chan time.Time {
	if c.timer == nil {
		return nil
	}
	return c.timer.C
}

// Stop stops the timer until there is more output.
func (c *CheckpointSchedule) Stop() { c.timer = nil }

// ScreenSeries saves the screen, without scrollback, at intervals: time travel starts from them.
type ScreenSeries struct {
	mu     sync.Mutex // readers are on other goroutines
	series *checkpoint.Series
	at     uint64 // offset of the newest one; only the owner uses it
}

// NewScreenSeries returns the series of screens in a session's directory.
func NewScreenSeries(dir string) *ScreenSeries {
	return &ScreenSeries{series: checkpoint.NewSeries(dir, checkpoint.SeriesOptions{})}
}

// IsDue reports whether enough output came since the newest screen.
func (sc *ScreenSeries) IsDue(off uint64) bool { return off-sc.at >= CheckpointBytes }

// NoteTaken records that a screen was taken, which Add will store.
func (sc *ScreenSeries) NoteTaken(off uint64) { sc.at = off }

// Add stores a screen. Any goroutine may call it.
func (sc *ScreenSeries) Add(c checkpoint.Checkpoint) error {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	return errors.Join(sc.series.Add(c), sc.series.Thin(c.Offset))
}

// DropBefore removes the screens of removed output.
func (sc *ScreenSeries) DropBefore(off uint64) error {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	return sc.series.DropBefore(off)
}

// nearest returns the newest screen at or before an offset.
func (sc *ScreenSeries) nearest(until uint64) (checkpoint.Checkpoint, error) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	return sc.series.Nearest(until)
}

// Replayer restores emulators to earlier states.
type Replayer struct {
	Journal *journal.Journal
	Dir     string // directory of checkpoint and screens, or ""
	Engine  string // name of the emulator
	Screens *ScreenSeries
	// OnUnusedCheckpoint receives the reason why a checkpoint is not used: it belongs to another emulator or journal,
	// or cannot be read, for example because it does not exist.
	OnUnusedCheckpoint func(engine string, err error)

	restoredTime time.Time // time of the checkpoint or screen that was restored
}

// Restore loads the newest checkpoint that is not after until, and returns the offset
// to replay from and the checkpoint's size in bytes.
func (p *Replayer) Restore(engine vterm.Engine, until uint64) (from, size uint64) {
	start := p.Journal.Start()
	p.restoredTime = time.Time{}
	if p.Dir == "" {
		return start, 0
	}
	c, err := checkpoint.Read(p.Dir)
	switch {
	case err != nil, c.Engine != p.Engine, c.Offset > p.Journal.End():
		p.OnUnusedCheckpoint(c.Engine, err)
		return start, 0
	case c.Offset > until:
		return start, 0
	}
	if err := engine.Restore(c.Snapshot); err != nil {
		p.OnUnusedCheckpoint(c.Engine, err)
		return start, 0
	}
	p.restoredTime = c.Time
	return c.Offset, uint64(len(c.Snapshot))
}

// nearestScreen returns the nearest saved screen after have and not after until. It has no scrollback, so a full
// checkpoint nearby is preferable.
func (p *Replayer) nearestScreen(until, have uint64) (c checkpoint.Checkpoint, ok bool) {
	if p.Dir == "" {
		return c, false
	}
	c, err := p.Screens.nearest(until)
	return c, err == nil && c.Engine == p.Engine && c.Offset > have && c.Offset >= p.Journal.Start()
}
