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

	"github.com/longterm-dev/longterm/session/internal/echodetect"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// trackingFile, in a session's directory, holds the tracker's state. It is written before each checkpoint, so it is
// never older than the screen with which a restart starts.
const trackingFile = "shell.json"

// tracking follows the session's shell. It belongs to the owner.
type tracking struct {
	*shell.Tracker
	kind     shell.Kind
	file     string    // path of trackingFile
	stateDir string    // directory of the shell's state files
	env      shell.Env // as of the newest prompt; nil: unknown
	// changed holds the differences from the first prompt's environment, without secrets. nil values are unset
	// variables.
	changed      map[string]*string // by name
	appliedTo    uint64             // offset up to which events were applied
	foreignShell *foreignShell
}

// trackingState is the content of trackingFile.
type trackingState struct {
	Offset       uint64                  `json:"offset"`
	Shell        shell.State             `json:"shell"`
	Typed        []string                `json:"typed,omitempty"` // ids of lines that were typed
	ForeignShell *foreignShell           `json:"other,omitempty"` // the shell that reads the terminal instead
	Kind         shell.Kind              `json:"kind,omitempty"`  // of the shell that is followed now
	Argv         string                  `json:"argv,omitempty"`  // as the shell was started
	Image        string                  `json:"image,omitempty"` // of its process
	Editor       echodetect.EditorRegion `json:"editor"`          // of the newest prompt
	By           string                  `json:"by,omitempty"`    // author of the newest command
}

// Command is a line that the session's shell runs or ran.
type Command struct {
	shell.Command
	Running bool
	Note    string // reason for an unknown status, or ""
	// By names the author of the line, unless it was a user: ByExec, or a caller's name.
	By string
	// Env holds the command's changes of the shell's environment.
	Env []shell.EnvChange
}

// ByExec is the Command.By of a line that was submitted, not typed by keys.
const ByExec = "exec"

// newTracking returns the tracking of a shell that was started with l.
func newTracking(l *shell.Launch, dir string) *tracking {
	return &tracking{
		Tracker: shell.NewTracker(*l), kind: l.Kind,
		file: filepath.Join(dir, trackingFile), stateDir: l.StateDir,
	}
}

// restoreTracking restores the tracker's state from its file. A replay from an offset adds the events after it.
func (h *lineHost) restoreTracking(from uint64) {
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
	t.Tracker, t.appliedTo = shell.Resume(st.Shell), st.Offset
	t.foreignShell, h.shellArgv, h.shellImage = st.ForeignShell, st.Argv, st.Image
	h.lastCommand.Number, h.lastCommand.By = t.State().CommandCount, st.By
	s.typing.dedup.SetLines(st.Typed)
	if st.Kind != shell.Unknown {
		t.kind = st.Kind // another shell replaced the first one
	}
	if st.Offset >= from {
		s.typing.editor = st.Editor
	} else {
		h.handleChanges(t.Apply(shell.Event{Kind: shell.EventDropped, At: from, Time: time.Now()}))
	}
	t.env, _, _ = shell.ReadEnv(t.stateDir) // changes count from here
	s.cfg.Vault.LearnEnv(maps.All(t.env))
	h.showShell()
}

// trackingState returns the tracker's state to write with a checkpoint, or nil without a shell.
func (h *lineHost) trackingState() ([]byte, error) {
	if h.shell == nil {
		return nil, nil
	}
	return json.Marshal(trackingState{
		Offset: h.s.offset, Shell: h.shell.State(), Typed: h.s.typing.dedup.Lines(),
		ForeignShell: h.shell.foreignShell, Kind: h.shell.kind, Argv: h.shellArgv, Image: h.shellImage, Editor: h.s.typing.editor, By: h.lastCommand.By,
	})
}

// track passes an emulator event to the tracker.
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
		replayed := e.At < h.shell.appliedTo
		taken := !replayed && h.shell.IsNewMark(&ev.Mark)
		if taken && ev.Mark.Kind == shell.MarkPrompt { // others are printed without the builtins that this one needs
			h.endForeignShell()
		}
		if (replayed || taken) && h.shell.State().MaxQuality == shell.Full {
			s.typing.editor.HandleMark(ev.Mark.Kind, e.At, e.Line, e.Col)
		}
		if st := h.shell.State(); taken && ev.Mark.Kind == shell.MarkPrompt && st.MaxQuality == shell.Basic && h.machine.CanConfirmPrompt() {
			ev.Mark.Late = true
		}
		if ev.Mark.IsGuess && !h.isShownByEditor(&ev) {
			ev.Mark.Text, ev.Mark.HasText, ev.Mark.IsGuess = "", false, false
		}
	}
	h.applyEvent(ev)
}

// applyEvent passes an event to the tracker, unless it was applied before a restart.
func (h *lineHost) applyEvent(e shell.Event) {
	s := h.s
	if h.shell == nil || e.At < h.shell.appliedTo {
		return
	}
	switch {
	case !e.Time.IsZero():
	case !s.replayTime.IsZero():
		e.Time = s.replayTime
	default:
		e.Time = time.Now()
	}
	h.shell.appliedTo = e.At
	h.handleChanges(h.shell.Apply(e))
}

// handleChanges handles changes of the tracker's state.
func (h *lineHost) handleChanges(changes []shell.Change) {
	if len(changes) == 0 {
		return
	}
	h.showShell()
	for i := range changes {
		h.shellChanged(&changes[i])
	}
}

