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

// executionsFile, in a session's directory, says whether its executions are judged and what was refused last. The audit
// trail has all.
const executionsFile = "executions.json"

// keptRefusals are shown with a session.
const keptRefusals = 20

// execRecord is what is known of those in a session.
type execRecord struct {
	mu      sync.Mutex
	read    bool // from the file
	writing bool
	kept    struct {
		State        string        `json:"state"`
		Count        int           `json:"count,omitempty"`
		Refused      []api.Refused `json:"refused,omitempty"`
		Unprivileged []string      `json:"unprivileged,omitempty"`
		Agent        string        `json:"agent,omitempty"` // the first that gave a person's session lines or keys
	}
	home string
}

// judgedAs notes, for a process that was just started, whether its executions are judged. again: the session had one before.
func (h *Registry) judgedAs(e *Handle, state string, again bool) {
	x := &e.execs
	x.mu.Lock()
	defer x.mu.Unlock()
	x.read = true
	x.kept.State = state
	if state == "" && x.kept.Agent == "" {
		if !again {
			return
		}
		if err := os.Remove(h.executionsPath(e)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			h.log.Warn("executions of a session", "session", e.rec.ID, "err", err)
		}
		return
	}
	h.keepExecutions(e)
}

func (h *Registry) executionsPath(e *Handle) string {
	return filepath.Join(h.dirs.Session(e.rec.ID), executionsFile)
}

// lockExecutions reads the file first, once.
func (h *Registry) lockExecutions(e *Handle) *execRecord {
	x := &e.execs
	x.mu.Lock()
	if x.read || !e.ready.Load() {
		return x
	}
	x.read = true
	early := x.kept // refused before it was read
	b, err := os.ReadFile(h.executionsPath(e))
	if err == nil {
		x.kept.Refused = nil
		err = json.Unmarshal(b, &x.kept)
		x.kept.Count += early.Count
		x.kept.Refused = append(x.kept.Refused, early.Refused...)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.log.Warn("executions of a session", "session", e.rec.ID, "err", err)
		x.kept.State = "not judged: it is not known whether they are (" + executionsFile + " cannot be read)"
	}
	return x
}

// keepExecutions has the file written, soon. Called with the lock held.
func (h *Registry) keepExecutions(e *Handle) {
	x := &e.execs
	if x.writing {
		return
	}
	x.writing = true
	h.writes.Go(func() {
		e.manifest.Lock()
		defer e.manifest.Unlock()
		x.mu.Lock()
		x.writing = false
		b, err := json.Marshal(&x.kept)
		x.mu.Unlock()
		if err == nil && !e.removed {
			err = atomicfile.Write(h.executionsPath(e), atomicfile.Options{}, b)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			h.log.Warn("executions of a session", "session", e.rec.ID, "err", err)
		}
	})
}

// ExecutionsOf says whether a session's executions are judged, and how many were refused.
func (h *Registry) ExecutionsOf(e *Handle) (state string, refused int) {
	x := h.lockExecutions(e)
	defer x.mu.Unlock()
	state = x.kept.State
	if state == api.ExecutionsJudged && len(x.kept.Unprivileged) > 0 {
		state += "; without the rights of their owners: " + strings.Join(x.kept.Unprivileged, ", ")
	}
	return state, x.kept.Count
}

// Judged says that a session's executions are judged: all its processes have the filter that has the kernel ask.
func (h *Registry) Judged(e *Handle) bool {
	x := h.lockExecutions(e)
	defer x.mu.Unlock()
	return x.kept.State == api.ExecutionsJudged
}

// RefusedSince are executions in a session that were refused since then, as far as they are kept, oldest first.
func (h *Registry) RefusedSince(e *Handle, since time.Time) []api.Refused {
	x := h.lockExecutions(e)
	defer x.mu.Unlock()
	i, _ := slices.BinarySearchFunc(x.kept.Refused, since, func(r api.Refused, t time.Time) int { return r.Time.Compare(t) })
	return slices.Clone(x.kept.Refused[i:])
}

// gone stands for the agent of a session that is not known any more: what it left behind is judged as an agent's.
const gone = "(of a session that was removed)"

