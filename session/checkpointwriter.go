package session

import (
	"errors"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/longterm-dev/longterm/session/internal/history"
	"github.com/longterm-dev/longterm/store/atomicfile"
	"github.com/longterm-dev/longterm/store/checkpoint"
)

// diskWriter writes what a session keeps beside its journal, so that its owner waits for no disk. It
// has room for one checkpoint, one screen and one state of the environment besides what is being
// written; when the disk does not keep up the newer takes the place of the older, which was only to
// spare a replay. What goes with a checkpoint (files) is written before it, and goes over to the one
// that takes its place: a checkpoint never stands without it.
//
// The goroutine is there only while there is something to write.
type diskWriter struct {
	id, dir string
	log     *slog.Logger
	screens *history.Screens
	tasks   *sync.WaitGroup

	mu      sync.Mutex
	busy    bool
	failed  bool // a file that goes with a checkpoint was not written
	point   *keptPoint
	screen  *checkpoint.Checkpoint
	environ []byte
}

// keptPoint is a checkpoint that waits to be written.
type keptPoint struct {
	checkpoint.Checkpoint
	buf   *[]byte           // the snapshot's, of the pool
	files map[string][]byte // by their names in the session's directory
}

// keepPoint has a checkpoint written. It takes the snapshot's buffer.
func (w *diskWriter) keepPoint(p *keptPoint) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if old := w.point; old != nil {
		for name, b := range old.files {
			if _, newer := p.files[name]; !newer {
				p.files[name] = b
			}
		}
		snapshots.give(old.buf)
	}
	w.point = p
	w.startLocked()
}

// keepScreen has a screen added to the series.
func (w *diskWriter) keepScreen(c *checkpoint.Checkpoint) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.screen = c
	w.startLocked()
}

// keepEnviron has what changed in the environment written.
func (w *diskWriter) keepEnviron(b []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.environ = b
	w.startLocked()
}

// lost says, once, that files of a checkpoint were not written: the next one takes them all.
func (w *diskWriter) lost() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	failed := w.failed
	w.failed = false
	return failed
}

func (w *diskWriter) startLocked() {
	if !w.busy {
		w.busy = true
		w.tasks.Go(w.run)
	}
}

func (w *diskWriter) run() {
	for {
		w.mu.Lock()
		point, screen, environ := w.point, w.screen, w.environ
		w.point, w.screen, w.environ = nil, nil, nil
		w.busy = point != nil || screen != nil || environ != nil
		if !w.busy {
			w.mu.Unlock()
			return
		}
		w.mu.Unlock()
		if environ != nil {
			w.writeEnviron(environ)
		}
		if point != nil {
			w.writePoint(point)
		}
		if screen != nil {
			w.writeScreen(screen)
		}
	}
}

// writePoint leaves the older checkpoint where a file that goes with the new one cannot be written.
// None of it is synced: what a loss of power takes is only time.
func (w *diskWriter) writePoint(p *keptPoint) {
	defer snapshots.give(p.buf)
	var err error
	for name, b := range p.files {
		err = errors.Join(err, atomicfile.Write(filepath.Join(w.dir, name), atomicfile.Options{}, b))
	}
	if err == nil {
		err = checkpoint.Write(w.dir, p.Checkpoint)
	} else {
		w.mu.Lock()
		w.failed = true
		w.mu.Unlock()
	}
	if err != nil {
		w.log.Warn("checkpoint", "session", w.id, "err", err)
	}
}

func (w *diskWriter) writeScreen(c *checkpoint.Checkpoint) {
	if err := w.screens.Keep(*c); err != nil {
		w.log.Warn("keep a screen of the series", "session", w.id, "err", err)
	}
}

// writeEnviron is not synced: it changes with many a command.
func (w *diskWriter) writeEnviron(b []byte) {
	if err := atomicfile.Write(filepath.Join(w.dir, changedFile), atomicfile.Options{}, b); err != nil {
		w.log.Warn("write down what changed in the environment", "session", w.id, "err", err)
	}
}
