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

// diskWriter writes a session's checkpoints, screens and environment on a separate goroutine, so that the owner never
// waits for the disk. Its queue has room for one item of each. If the disk is slow, a newer item replaces the queued
// one; the older one would only have shortened a replay. The files that belong to a checkpoint are written before it.
// If a newer checkpoint replaces a queued one, it takes over those files, so a checkpoint never exists without them.
//
// The goroutine runs only while the queue is not empty.
type diskWriter struct {
	id, dir string
	log     *slog.Logger
	screens *history.ScreenSeries
	tasks   *sync.WaitGroup // running goroutines of the session that use the disk

	mu         sync.Mutex
	running    bool                   // the goroutine runs
	fileFailed bool                   // a file that goes with a checkpoint was not written
	checkpoint *pendingCheckpoint     // queued; nil: none
	screen     *checkpoint.Checkpoint // queued; nil: none
	environ    []byte                 // queued content of environFile; nil: none
}

// pendingCheckpoint is a checkpoint in the queue.
type pendingCheckpoint struct {
	checkpoint.Checkpoint
	buf   *[]byte           // from the pool snapshots
	files map[string][]byte // by their names in the session's directory
}

// saveCheckpoint queues a checkpoint. It takes over the snapshot's buffer.
func (w *diskWriter) saveCheckpoint(p *pendingCheckpoint) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if old := w.checkpoint; old != nil {
		for name, b := range old.files {
			if _, newer := p.files[name]; !newer {
				p.files[name] = b
			}
		}
		snapshots.put(old.buf)
	}
	w.checkpoint = p
	w.startLocked()
}

// saveScreen queues a screen for the series of screens.
func (w *diskWriter) saveScreen(c *checkpoint.Checkpoint) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.screen = c
	w.startLocked()
}

// saveEnviron queues the changes of the shell's environment.
func (w *diskWriter) saveEnviron(b []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.environ = b
	w.startLocked()
}

// reportWriteFailure reports whether a file of a checkpoint was not written since the last call. The next checkpoint
// then writes all of them.
func (w *diskWriter) reportWriteFailure() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	failed := w.fileFailed
	w.fileFailed = false
	return failed
}

// startLocked starts the goroutine if it is not running.
func (w *diskWriter) startLocked() {
	if !w.running {
		w.running = true
		w.tasks.Go(w.run)
	}
}

// run writes queued items until the queue is empty.
func (w *diskWriter) run() {
	for {
		w.mu.Lock()
		point, screen, environ := w.checkpoint, w.screen, w.environ
		w.checkpoint, w.screen, w.environ = nil, nil, nil
		w.running = point != nil || screen != nil || environ != nil
		if !w.running {
			w.mu.Unlock()
			return
		}
		w.mu.Unlock()
		if environ != nil {
			w.writeEnviron(environ)
		}
		if point != nil {
			w.writeCheckpoint(point)
		}
		if screen != nil {
			w.writeScreen(screen)
		}
	}
}

// writeCheckpoint keeps the older checkpoint if a file that belongs to the new one cannot be written. It syncs nothing: a
// power loss costs only the time of a longer replay.
func (w *diskWriter) writeCheckpoint(p *pendingCheckpoint) {
	defer snapshots.put(p.buf)
	var err error
	for name, b := range p.files {
		err = errors.Join(err, atomicfile.Write(filepath.Join(w.dir, name), atomicfile.Options{}, b))
	}
	if err == nil {
		err = checkpoint.Write(w.dir, p.Checkpoint)
	} else {
		w.mu.Lock()
		w.fileFailed = true
		w.mu.Unlock()
	}
	if err != nil {
		w.log.Warn("checkpoint", "session", w.id, "err", err)
	}
}

// writeScreen adds a screen to the series of screens.
func (w *diskWriter) writeScreen(c *checkpoint.Checkpoint) {
	if err := w.screens.Add(*c); err != nil {
		w.log.Warn("keep a screen of the series", "session", w.id, "err", err)
	}
}

// writeEnviron does not sync the file, which changes with many commands.
func (w *diskWriter) writeEnviron(b []byte) {
	if err := atomicfile.Write(filepath.Join(w.dir, environFile), atomicfile.Options{}, b); err != nil {
		w.log.Warn("write down what changed in the environment", "session", w.id, "err", err)
	}
}
