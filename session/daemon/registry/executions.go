//go:build unix

package registry

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/executions"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/store/atomicfile"
)

// executionsFile, in a session's directory, records whether its executions are checked and the last refusals. The audit
// trail has all of them.
const executionsFile = "executions.json"

// maxRefusals bounds the refusals that are shown with a session.
const maxRefusals = 20

// execRecord is the state of a session's execution checks.
type execRecord struct {
	mu      sync.Mutex
	loaded  bool // from the file
	writing bool
	file    struct {
		State        string        `json:"state"`
		Count        int           `json:"count,omitempty"`
		Refused      []api.Refused `json:"refused,omitempty"`
		Unprivileged []string      `json:"unprivileged,omitempty"`
		Agent        string        `json:"agent,omitempty"` // the first agent that typed into a user's session
	}
	home string
}

// recordChecked records, for a process that was just started, whether its executions are checked. again means that the
// session had a process before.
func (h *Registry) recordChecked(e *Handle, state string, again bool) {
	x := &e.execs
	x.mu.Lock()
	defer x.mu.Unlock()
	x.loaded = true
	x.file.State = state
	if state == "" && x.file.Agent == "" {
		if !again {
			return
		}
		if err := os.Remove(h.executionsPath(e)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			h.log.Warn("executions of a session", "session", e.rec.ID, "err", err)
		}
		return
	}
	h.saveExecutions(e)
}

// executionsPath returns the path of executionsFile.
func (h *Registry) executionsPath(e *Handle) string {
	return filepath.Join(h.dirs.Session(e.rec.ID), executionsFile)
}

// lockExecutions locks the record and reads its file at first use.
func (h *Registry) lockExecutions(e *Handle) *execRecord {
	x := &e.execs
	x.mu.Lock()
	if x.loaded || !e.ready.Load() {
		return x
	}
	x.loaded = true
	early := x.file // refused before it was read
	b, err := os.ReadFile(h.executionsPath(e))
	if err == nil {
		x.file.Refused = nil
		err = json.Unmarshal(b, &x.file)
		x.file.Count += early.Count
		x.file.Refused = append(x.file.Refused, early.Refused...)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.log.Warn("executions of a session", "session", e.rec.ID, "err", err)
		x.file.State = "not judged: it is not known whether they are (" + executionsFile + " cannot be read)"
	}
	return x
}

// saveExecutions schedules a write of the file. The caller holds the lock.
func (h *Registry) saveExecutions(e *Handle) {
	x := &e.execs
	if x.writing {
		return
	}
	x.writing = true
	h.writes.Go(func() {
		e.dirMu.Lock()
		defer e.dirMu.Unlock()
		x.mu.Lock()
		x.writing = false
		b, err := json.Marshal(&x.file)
		x.mu.Unlock()
		if err == nil && !e.removed {
			err = atomicfile.Write(h.executionsPath(e), atomicfile.Options{}, b)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			h.log.Warn("executions of a session", "session", e.rec.ID, "err", err)
		}
	})
}

// ExecutionsOf returns whether a session's executions are checked, and how many were refused.
func (h *Registry) ExecutionsOf(e *Handle) (state string, refused int) {
	x := h.lockExecutions(e)
	defer x.mu.Unlock()
	state = x.file.State
	if state == api.ExecutionsJudged && len(x.file.Unprivileged) > 0 {
		state += "; without the rights of their owners: " + strings.Join(x.file.Unprivileged, ", ")
	}
	return state, x.file.Count
}

// IsChecked reports whether a session's executions are checked: all its processes have the seccomp filter.
func (h *Registry) IsChecked(e *Handle) bool {
	x := h.lockExecutions(e)
	defer x.mu.Unlock()
	return x.file.State == api.ExecutionsJudged
}

// RefusedSince returns the recorded refusals since then, oldest first.
func (h *Registry) RefusedSince(e *Handle, since time.Time) []api.Refused {
	x := h.lockExecutions(e)
	defer x.mu.Unlock()
	i, _ := slices.BinarySearchFunc(x.file.Refused, since, func(r api.Refused, t time.Time) int { return r.Time.Compare(t) })
	return slices.Clone(x.file.Refused[i:])
}

// removedAgent is the label for the agent of a removed session: its leftover processes are judged as an agent's.
const removedAgent = "(of a session that was removed)"

