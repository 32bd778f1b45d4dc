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

// agentRecord holds what is needed to resume an agent's conversation. Its file exists while the agent runs, and longer
// if the session ended with it.
type agentRecord struct {
	Agent        string            `json:"agent"`
	Argv         []string          `json:"argv"`
	Cwd          string            `json:"cwd,omitempty"`
	Env          map[string]string `json:"env,omitempty"`
	Conversation string            `json:"conversation,omitempty"`
}

// agentFile is the name of an agentRecord's file; maxAgentFile bounds it, in bytes.
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

// resume returns the command that resumes the conversation, or nil.
func (r *agentRecord) resume(a *agentstate.Agent) []string {
	if r.Argv == nil && r.Conversation == "" {
		return nil
	}
	return a.Command(r.Argv, r.Conversation)
}

// saveAgent writes an agent's record to its file if it has changed.
func (h *Registry) saveAgent(e *Handle, r *agentRecord) {
	if reflect.DeepEqual(e.savedAgent, r) || e.IsTemporary() {
		return
	}
	b, err := json.Marshal(r)
	if err == nil {
		e.dirMu.Lock()
		if !e.removed {
			err = atomicfile.Write(filepath.Join(h.dirs.Session(e.rec.ID), agentFile), atomicfile.Options{Sync: atomicfile.Content}, b)
		}
		e.dirMu.Unlock()
	}
	if err != nil {
		h.log.Warn("note an agent's conversation", "session", e.rec.ID, "err", err)
		return
	}
	kept := *r
	e.savedAgent = &kept
}

// forgetAgent removes the record of an agent that ended by itself.
func (h *Registry) forgetAgent(e *Handle) {
	e.dirMu.Lock()
	defer e.dirMu.Unlock()
	if err := os.Remove(filepath.Join(h.dirs.Session(e.rec.ID), agentFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.log.Warn("forget an agent's conversation", "session", e.rec.ID, "err", err)
	}
}

// recordedAgent returns the agent whose record a session has, or nil.
func (h *Registry) recordedAgent(e *Handle) (*agentstate.Agent, *agentRecord) {
	b, err := readSmall(filepath.Join(h.dirs.Session(e.rec.ID), agentFile), maxAgentFile)
	if err != nil {
		return nil, nil
	}
	var r agentRecord
	if err := json.Unmarshal(b, &r); err != nil {
		h.log.Warn("agent's conversation unknown", "session", e.rec.ID, "err", err)
		return nil, nil
	}
	a := agentstate.ByName(r.Agent)
	if a == nil {
		return nil, nil
	}
	return a, &r
}

// readSmall reads a file of at most limit bytes.
func readSmall(path string, limit int64) ([]byte, error) {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular() || st.Size() > limit:
		return nil, errors.New("no small file: " + path)
	}
	return os.ReadFile(path)
}

// identify finds the agent's conversation by its process.
func (w *agentWatch) identify() {
	w.identified = time.Now()
	if w.process.PID == 0 {
		return
	}
	a := w.m.Agent()
	id := w.idFromFile(a)
	if id == "" && a.Resume.Open != "" {
		id = w.idFromOpenFiles(a)
	}
	if id == "" {
		if w.record.Conversation == "" {
			w.record.Conversation = a.ChosenID(w.record.Argv)
		}
		return
	}
	w.conversation, w.record.Conversation = id, id
}

// idFromFile reads the file in which an agent notes its conversation.
func (w *agentWatch) idFromFile(a *agentstate.Agent) string {
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

// idFromOpenFiles finds the conversation's file among the open files of the agent's processes.
func (w *agentWatch) idFromOpenFiles(a *agentstate.Agent) string {
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

// ResumesItself reports whether the session's own program was an agent with a conversation that can resume.
func (h *Registry) ResumesItself(e *Handle) bool {
	_, left := h.recordedAgent(e)
	return left != nil && !e.Record().Shell && sameProgram(left.Argv, e.Record().Argv)
}

// sameProgram reports whether an agent is the program that a session was started with.
func sameProgram(agent, started []string) bool {
	a, b := agentstate.Identify(agent), agentstate.Identify(started)
	return a != nil && a == b
}

// resumeArgv returns the command that replaces a session's own program to resume its agent's conversation, or nil.
func (h *Registry) resumeArgv(e *Handle, req *api.Restore) []string {
	if req.NewConversation || req.Shell || !h.ResumesItself(e) {
		return nil
	}
	a, left := h.recordedAgent(e)
	req.Command = true
	return a.Command(e.Record().Argv, left.Conversation)
}

// ResumeLine returns the line that resumes the conversation of the agent that ran in a session's shell at its end, or
// "".
func (h *Registry) ResumeLine(e *Handle) string {
	a, left := h.recordedAgent(e)
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
