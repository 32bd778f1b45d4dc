package statusbar

import (
	"fmt"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/theme"
)

// Activity returns the activity of a session: the command that its shell runs, the program's title, or the started
// command. It returns "" for a shell at its prompt.
func Activity(s *model.Session, title string) string {
	switch {
	case s.PlaybackOf != "":
		return "as " + s.PlaybackOf + " was"
	case s.Phase == model.PhaseRunning && s.ShellCommand != "":
		first, _, _ := strings.Cut(s.ShellCommand, "\n")
		return first
	case s.Phase == model.PhasePrompt:
		return ""
	case title != "":
		return title
	}
	return s.Command
}

// Label returns a session's short label: its name, else the running program or the directory.
func Label(s *model.Session, home string) string {
	if !s.HasAutomaticName() {
		return s.Name
	}
	if what := Activity(s, ""); what != "" && s.Phase == model.PhaseRunning {
		return s.WithHost(what)
	}
	if dir := ShortPath(s.Cwd, home, labelWidth); dir != "" && s.Phase == model.PhasePrompt {
		return s.WithHost(dir)
	}
	return s.Name
}

// labelWidth is the longest label made from a directory.
const labelWidth = 20

// StateColor returns the colour of a session's state.
func StateColor(th *theme.Theme, s *model.Session) tcell.Color {
	switch {
	case s.HasFailed(), s.PromptFailed(), !s.UnreachableSince.IsZero():
		return th.Bad
	case s.State != model.StateRunning:
		return th.Good
	case s.NeedsAnswer():
		return th.Wants
	case s.Phase == model.PhasePrompt:
		return tcell.ColorDefault
	}
	return th.Busy
}

// AlertColor returns the colour of an alert: prompts, failures and successes differ.
func AlertColor(th *theme.Theme, k model.AlertKind) tcell.Color {
	switch k {
	case model.AlertFailed:
		return th.Bad
	case model.AlertFinished:
		return th.Good
	case model.AlertBell:
		return th.Warn
	}
	return th.Wants
}

// Wide is the smallest width for the long form of a state.
const Wide = 40

// roomyStatus is the smallest width for errors, warnings and the remaining time in words.
const roomyStatus = 50

// wordyStatus is the smallest width for an error's text.
const wordyStatus = 100

// StateText returns a session's state in width columns. Each state has one word: "exit" is the status of a shell's last
// command, "ended" the session's own end.
func StateText(s *model.Session, width int) string {
	wide := width >= Wide
	long := func(text, short string) string {
		if wide {
			return text
		}
		return short
	}
	switch {
	case !s.UnreachableSince.IsZero():
		return long("cut off", "cut")
	case s.PlaybackOf != "" && s.State == model.StateRunning:
		return long("past", "")
	case s.Needs == model.NeedsApproval && s.NeedsAnswer():
		return long("needs approval", "approve")
	case s.NeedsAnswer():
		return long("needs "+s.Needs, "asks")
	case s.State == model.StateRunning && s.Agent != "" && wide:
		return s.Agent
	case s.PromptFailed():
		return fmt.Sprintf("exit %d", *s.LastExit)
	case s.State == model.StateRunning && s.Phase == model.PhasePrompt:
		return "idle"
	case s.State == model.StateRunning:
		return long("running", "") // the clock shows it
	case s.ExitCode != nil:
		return long("ended, ", "") + fmt.Sprintf("exit %d", *s.ExitCode)
	case s.Signal != "":
		return long("ended, "+s.Signal, strings.TrimPrefix(s.Signal, "SIG"))
	}
	return s.State
}

// Elapsed returns how long the current activity has lasted. It is "" for idle shells, because a row that changes every
// second distracts.
func Elapsed(s *model.Session, now time.Time) string {
	switch {
	case !s.UnreachableSince.IsZero():
		return Duration(max(0, now.Sub(s.UnreachableSince)))
	case s.State == model.StateRunning && s.Phase == model.PhasePrompt:
		return ""
	case s.State == model.StateRunning && s.Phase == model.PhaseRunning && !s.Since.IsZero():
		return Duration(max(0, now.Sub(s.Since)))
	}
	return Duration(s.RunTime(now))
}

// barCells is the width of a progress bar.
const barCells = 8

// eighths holds the characters for zero to seven eighths of a cell; one eighth is shown as blank.
const eighths = " ▎▍▌▋▊▉"

func progressText(p *model.Progress, wide bool) string {
	if p.State == "indeterminate" {
		return ""
	}
	percent := min(max(p.Percent, 0), 100)
	text := fmt.Sprintf("%d%%", percent)
	switch p.State {
	case "error":
		text += " error"
	case "paused":
		text += " paused"
	}
	if !wide {
		return text
	}
	full := percent * barCells * 8 / 100
	bar := strings.Repeat("█", full/8)
	if part := full % 8; part > 0 {
		bar += string([]rune(eighths)[part-1])
	}
	return "▕" + bar + strings.Repeat(" ", barCells-(full+7)/8) + "▏ " + text
}

// Duration formats a duration in few columns: 12s, 3m12s, 1h02m, 3d4h.
func Duration(d time.Duration) string {
	sec := int(d / time.Second)
	switch {
	case sec < 60:
		return fmt.Sprintf("%ds", sec)
	case sec < 3600:
		return fmt.Sprintf("%dm%02ds", sec/60, sec%60)
	case sec < 48*3600:
		return fmt.Sprintf("%dh%02dm", sec/3600, sec/60%60)
	}
	return fmt.Sprintf("%dd%dh", sec/86400, sec/3600%24)
}

// Clock formats a position in a recording: 1:05, 2:00:00.
func Clock(d time.Duration) string {
	sec := int(d / time.Second)
	if sec < 3600 {
		return fmt.Sprintf("%d:%02d", sec/60, sec%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", sec/3600, sec/60%60, sec%60)
}

// Count formats a count: 1 error, 2 errors.
func Count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// ShortPath shortens a directory: ~ for home, then only its last parts.
func ShortPath(dir, home string, width int) string {
	if rest, ok := strings.CutPrefix(dir, home); ok && home != "" && home != "/" && (rest == "" || rest[0] == '/') {
		dir = "~" + rest
	}
	for canvas.TextWidth(dir) > width {
		_, rest, ok := strings.Cut(strings.TrimPrefix(dir, "…/"), "/")
		if !ok || rest == "" {
			break
		}
		dir = "…/" + rest
	}
	return dir
}

// Cut truncates a text to w columns, marks the cut and removes unprintable characters.
func Cut(text string, w int) string {
	text = canvas.Printable(text)
	if canvas.TextWidth(text) <= w {
		return text
	}
	if w < 1 {
		return ""
	}
	var b strings.Builder
	used := 0
	for g := uniseg.NewGraphemes(text); g.Next() && used+g.Width() < w; used += g.Width() {
		b.WriteString(g.Str())
	}
	return b.String() + "…"
}
