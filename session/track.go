package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/internal/echo"
	"github.com/longterm-dev/longterm/session/internal/lineexec"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// trackingFile holds the tracker's state in a session's directory. It is written before
// each checkpoint, so it is never older than the screen a restart begins with.
const trackingFile = "shell.json"

// tracking follows the session's shell. It belongs to the owner.
type tracking struct {
	*shell.Tracker
	kind     shell.Kind
	file     string
	stateDir string
	env      shell.Env // as of the newest prompt; nil: not known
	// changed is what of it differs from the first prompt's, without secrets; nil: unset.
	changed map[string]*string
	seen    uint64 // offset up to which events have been applied
	other   *otherShell
}

// trackingState is the file's content.
type trackingState struct {
	Offset uint64      `json:"offset"`
	Shell  shell.State `json:"shell"`
	Typed  []string    `json:"typed,omitempty"` // ids of lines that were typed
	Other  *otherShell `json:"other,omitempty"` // that reads the terminal instead
	Kind   shell.Kind  `json:"kind,omitempty"`  // of the shell that is followed now
	Argv   string      `json:"argv,omitempty"`  // as the shell was started
	Image  string      `json:"image,omitempty"` // of its process
	Editor echo.Region `json:"editor"`          // of the newest prompt
	By     string      `json:"by,omitempty"`    // who gave it the newest command
}

// Command is a line that the session's shell runs or ran.
type Command struct {
	shell.Command
	Running bool
	Note    string // why its status is not known, where there is a reason to tell
	// By is who gave it to the shell, where that was no person: ByExec, or a name of the caller's for who typed it.
	By string
	// Env is what the command changed in the shell's environment.
	Env []shell.EnvChange
}

// ByExec says of a command that it was given to the shell as a line, and not typed by keys.
const ByExec = "exec"

func newTracking(l *shell.Launch, dir string) *tracking {
	return &tracking{
		Tracker: shell.NewTracker(*l), kind: l.Kind,
		file: filepath.Join(dir, trackingFile), stateDir: l.StateDir,
	}
}

// resumeTracking goes on with the state that was written down; a replay from an offset
// brings the events after it.
func (h *lineHost) resumeTracking(from uint64) {
	s := h.s
	t := h.shell
	if t == nil {
		return
	}
	b, err := os.ReadFile(t.file)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	var st trackingState
	if err == nil {
		err = json.Unmarshal(b, &st)
	}
	if err != nil {
		s.log.Warn("what the shell was doing is not known", "session", s.cfg.ID, "err", err)
		return
	}
	t.Tracker, t.seen = shell.Resume(st.Shell), st.Offset
	t.other, h.argv, h.image = st.Other, st.Argv, st.Image
	h.last.Number, h.last.By = t.State().Numbers, st.By
	s.typing.dedup.SetLines(st.Typed)
	if st.Kind != shell.Unknown {
		t.kind = st.Kind // another one replaced the first
	}
	if st.Offset >= from {
		s.typing.editor = st.Editor
	} else {
		h.ran(t.Apply(shell.Event{Kind: shell.EventLost, At: from, Time: time.Now()}))
	}
	t.env, _, _ = shell.ReadEnv(t.stateDir) // changes count from here
	s.cfg.Known.LearnEnv(maps.All(t.env))
	h.showShell()
}

// trackingState is what a checkpoint takes along of what the shell is doing; nil: there is none.
func (h *lineHost) trackingState() ([]byte, error) {
	if h.shell == nil {
		return nil, nil
	}
	return json.Marshal(trackingState{
		Offset: h.s.off, Shell: h.shell.State(), Typed: h.s.typing.dedup.Lines(),
		Other: h.shell.other, Kind: h.shell.kind, Argv: h.argv, Image: h.image, Editor: h.s.typing.editor, By: h.last.By,
	})
}

// track tells the tracker what the emulator has seen.
func (h *lineHost) track(e *vterm.Event) {
	s := h.s
	if h.shell == nil {
		return
	}
	ev, ok := shell.FromVterm(e)
	if !ok {
		return
	}
	if ev.Kind == shell.EventMark {
		replayed := e.At < h.shell.seen
		taken := !replayed && h.shell.Takes(&ev.Mark)
		if taken {
			h.shellIsBack()
		}
		if (replayed || taken) && h.shell.State().Offered == shell.Full {
			s.typing.editor.Note(ev.Mark.Kind, e.At, e.Line, e.Col)
		}
		if ev.Mark.Guess && !h.editorShows(&ev) {
			ev.Mark.Text, ev.Mark.HasText, ev.Mark.Guess = "", false, false
		}
	}
	h.tell(ev)
}

// tell gives the tracker an event, unless it knows it from before a restart.
func (h *lineHost) tell(e shell.Event) {
	s := h.s
	if h.shell == nil || e.At < h.shell.seen {
		return
	}
	switch {
	case !e.Time.IsZero():
	case !s.replaying.IsZero():
		e.Time = s.replaying
	default:
		e.Time = time.Now()
	}
	h.shell.seen = e.At
	h.ran(h.shell.Apply(e))
}

