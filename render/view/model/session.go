package model

import (
	"path"
	"strings"
	"time"
)

// Session is the state of a session besides its screen.
type Session struct {
	ID         string
	Name       string // HOST/NAME if Host is set
	Host       string // host it runs on; "": the local host, or only one host is shown
	State      string // StateRunning, or how it ended: exited, lost, …
	Command    string
	NoAlerts   bool   // removed when it ends, or run by a hook: raises no alert
	PlaybackOf string // for a playback: the played session; "": a regular session
	Cwd        string
	ExitCode   *int
	Signal     string // signal that ended it
	Stopped    bool   // ended by request, with any status
	Started    time.Time
	Ended      time.Time // zero while it runs
	Size       string    // size policy: latest, largest, smallest, fixed

	Phase        Phase
	ShellCommand string    // command that its shell runs
	Since        time.Time // start of the phase
	LastExit     *int      // status of the shell's last command, if known
	FullScreen   bool      // a program uses the full screen
	// kind of input it waits for: password, confirm, menu, text, screen, prompt, approval; "" means none
	Needs            string
	Agent            string // the coding agent in it and its state, such as "claude working"; "" means unknown
	Progress         *Progress
	Due              time.Time // estimated end of the running command; zero: unknown
	Errors           int       // errors in the output
	Warnings         int
	FirstError       string    // with its position
	Draft            string    // mark of its draft of file changes, with their number, as in draft(3); "": none
	Bells            int       // bells since the viewer started
	UnreachableSince time.Time // when its host became unreachable, after which nothing is known; zero: reachable
}

// Phase is what a session's shell is doing.
type Phase uint8

// Phases.
const (
	PhaseUnknown Phase = iota
	PhasePrompt
	PhaseRunning
)

// Progress is a program's reported progress.
type Progress struct {
	State   string // normal, error, indeterminate, paused
	Percent int
}

// StateRunning is the state of a session that takes input.
const StateRunning = "running"

// RunTime returns how long a session ran or has been running.
func (s *Session) RunTime(now time.Time) time.Duration {
	if !s.Ended.IsZero() {
		now = s.Ended
	}
	return max(0, now.Sub(s.Started))
}

// HasFailed reports whether the session failed. After a request to end, a program may exit with any status.
func (s *Session) HasFailed() bool {
	return s.State != StateRunning && !s.Stopped && (s.ExitCode == nil || *s.ExitCode != 0)
}

// PromptFailed reports whether the last command of a shell at its prompt failed.
func (s *Session) PromptFailed() bool {
	return s.State == StateRunning && s.Phase == PhasePrompt && s.LastExit != nil && *s.LastExit != 0
}

// NeedsAnswer reports whether a session needs an answer from the user. Full-screen programs and nested shells at their prompt
// also wait for input, but do not need an answer.
func (s *Session) NeedsAnswer() bool {
	return s.State == StateRunning && s.Needs != "" && s.Needs != "screen" && s.Needs != "prompt"
}

// Update is the state of all sessions.
type Update struct {
	Sessions    []Session
	Approvals   []Approval      // pending, oldest first
	Ended       []EndedApproval // recently ended, newest last
	Unavailable string          // why the source is unreachable; Sessions is then unset
	Unreachable []Unreachable   // the unreachable ones of several hosts
}

// Unreachable is an unreachable host. The list contains its sessions as last known.
type Unreachable struct {
	Host         string // "" means the local host
	Why          string
	Since        time.Time
	NeverReached bool // the host never answered, so its sessions are unknown
}

// title returns a tab's title for the session: its name or, for an automatic name, its directory.
func (s *Session) title() string {
	if base := path.Base(s.Cwd); s.HasAutomaticName() && s.Cwd != "" && base != "/" {
		return s.WithHost(base)
	}
	return s.Name
}

// WithHost returns text prefixed with the session's host, if several are shown.
func (s *Session) WithHost(text string) string {
	if s.Host == "" {
		return text
	}
	return s.Host + "/" + text
}

// HasAutomaticName reports whether the session's name was generated from its program: sh, sh-2.
func (s *Session) HasAutomaticName() bool {
	program, _, _ := strings.Cut(s.Command, " ")
	rest, ok := strings.CutPrefix(strings.TrimPrefix(s.Name, s.Host+"/"), path.Base(program))
	return ok && program != "" && strings.Trim(rest, "-0123456789") == ""
}
