//go:build unix

package registry

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/agentstate"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/shellquote"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/store/atomicfile"
)

// agentRecord is what takes the conversation of a session's agent up again. It stands in the session's
// directory for as long as the agent runs, and after that if the session ended with it.
type agentRecord struct {
	Agent        string            `json:"agent"`
	Argv         []string          `json:"argv"`
	Cwd          string            `json:"cwd,omitempty"`
	Env          map[string]string `json:"env,omitempty"`
	Conversation string            `json:"conversation,omitempty"`
}

// agentFile is its name; maxAgentFile bounds it.
const (
	agentFile    = "agent.json"
	maxAgentFile = 1 << 20
)

// takeEnv takes the variables that the conversation's place depends on.
func (r *agentRecord) takeEnv(a *agentstate.Agent, env sys.Environ) {
	for _, name := range a.Resume.Env {
		if v, ok := env.Lookup(name); ok {
			if r.Env == nil {
				r.Env = map[string]string{}
			}
			r.Env[name] = v
		}
	}
}

// resume is the command that takes the conversation up again; nil: there is none.
func (r *agentRecord) resume(a *agentstate.Agent) []string {
	if r.Argv == nil && r.Conversation == "" {
		return nil
	}
	return a.Command(r.Argv, r.Conversation)
}

// keepAgent writes down what takes an agent's conversation up again, if that has changed.
func (h *Registry) keepAgent(e *Handle, r *agentRecord) {
	if reflect.DeepEqual(e.keptAgent, r) || e.Temporary() {
		return
	}
	b, err := json.Marshal(r)
	if err == nil {
		e.manifest.Lock()
		if !e.removed {
			err = atomicfile.Write(filepath.Join(h.dirs.Session(e.rec.ID), agentFile), atomicfile.Options{Sync: atomicfile.Content}, b)
		}
		e.manifest.Unlock()
	}
	if err != nil {
		h.log.Warn("note an agent's conversation", "session", e.rec.ID, "err", err)
		return
	}
	kept := *r
	e.keptAgent = &kept
}

// forgetAgent removes what was written: the agent has ended by itself.
func (h *Registry) forgetAgent(e *Handle) {
	e.manifest.Lock()
	defer e.manifest.Unlock()
	if err := os.Remove(filepath.Join(h.dirs.Session(e.rec.ID), agentFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.log.Warn("forget an agent's conversation", "session", e.rec.ID, "err", err)
	}
}

// leftAgent is what a session's agent left; nil: nothing.
func (h *Registry) leftAgent(e *Handle) (*agentstate.Agent, *agentRecord) {
	b, err := readSmall(filepath.Join(h.dirs.Session(e.rec.ID), agentFile), maxAgentFile)
	if err != nil {
		return nil, nil
	}
	var r agentRecord
	if err := json.Unmarshal(b, &r); err != nil {
		h.log.Warn("an agent's conversation is not known", "session", e.rec.ID, "err", err)
		return nil, nil
	}
	a := agentstate.Named(r.Agent)
	if a == nil {
		return nil, nil
	}
	return a, &r
}

// readSmall reads a file that is not larger than most.
func readSmall(path string, most int64) ([]byte, error) {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular() || st.Size() > most:
		return nil, errors.New("no small file: " + path)
	}
	return os.ReadFile(path)
}

// identify finds which conversation the agent is in, by what its process shows.
func (w *agentWatch) identify() {
	w.asked = time.Now()
	if w.process.PID == 0 {
		return
	}
	a := w.m.Agent()
	id := w.idOfFile(a)
	if id == "" && a.Resume.Open != "" {
		id = w.idOfOpen(a)
	}
	if id == "" {
		if w.kept.Conversation == "" {
			w.kept.Conversation = a.ChosenID(w.kept.Argv)
		}
		return
	}
	w.own, w.kept.Conversation = id, id
}

// idOfFile reads the file in which an agent notes its conversation.
func (w *agentWatch) idOfFile(a *agentstate.Agent) string {
	env, err := sys.ReadEnviron(w.process.PID)
	if err != nil {
		return ""
	}
	path := a.FilePath(w.process.PID, func(name string) string { v, _ := env.Lookup(name); return v })
	if path == "" {
		return ""
	}
	b, err := readSmall(path, maxAgentFile)
	if err != nil {
		return ""
	}
	return a.FileID(b)
}

// idOfOpen looks for a file of a conversation among those that the agent's processes have open.
func (w *agentWatch) idOfOpen(a *agentstate.Agent) string {
	for _, pid := range append([]int{w.process.PID}, sys.Descendants(w.process.PID)...) {
		fds, err := sys.Descriptors(pid)
		if err != nil {
			continue
		}
		for _, fd := range fds {
			to, err := sys.DescriptorTarget(pid, fd)
			if err != nil || !strings.HasPrefix(to, "/") {
				continue
			}
			if id := a.OpenID(to); id != "" {
				return id
			}
		}
	}
	return ""
}

// ResumesItself says that a session's own program was an agent whose conversation can go on.
func (h *Registry) ResumesItself(e *Handle) bool {
	_, left := h.leftAgent(e)
	return left != nil && !e.Record().Shell && sameProgram(left.Argv, e.Record().Argv)
}

// sameProgram says that an agent is what a session was started with: by itself, or as what its first
// line names.
func sameProgram(agent, started []string) bool {
	a, b := agentstate.Identify(agent), agentstate.Identify(started)
	return a != nil && a == b
}

// resumed is what is started in place of a session's own program to go on with its agent's conversation;
// nil: that itself.
func (h *Registry) resumed(e *Handle, req *api.Restore) []string {
	if req.Fresh || req.Shell || !h.ResumesItself(e) {
		return nil
	}
	a, left := h.leftAgent(e)
	req.Command = true
	return a.Command(e.Record().Argv, left.Conversation)
}

// ResumeLine is the line that goes on with the conversation of the agent that ran in a session's shell
// when it ended; empty: there was none.
func (h *Registry) ResumeLine(e *Handle) string {
	a, left := h.leftAgent(e)
	if left == nil || !e.Record().Shell || e.Session.Status().State == session.Running {
		return ""
	}
	argv := left.resume(a)
	if argv == nil { // what goes before it would wait for its end in the shell
		return ""
	}
	line := shellquote.Line(argv)
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(left.Env))) {
		line = name + "=" + shellquote.Line([]string{left.Env[name]}) + " " + line
	}
	if st, err := os.Stat(left.Cwd); err == nil && st.IsDir() {
		line = "cd " + shellquote.Line([]string{left.Cwd}) + " && " + line
	}
	return line
}
