package model

import (
	"path"
	"strings"
	"time"
)

// Session is what the viewer shows of a session besides its screen.
type Session struct {
	ID       string
	Name     string // as HOST/NAME, where there is a Host
	Host     string // that it is on, where sessions of several are shown; empty: this one, or there is one only
	State    string // StateRunning, or how it ended: exited, lost, …
	Command  string
	Aside    bool   // it goes once it has ended, or runs for a hook: nobody can be sent to what became of it
	Past     string // the session whose past it shows; empty: it is one like others
	Cwd      string
	ExitCode *int
	Signal   string // the one that ended it
	Stopped  bool   // it was ended by request, whatever its status
	Started  time.Time
	Ended    time.Time // zero while it runs
	Size     string    // whose size it takes: latest, largest, smallest, fixed

	Phase      Phase
	Doing      string    // what its shell runs
	Since      time.Time // when the phase began
	LastExit   *int      // status of the shell's last command, where it is known
	FullScreen bool      // a program has the whole screen
	Needs      string    // what it waits for: password, confirm, menu, text, screen, prompt, approval; empty: nothing
	Agent      string    // the coding agent in it and its state, as in claude working; empty: none is known
	Progress   *Progress
	Due        time.Time // when what runs will be done; zero: unknown
	Errors     int       // counted in what it prints
	Warnings   int
	FirstError string    // with its place
	Bells      int       // rung since the viewer began
	CutOff     time.Time // since when its host cannot be reached, all else is as it was then; zero: it can
}

// Phase is what a session's shell is doing.
type Phase uint8

// Phases.
const (
	PhaseUnknown Phase = iota
	PhasePrompt
	PhaseRunning
)

// Progress is how far a program says it is.
type Progress struct {
	State   string // normal, error, indeterminate, paused
	Percent int
}

// StateRunning is the state of a session that takes input.
const StateRunning = "running"

// Ran is how long a session ran or has been running.
func (s *Session) Ran(now time.Time) time.Duration {
	if !s.Ended.IsZero() {
		now = s.Ended
	}
	return max(0, now.Sub(s.Started))
}

// Failed reports an end that people should look at. A program may answer a request to end with any status.
func (s *Session) Failed() bool {
	return s.State != StateRunning && !s.Stopped && (s.ExitCode == nil || *s.ExitCode != 0)
}

// PromptFailed reports a shell at its prompt whose last command failed.
func (s *Session) PromptFailed() bool {
	return s.State == StateRunning && s.Phase == PhasePrompt && s.LastExit != nil && *s.LastExit != 0
}

// Wants reports that a session asks a person. Full-screen programs and the prompts of shells within
// shells wait for one too, but ask nothing.
func (s *Session) Wants() bool {
	return s.State == StateRunning && s.Needs != "" && s.Needs != "screen" && s.Needs != "prompt"
}

// Update is the state of all sessions.
type Update struct {
	Sessions  []Session
	Approvals []Approval // that wait, the oldest first
	Ended     []Ended    // the newest of those that do not
	Away      string     // why the source cannot be reached; then Sessions says nothing
	CutOff    []CutOff   // hosts of several that cannot be reached
}

// CutOff is a host that cannot be reached. What was known of its sessions is in the list.
type CutOff struct {
	Host  string // empty: this one
	Why   string
	Since time.Time
	Never bool // nothing was ever heard of it: which sessions it has is not known
}

// title is what a tab of the session is called: by its name or, if that says no more than its program, by its directory.
func (s *Session) title() string {
	if base := path.Base(s.Cwd); s.Automatic() && s.Cwd != "" && base != "/" {
		return s.There(base)
	}
	return s.Name
}

// There is what something of the session is called, with its host where there are several.
func (s *Session) There(text string) string {
	if s.Host == "" {
		return text
	}
	return s.Host + "/" + text
}

// Automatic reports whether the session's name was made of its program's: sh, sh-2.
func (s *Session) Automatic() bool {
	program, _, _ := strings.Cut(s.Command, " ")
	rest, ok := strings.CutPrefix(strings.TrimPrefix(s.Name, s.Host+"/"), path.Base(program))
	return ok && program != "" && strings.Trim(rest, "-0123456789") == ""
}
