//go:build unix

package registry

import (
	"context"
	"slices"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/store"
)

// keptRunTime is how long the session of a failed or long `run` is kept, for users to read its output.
const keptRunTime = 24 * time.Hour

// maxKeptRuns bounds the number of kept sessions. A script may run a failing command in a loop.
const maxKeptRuns = 500

// KeepRun keeps the temporary session of a command that has ended for a day, and removes the oldest of these sessions if there
// are too many.
func (h *Registry) KeepRun(e *Handle) {
	h.Save(e, func(r *store.Session) {
		r.Temporary, r.Labels = false, mergeLabels(r.Labels, map[string]string{api.KeptRunLabel: api.KeptRun})
	})
	kept := slices.DeleteFunc(h.All(), func(e *Handle) bool { return !e.IsKeptRun() })
	for _, old := range kept[:max(0, len(kept)-maxKeptRuns)] {
		h.removeKeptRun(old)
	}
}

// IsKeptRun reports whether the session exists only for the output of an ended command.
func (e *Handle) IsKeptRun() bool { return e.Record().Labels[api.KeptRunLabel] != "" }

// removeKeptRun removes the kept session of a command, unless it has leftover processes.
func (h *Registry) removeKeptRun(e *Handle) {
	if e.Session.Status().State == session.Running || len(h.RecordLeftovers(e)) > 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := h.Remove(ctx, e, false); err != nil {
		h.log.Error("remove the session of a command that has ended", "session", e.ID(), "err", err)
	}
}

// freeName renames the session with a name if it is only kept for its output, so that a new session can have the name.
func (h *Registry) freeName(name string) {
	h.mu.RLock()
	e := h.byname[name]
	h.mu.RUnlock()
	if e == nil || !e.ready.Load() || !e.IsKeptRun() {
		return
	}
	other := name + "-" + api.ShortID(e.ID())
	if err := h.Edit(e, api.Edit{Name: &other}); err != nil {
		h.log.Warn("rename the session of a command that has ended", "session", e.ID(), "err", err)
	}
}
