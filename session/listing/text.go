package listing

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/longterm-dev/longterm/session/api"
)

// StateText returns a session's state: running, exited(1), exited(SIGKILL), lost.
func StateText(s *api.Session) string {
	switch {
	case s.ExitCode != nil:
		return fmt.Sprintf("%s(%d)", s.State, *s.ExitCode)
	case s.Signal != "":
		return fmt.Sprintf("%s(%s)", s.State, s.Signal)
	}
	return s.State
}

// Doing returns what a session's shell does: its prompt, or a command and its duration.
func Doing(s *api.Session) string { return doingText(s, activityText(s)) }

// doingOnTerminal returns Doing with a progress bar, and with the first error of a command that has ended.
func doingOnTerminal(s *api.Session) string {
	activity := activityText(s)
	if p := s.Progress; p != nil && p.State != "indeterminate" {
		done := max(0, min(p.Percent, 100)) * barCells / 100
		activity = "[" + strings.Repeat("#", done) + strings.Repeat("-", barCells-done) + "] " + activity
	}
	text := doingText(s, activity)
	if command := doingText(s, ""); activity != "" && activity[0] == '[' && strings.HasSuffix(text, activity) && command != "-" {
		return strings.TrimSpace(activity) + " " + command // the bar is not truncated
	}
	a := s.Activity
	if a == nil || a.Running || a.FirstError == nil || text != "-" && text != "prompt" {
		return text
	}
	place := a.FirstError.File
	if place != "" && a.FirstError.Line > 0 {
		place += fmt.Sprintf(":%d", a.FirstError.Line)
	}
	if place != "" {
		place += ": "
	}
	first, _, _ := strings.Cut(a.FirstError.Message, "\n")
	return strings.TrimPrefix(text+"; ", "-; ") + "error " + Printable(Shorten(place+first, 60))
}

// barCells is the width of a progress bar.
const barCells = 8

// doingText describes what a session's shell does. activity describes its command's progress.
func doingText(s *api.Session, activity string) string {
	switch sh := s.Shell; {
	case len(s.LeftoverPIDs) > 0:
		return fmt.Sprintf("left %d running", len(s.LeftoverPIDs))
	case s.State != "running":
		return "-"
	case s.Quarantine != "":
		return "quarantined"
	case len(s.Approvals) > 0:
		return "needs approval " + s.Approvals[0]
	case s.AgentState != nil:
		return AgentText(s.AgentState)
	case s.Needs.NeedsAnswer():
		return "needs " + s.Needs.Kind
	case s.Needs != nil && s.Needs.Prompt && (sh == nil || sh.Phase == "unknown"):
		return "prompt"
	case sh == nil || sh.Phase == "unknown":
		return cmp.Or(activity, "-")
	case sh.Incomplete:
		return "needs more input"
	case sh.Phase == "prompt":
		return "prompt"
	default:
		text, _, _ := strings.Cut(sh.Command, "\n")
		return strings.TrimSpace(Printable(Shorten(text, 30)) + " " + Elapsed(time.Since(sh.Since).Milliseconds()) + " " + activity)
	}
}

// PidText returns the pid of a session's process while it runs.
func PidText(s *api.Session) string {
	if s.State != "running" {
		return "-"
	}
	return fmt.Sprint(s.PID)
}

// AgentText returns the state of the agent in a session.
func AgentText(a *api.AgentState) string {
	return a.Agent + " " + strings.ReplaceAll(a.State, "_", " ")
}

// activityText describes a command's progress: progress, time left, errors.
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

// portsShown is the number of ports in PortsText.
const portsShown = 2

// PortsText returns the TCP ports of a session in a few characters, as in ":3000 :9229 +1", or "".
func PortsText(s *api.Session) string {
	var parts []string
	seen := map[int]bool{0: true}
	for i := range s.Ports {
		if p := s.Ports[i].Port; !seen[p] {
			seen[p] = true
			parts = append(parts, fmt.Sprintf(":%d", p))
		}
	}
	if more := len(parts) - portsShown; more > 0 {
		parts = append(parts[:portsShown], fmt.Sprintf("+%d", more))
	}
	return strings.Join(parts, " ")
}

// DraftMark returns the mark of a session's draft with the number of changes, as in "draft(3)". It returns "" without
// a draft, or if the session ended without changes.
func DraftMark(s *api.Session) string {
	switch d := s.Draft; {
	case d == nil:
		return ""
	case d.Changes == nil:
		return "draft"
	case *d.Changes > 0 || d.State == "open":
		return fmt.Sprintf("draft(%d)", *d.Changes)
	}
	return ""
}

// withDraft appends the mark of the session's draft to doing.
func withDraft(s *api.Session, doing string) string {
	switch mark := DraftMark(s); {
	case mark == "":
		return doing
	case doing == "-":
		return mark
	default:
		return doing + " " + mark
	}
}

// PortText describes a port in one line.
func PortText(p *api.Port) string {
	text := p.Text()
	if p.Program != "" {
		text += fmt.Sprintf(" (%s, pid %d)", p.Program, p.PID)
	} else {
		text += fmt.Sprintf(" (pid %d)", p.PID)
	}
	if p.Inside {
		text += " inside its sandbox"
	}
	return Printable(text)
}

// ProgressText formats a command's progress.
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

// CountsText formats the non-zero counts.
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

// plural returns a count with its noun.
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Elapsed formats a duration for users.
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

// Printable replaces control characters and direction marks in a text.
func Printable(s string) string {
	if isASCII(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
			return '\uFFFD'
		}
		return r
	}, s)
}

// Shorten truncates a text to n characters, the last of which is then an ellipsis.
func Shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

// Size returns a number of bytes in units of 1000, without a fraction from 10 on: 12 bytes, 1.8 kB, 83 MB.
func Size(n int64) string {
	units := []string{"bytes", "kB", "MB", "GB", "TB", "PB", "EB"}
	f, u := float64(n), 0
	for ; f >= 999.5 && u < len(units)-1; u++ {
		f /= 1000
	}
	if u > 0 && f < 9.95 {
		return fmt.Sprintf("%.1f %s", f, units[u])
	}
	return fmt.Sprintf("%.0f %s", f, units[u])
}
