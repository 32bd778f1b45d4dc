package drafts

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/draft"
)

// undoBytes bounds the versions of files that a draft keeps for undo, in bytes.
const undoBytes = 256 << 20

// maxPending bounds the commands of a session whose changes are not recorded yet. Changes of commands beyond it count as
// changes of the last one.
const maxPending = 64

// Recorder records which files of a draft changed during a command. A scan takes time in proportion to the changes, so it runs in
// the background, one for each session. Files that change before it starts count as changed during that command.
type Recorder struct {
	mu      sync.Mutex
	pending map[string][]int // commands that have ended, by session; present while a goroutine records them
}

// CommandEnded records the changes of a session's command, if the session has a draft, and counts them.
func (r *Recorder) CommandEnded(d Drafts, log *slog.Logger, session string, command int, counts *Counter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	list, busy := r.pending[session]
	if len(list) == maxPending {
		list = list[:maxPending-1]
	}
	if r.pending == nil {
		r.pending = map[string][]int{}
	}
	r.pending[session] = append(list, command)
	if !busy {
		go r.record(d, log, session, counts)
	}
}

// record records the pending commands of a session.
func (r *Recorder) record(d Drafts, log *slog.Logger, session string, counts *Counter) {
	for {
		r.mu.Lock()
		list := r.pending[session]
		if len(list) == 0 {
			delete(r.pending, session)
			r.mu.Unlock()
			counts.Invalidate(session)
			if d.Has(session) {
				counts.Refresh(session, true, time.Now())
			}
			return
		}
		r.pending[session] = list[1:]
		r.mu.Unlock()
		if err := d.save(session, list[0]); err != nil {
			log.Warn("record what a command changed in a draft", "session", session, "command", list[0], "err", err)
		}
	}
}

// save records the changes of a command.
func (d Drafts) save(session string, command int) error {
	if !d.Has(session) {
		return nil
	}
	found, err := draft.Open(d.Path(session))
	if err != nil {
		return err
	}
	_, err = found.SaveVersions(context.Background(), command, undoBytes)
	return err
}