// ran acts on what the tracker found out.
func (h *lineHost) ran(changes []shell.Change) {
	if len(changes) == 0 {
		return
	}
	h.showShell()
	for i := range changes {
		h.shellChanged(&changes[i])
	}
}

func (h *lineHost) shellChanged(c *shell.Change) {
	s := h.s
	switch c.Kind {
	case shell.ChangePrompt:
		if h.shell.env == nil { // the first one: what commands change counts from here
			h.envChanges()
		}
	case shell.ChangeCwd:
		cwd := h.shell.State().Cwd.Path
		if cwd != s.Status().Cwd {
			s.update(ChangeCwd, func(st *Status) { st.Cwd = cwd })
		}
	case shell.ChangeStarted:
		h.report(Command{Command: c.Command, Running: true})
	case shell.ChangeFinished:
		if c.Command.Quality == shell.Basic && h.shell.State().Offered == shell.Basic {
			lines := 1
			if len(h.runs) > 0 && h.runs[0].exec.Step() == lineexec.Runs && (h.runs[0].exec.Wrapped > 0 || h.runs[0].unseen) {
				lines = 0 // it was wrapped: a mark told; or there is no echo
			}
			c.Command.Start = h.afterEcho(&c.Command, lines)
		} else if c.Command.Echoed && h.echoed(&c.Command) {
			c.Command.Start = h.afterEcho(&c.Command, 1+strings.Count(c.Command.Text, "\n"))
		}
		if c.Command.Echoed && h.current() != nil { // a syntax error
			h.machine.NeverRan()
		}
		h.report(Command{Command: c.Command, Env: h.envChanges()})
	}
	h.advanceExec(c)
}

// followed says that the program is a shell that tells of itself.
func (h *lineHost) followed() bool {
	return h.shell != nil && h.shell.other == nil && h.shell.State().Offered != shell.None
}

// shellEnded tells the tracker that its shell has ended.
func (h *lineHost) shellEnded(x *Exit) {
	s := h.s
	var code *int
	if x.Signal == "" {
		code = &x.Code
	}
	h.tell(shell.Event{Kind: shell.EventExit, At: s.off, Time: x.Time, Exit: code})
}

// tracksCwd says that the shell itself tells its directory: what programs say is not it.
func (h *lineHost) tracksCwd() bool { return h.shell != nil && h.shell.State().Quality == shell.Full }

// report tells of a command.
func (h *lineHost) report(c Command) {
	s := h.s
	c.By = s.typing.by
	if !c.Running && h.last.Number == c.Number { // what was typed meanwhile was not for the shell
		c.By = h.last.By
	}
	if s.cfg.Ran != nil {
		s.cfg.Ran(c)
	}
	h.last = c
	phase := journal.PhaseDone
	if c.Running {
		phase = journal.PhaseRunning
	}
	s.history.noteCommand(phase, c.Command)
	s.update(ChangeCommand, func(*Status) {})
}

// envChanges is what changed in the shell's environment since the prompt before.
func (h *lineHost) envChanges() []shell.EnvChange {
	env, _, err := shell.ReadEnv(h.shell.stateDir)
	if err != nil {
		return nil // no side channel, or it is being written: the next prompt will tell
	}
	before := h.shell.env
	h.shell.env = env
	h.s.cfg.Known.LearnEnv(maps.All(env))
	if before == nil {
		return nil
	}
	changes := shell.DiffEnv(before, env)
	h.keepChanges(changes)
	return changes
}

// showShell puts the tracker's state into the status.
func (h *lineHost) showShell() {
	s := h.s
	st := h.shell.State()
	v := ShellStatus{Phase: st.Phase, Quality: st.Quality, Since: st.Since, Continuation: st.Continuation}
	if st.Running != nil && st.Phase == shell.PhaseRunning {
		v.Command, v.Number = st.Running.Text, st.Running.Number
	}
	if h.shell.other == nil && v != s.Status().Shell {
		if v.Phase != s.Status().Shell.Phase {
			s.typing.begun.Ends() // it was a line of what is over
		}
		s.update(ChangeShell, func(st *Status) { st.Shell = v })
	}
}

// echoed says that a command's output begins with some echo of its line: not where the shell's
// editor writes to nowhere.
func (h *lineHost) echoed(c *shell.Command) bool {
	s := h.s
	word := bytes.Fields([]byte(c.Text))
	if len(word) == 0 {
		return true
	}
	buf := make([]byte, min(c.End-c.Start, 4096))
	o, err := s.Output(c.Start, buf)
	first, _, _ := bytes.Cut(o.Data, []byte("\n"))
	return err != nil || bytes.Contains(first, word[0])
}