// Subject implements executions.Sessions.
func (h *Registry) Subject(id string) executions.Subject {
	e := h.ByID(id)
	if e == nil {
		return executions.Subject{Agent: removedAgent}
	}
	rec := e.Record()
	s := executions.Subject{Name: rec.Name, Labels: rec.Labels, Agent: rec.Agent, Policy: rec.Policy}
	box := h.sandboxOf(e)
	s.Programs, s.AskUnlisted = box.programs, box.askUnlisted
	x := h.lockExecutions(e)
	defer x.mu.Unlock()
	s.Agent = cmp.Or(s.Agent, x.file.Agent)
	if x.home == "" && e.ready.Load() {
		if env, err := sys.ReadEnviron(e.Session.Status().PID); err == nil {
			x.home, _ = env.Lookup("HOME")
		}
	}
	if s.Home = x.home; s.Home == "" {
		s.Home, _ = os.UserHomeDir()
	}
	return s
}

// RecordAgentWork records that an agent sends lines or keys to a session. Its effects cannot be separated from the user's
// input, so from then on all requests from the session count as the agent's.
func (h *Registry) RecordAgentWork(e *Handle, agent string) {
	if agent == "" || e.Record().Agent != "" || !e.ready.Load() {
		return
	}
	x := h.lockExecutions(e)
	defer x.mu.Unlock()
	if x.file.Agent == "" {
		x.file.Agent = agent
		h.saveExecutions(e)
		h.writes.Go(func() { h.bind(e) })
	}
}

// bind marks a session at its keeper if an agent or a policy is involved. The keeper then serves none of its processes:
// they must use the daemon, which identifies them.
func (h *Registry) bind(e *Handle) {
	if e.device == nil || h.AgentOf(e) == "" && e.Record().Policy == "" && h.Sandbox(e) == nil {
		return
	}
	if err := e.device.keeper.Link().MarkRestricted(e.ID()); err != nil {
		h.log.Warn("mark a session as bound at its keeper", "session", e.ID(), "err", err)
	}
}

// AgentOf returns the agent that owns a session or has worked in it; empty if none.
func (h *Registry) AgentOf(e *Handle) string {
	x := h.lockExecutions(e)
	defer x.mu.Unlock()
	return cmp.Or(e.Record().Agent, x.file.Agent)
}

// isRetryOf reports whether a refusal repeats the last one of its process with the next directory of PATH, as Python's
// subprocess does.
func (x *execRecord) isRetryOf(r *api.Refused) bool {
	for _, o := range slices.Backward(x.file.Refused) {
		if o.PID == r.PID {
			return o.Path != r.Path && filepath.Base(o.Path) == filepath.Base(r.Path) && slices.Equal(o.Argv, r.Argv) &&
				strings.ReplaceAll(o.Why, o.Path, r.Path) == r.Why
		}
	}
	return false
}

// RecordRefusal implements executions.Sessions.
func (h *Registry) RecordRefusal(id string, r api.Refused) {
	e := h.ByID(id)
	h.log.Info("an execution was refused", "session", id, "path", r.Path, "why", r.Why)
	if e == nil {
		return
	}
	r.Time = time.Now()
	ready := e.ready.Load()
	x := h.lockExecutions(e)
	if x.isRetryOf(&r) {
		x.mu.Unlock()
		return
	}
	x.file.Count++
	x.file.Refused = append(x.file.Refused, r)
	x.file.Refused = x.file.Refused[max(0, len(x.file.Refused)-maxRefusals):]
	if ready {
		h.saveExecutions(e)
	}
	x.mu.Unlock()
	if !ready { // its session is just being started: what is written of it then has this too
		return
	}
	view := h.Describe(e, e.Session.Status())
	h.Bus.Send(api.Event{Kind: "refused", Session: &view, Refused: &r})
}

// maxUnprivileged bounds the stored paths of programs that lost the rights of their owner, per session.
const maxUnprivileged = 8

// RecordUnprivileged implements executions.Sessions.
func (h *Registry) RecordUnprivileged(id, path string) {
	e := h.ByID(id)
	if e == nil || !e.ready.Load() {
		return
	}
	x := h.lockExecutions(e)
	defer x.mu.Unlock()
	if len(x.file.Unprivileged) >= maxUnprivileged || slices.Contains(x.file.Unprivileged, path) {
		return
	}
	x.file.Unprivileged = append(x.file.Unprivileged, path)
	h.saveExecutions(e)
	h.log.Info("a program runs without the rights of its owner, for executions are judged", "session", id, "path", path)
}