// Subject implements executions.Sessions.
func (h *Registry) Subject(id string) executions.Subject {
	e := h.ByID(id)
	if e == nil {
		return executions.Subject{Agent: gone}
	}
	rec := e.Record()
	s := executions.Subject{Name: rec.Name, Labels: rec.Labels, Agent: rec.Agent, Policy: rec.Policy}
	box := h.boxOf(e)
	s.Programs, s.Differ = box.programs, box.differ
	x := h.lockExecutions(e)
	defer x.mu.Unlock()
	s.Agent = cmp.Or(s.Agent, x.kept.Agent)
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

// WorkedIn notes that an agent gives a session lines or keys. What it leaves behind there cannot be told from what a
// person types: all that asks from the session asks as the agent from then on.
func (h *Registry) WorkedIn(e *Handle, agent string) {
	if agent == "" || e.Record().Agent != "" || !e.ready.Load() {
		return
	}
	x := h.lockExecutions(e)
	defer x.mu.Unlock()
	if x.kept.Agent == "" {
		x.kept.Agent = agent
		h.keepExecutions(e)
		h.writes.Go(func() { h.bind(e) })
	}
}

// bind marks a session as bound at its keeper if the session is not a user's alone. The keeper then serves none of its processes:
// they must use the daemon, which knows whose they are.
func (h *Registry) bind(e *Handle) {
	if e.device == nil || h.AgentOf(e) == "" && e.Record().Policy == "" && h.Sandbox(e) == nil {
		return
	}
	if err := e.device.keeper.Link().Bound(e.ID()); err != nil {
		h.log.Warn("mark a session as bound at its keeper", "session", e.ID(), "err", err)
	}
}

// AgentOf is the agent whose session it is, or that has worked in it; empty: it is a person's.
func (h *Registry) AgentOf(e *Handle) string {
	x := h.lockExecutions(e)
	defer x.mu.Unlock()
	return cmp.Or(e.Record().Agent, x.kept.Agent)
}

// toldOf says that a process only tries the next directory of PATH: for the same words, of which the last that it tried was refused
// for the same reason. Python's subprocess does.
func (x *execRecord) toldOf(r *api.Refused) bool {
	for _, o := range slices.Backward(x.kept.Refused) {
		if o.PID == r.PID {
			return o.Path != r.Path && filepath.Base(o.Path) == filepath.Base(r.Path) && slices.Equal(o.Argv, r.Argv) &&
				strings.ReplaceAll(o.Why, o.Path, r.Path) == r.Why
		}
	}
	return false
}

// Refused implements executions.Sessions.
func (h *Registry) Refused(id string, r api.Refused) {
	e := h.ByID(id)
	h.log.Info("an execution was refused", "session", id, "path", r.Path, "why", r.Why)
	if e == nil {
		return
	}
	r.Time = time.Now()
	ready := e.ready.Load()
	x := h.lockExecutions(e)
	if x.toldOf(&r) {
		x.mu.Unlock()
		return
	}
	x.kept.Count++
	x.kept.Refused = append(x.kept.Refused, r)
	x.kept.Refused = x.kept.Refused[max(0, len(x.kept.Refused)-keptRefusals):]
	if ready {
		h.keepExecutions(e)
	}
	x.mu.Unlock()
	if !ready { // its session is just being started: what is written of it then has this too
		return
	}
	view := h.Describe(e, e.Session.Status())
	h.Bus.Send(api.Event{Kind: "refused", Session: &view, Refused: &r})
}

// maxUnprivileged bounds the names that are kept.
const maxUnprivileged = 8

// Unprivileged implements executions.Sessions.
func (h *Registry) Unprivileged(id, path string) {
	e := h.ByID(id)
	if e == nil || !e.ready.Load() {
		return
	}
	x := h.lockExecutions(e)
	defer x.mu.Unlock()
	if len(x.kept.Unprivileged) >= maxUnprivileged || slices.Contains(x.kept.Unprivileged, path) {
		return
	}
	x.kept.Unprivileged = append(x.kept.Unprivileged, path)
	h.keepExecutions(e)
	h.log.Info("a program runs without the rights of its owner, for executions are judged", "session", id, "path", path)
}
