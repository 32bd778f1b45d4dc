package listing

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/longterm-dev/longterm/session/api"
)

// StateText says how a session stands: running, exited(1), exited(SIGKILL), lost.
func StateText(s *api.Session) string {
	switch {
	case s.ExitCode != nil:
		return fmt.Sprintf("%s(%d)", s.State, *s.ExitCode)
	case s.Signal != "":
		return fmt.Sprintf("%s(%s)", s.State, s.Signal)
	}
	return s.State
}

// Doing says what a session's shell does: its prompt, or a command and for how long.
func Doing(s *api.Session) string {
	switch sh := s.Shell; {
	case len(s.Left) > 0:
		return fmt.Sprintf("left %d running", len(s.Left))
	case s.State != "running":
		return "-"
	case s.Quarantine != "":
		return "quarantined"
	case len(s.Approvals) > 0:
		return "needs approval " + s.Approvals[0]
	case s.AgentIs != nil:
		return AgentText(s.AgentIs)
	case s.Needs.Asks():
		return "needs " + s.Needs.Kind
	case s.Needs != nil && s.Needs.Prompt && (sh == nil || sh.Phase == "unknown"):
		return "prompt"
	case sh == nil || sh.Phase == "unknown":
		return cmp.Or(activityText(s), "-")
	case sh.Incomplete:
		return "asks for more"
	case sh.Phase == "prompt":
		return "prompt"
	default:
		text, _, _ := strings.Cut(sh.Command, "\n")
		return strings.TrimSpace(Printable(Shorten(text, 30)) + " " + Elapsed(time.Since(sh.Since).Milliseconds()) + " " + activityText(s))
	}
}

// PidText is the number of a session's process, while it runs.
func PidText(s *api.Session) string {
	if s.State != "running" {
		return "-"
	}
	return fmt.Sprint(s.PID)
}

// AgentText says how the agent in a session is.
func AgentText(a *api.AgentState) string {
	return a.Agent + " " + strings.ReplaceAll(a.State, "_", " ")
}

// activityText says in a few words how a command gets on: progress, time left, errors.
func activityText(s *api.Session) string {
	var parts []string
	if p := s.Progress; p != nil && p.State != "indeterminate" {
		parts = append(parts, ProgressText(p))
	}
	if a := s.Activity; a != nil && a.Running {
		if a.ETAMS != nil {
			parts = append(parts, "ETA "+Elapsed(*a.ETAMS))
		}
		parts = append(parts, CountsText(a.Errors, a.Warnings)...)
	}
	return strings.Join(parts, " ")
}

// ProgressText says how far a command is.
func ProgressText(p *api.Progress) string {
	text := fmt.Sprintf("%d%%", p.Percent)
	switch p.State {
	case "indeterminate":
		text = "…"
	case "error", "paused":
		text += " " + p.State
	}
	return text
}

// CountsText are the counts that are not 0.
func CountsText(errors, warnings int) []string {
	var parts []string
	if errors > 0 {
		parts = append(parts, plural(errors, "error"))
	}
	if warnings > 0 {
		parts = append(parts, plural(warnings, "warning"))
	}
	return parts
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Elapsed is a duration for people.
func Elapsed(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%02dh", int(d.Hours())/24, int(d.Hours())%24)
}

// Printable is a text that moves no cursor and turns nothing round: control characters, and those of direction, are replaced.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
			return '\uFFFD'
		}
		return r
	}, s)
}

// Shorten cuts a text to n letters, the last of which then says so.
func Shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}
