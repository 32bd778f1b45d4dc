package notify

import (
	"strconv"
	"time"
)

// Asked is that a person is asked to allow something.
type Asked struct {
	Approval string    `json:"approval"` // id, as in A7
	Session  string    `json:"session"`  // id; empty: none yet
	Name     string    `json:"name"`
	Who      string    `json:"who"`
	Command  string    `json:"command"`
	Cwd      string    `json:"cwd"`
	Why      string    `json:"why"`
	Risk     string    `json:"risk"`
	Time     time.Time `json:"time"`
}

// Text tells it in one line.
func (a *Asked) Text() string {
	text := "? " + a.Approval + ": " + a.Command
	if a.Why != "" {
		text += " (" + a.Why + ")"
	}
	return oneLine(text, 120)
}

func (a *Asked) title() string { return oneLine("longterm asks: "+a.Who, 60) }

func (a *Asked) environ() []string {
	return []string{
		"LONGTERM_APPROVAL=" + a.Approval, "LONGTERM_NAME=" + a.Name, "LONGTERM_SESSION=" + a.Session, "LONGTERM_COMMAND=" + a.Command,
		"LONGTERM_CWD=" + a.Cwd, "LONGTERM_WHO=" + a.Who, "LONGTERM_WHY=" + a.Why, "LONGTERM_RISK=" + a.Risk,
	}
}

func (f *Finished) title() string { return f.Name }

func (f *Finished) environ() []string {
	exit := ""
	if f.ExitCode != nil {
		exit = strconv.Itoa(*f.ExitCode)
	}
	return []string{
		"LONGTERM_NAME=" + f.Name, "LONGTERM_SESSION=" + f.Session, "LONGTERM_COMMAND=" + f.Command,
		"LONGTERM_CWD=" + f.Cwd, "LONGTERM_EXIT=" + exit, "LONGTERM_SIGNAL=" + f.Signal, "LONGTERM_DURATION_MS=" + strconv.FormatInt(f.DurationMS, 10),
		"LONGTERM_ERRORS=" + strconv.Itoa(f.Errors), "LONGTERM_WARNINGS=" + strconv.Itoa(f.Warnings),
	}
}