// shellChanged handles one change of the shell's state.
func (h *lineHost) shellChanged(c *shell.Change) {
	s := h.s
	switch c.Kind {
	case shell.ChangePrompt:
		if h.shell.env == nil { // the first prompt: changes by commands count from here
			h.envChanges()
		}
	case shell.ChangeCwd:
		cwd := h.shell.State().Cwd.Path
		if cwd != s.Status().Cwd {
			s.update(ChangeCwd, func(st *Status) { st.Cwd = cwd })
		}
	case shell.ChangeStarted:
		h.publishCommand(Command{Command: c.Command, Running: true})
	case shell.ChangeFinished:
		if c.Command.Quality == shell.Basic && h.shell.State().MaxQuality == shell.Basic {
			c.Command.Start = h.outputStart(&c.Command, h.echoedLines())
		} else if c.Command.NeverRan && h.hasEcho(&c.Command) {
			c.Command.Start = h.outputStart(&c.Command, 1+strings.Count(c.Command.Text, "\n"))
		}
		if h.shell.kind == shell.Zsh {
			c.Command.End = h.outputEndBeforeFill(&c.Command)
		}
		if c.Command.NeverRan && h.currentRun() != nil { // a syntax error
			h.machine.MarkRefused()
		}
		h.publishCommand(Command{Command: c.Command, Env: h.envChanges()})
	}
	h.advanceExec(c)
}

// isFollowed reports whether the program is a shell with integration.
func (h *lineHost) isFollowed() bool {
	return h.shell != nil && h.shell.foreignShell == nil && h.shell.State().MaxQuality != shell.None
}

// shellEnded records the shell's exit in the tracker.
func (h *lineHost) shellEnded(x *Exit) {
	s := h.s
	var code *int
	if x.Signal == "" {
		code = &x.Code
	}
	h.applyEvent(shell.Event{Kind: shell.EventExit, At: s.offset, Time: x.Time, Exit: code})
}

// tracksCwd reports whether the shell itself reports its directory, so that reports of other programs are ignored.
func (h *lineHost) tracksCwd() bool { return h.shell != nil && h.shell.State().Quality == shell.Full }

// publishCommand publishes a command.
func (h *lineHost) publishCommand(c Command) {
	s := h.s
	c.By = s.typing.lineAuthor
	if !c.Running && h.lastCommand.Number == c.Number { // input typed during the command was not for the shell
		c.By = h.lastCommand.By
	}
	if s.cfg.OnCommand != nil {
		s.cfg.OnCommand(c)
	}
	h.lastCommand = c
	phase := journal.PhaseDone
	if c.Running {
		phase = journal.PhaseRunning
	}
	s.history.recordCommand(phase, c.Command)
	s.update(ChangeCommand, func(*Status) {})
}

// envChanges returns the changes of the shell's environment since the previous prompt.
func (h *lineHost) envChanges() []shell.EnvChange {
	env, _, err := shell.ReadEnv(h.shell.stateDir)
	if err != nil {
		return nil // no state file, or it is being written: the next prompt reads it
	}
	before := h.shell.env
	h.shell.env = env
	h.s.cfg.Vault.LearnEnv(maps.All(env))
	if before == nil {
		return nil
	}
	changes := shell.DiffEnv(before, env)
	h.recordEnvChanges(changes)
	return changes
}

// showShell copies the tracker's state to the status.
func (h *lineHost) showShell() {
	s := h.s
	st := h.shell.State()
	v := ShellStatus{Phase: st.Phase, Quality: st.Quality, Since: st.Since, Continuation: st.InContinuation}
	if st.Running != nil && st.Phase == shell.PhaseRunning {
		v.Command, v.Number = st.Running.Text, st.Running.Number
	}
	if h.shell.foreignShell == nil && v != s.Status().Shell {
		if v.Phase != s.Status().Shell.Phase {
			s.typing.partial.Clear() // the line belonged to the ended command
		}
		s.update(ChangeShell, func(st *Status) { st.Shell = v })
	}
}

// outputEndBeforeFill returns the offset at which a command's output ended, before the blanks that zsh prints ahead of
// its prompt to reach the next row. Its mark is before them, unless the line changed PROMPT_EOL_MARK.
func (h *lineHost) outputEndBeforeFill(c *shell.Command) uint64 {
	s := h.s
	cols := s.Status().Cols
	size := min(c.End-c.Start, uint64(cols)+64)
	o, err := s.Output(c.End-size, make([]byte, size))
	if err != nil || o.Next != c.End {
		return c.End
	}
	kept := bytes.TrimRight(o.Data, "\r ")
	if fill := bytes.Repeat([]byte{' '}, cols-1); bytes.Contains(o.Data[len(kept):], append(fill, '\r')) {
		for _, mark := range []string{"%", "#"} { // zsh's own, without PROMPT_EOL_MARK
			kept = bytes.TrimSuffix(kept, []byte("\x1b[1m\x1b[7m"+mark+"\x1b[27m\x1b[1m\x1b[0m"))
		}
		return c.End - uint64(len(o.Data)-len(kept))
	}
	return c.End
}

// hasEcho reports whether a command's output starts with some echo of its line. It does not if the shell's editor writes
// elsewhere.
func (h *lineHost) hasEcho(c *shell.Command) bool {
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
