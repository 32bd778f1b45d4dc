package bars

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

// Doing is what a session is about: the command its shell runs, the title that a program
// set, or what was started. A shell at its prompt needs no word.
func Doing(s *model.Session, title string) string {
	switch {
	case s.Past != "":
		return "as " + s.Past + " was"
	case s.Phase == model.PhaseRunning && s.Doing != "":
		first, _, _ := strings.Cut(s.Doing, "\n")
		return first
	case s.Phase == model.PhasePrompt:
		return ""
	case title != "":
		return title
	}
	return s.Command
}

// Label is what a session is called where there is little room. One that nobody named is called by what runs in it,
// or by its directory.
func Label(s *model.Session, home string) string {
	if !s.Automatic() {
		return s.Name
	}
	if what := Doing(s, ""); what != "" && s.Phase == model.PhaseRunning {
		return s.There(what)
	}
	if dir := ShortPath(s.Cwd, home, labelWidth); dir != "" && s.Phase == model.PhasePrompt {
		return s.There(dir)
	}
	return s.Name
}

// labelWidth is how much of a directory is a name.
const labelWidth = 20

// StateColor is the colour of how a session fares.
func StateColor(th *theme.Theme, s *model.Session) tcell.Color {
	switch {
	case s.Failed(), s.PromptFailed(), !s.CutOff.IsZero():
		return th.Bad
	case s.State != model.StateRunning:
		return th.Good
	case s.Wants():
		return th.Wants
	case s.Phase == model.PhasePrompt:
		return tcell.ColorDefault
	}
	return th.Busy
}

// AlertColor is the colour of what a person may want to know: what asks, what failed and what went well are told apart.
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

// Wide is the width from which on a state is told in all its words.
const Wide = 40

// roomyStatus is the width from which on errors, warnings and the time left are told in words.
const roomyStatus = 50

// wordyStatus is the width from which on an error is told.
const wordyStatus = 100

// StateText is how a session fares, in so many columns. Each state has one word; "exit" alone is the status of a
// shell's last command, "ended" is the session's own end.
func StateText(s *model.Session, width int) string {
	wide := width >= Wide
	long := func(text, short string) string {
		if wide {
			return text
		}
		return short
	}
	switch {
	case !s.CutOff.IsZero():
		return long("cut off", "cut")
	case s.Past != "" && s.State == model.StateRunning:
		return long("past", "")
	case s.Needs == model.NeedsApproval && s.Wants():
		return long("needs approval", "approve")
	case s.Wants():
		return long("needs "+s.Needs, "asks")
	case s.State == model.StateRunning && s.Agent != "" && wide:
		return s.Agent
	case s.PromptFailed():
		return fmt.Sprintf("exit %d", *s.LastExit)
	case s.State == model.StateRunning && s.Phase == model.PhasePrompt:
		return "idle"
	case s.State == model.StateRunning:
		return long("running", "") // the clock says it
	case s.ExitCode != nil:
		return long("ended, ", "") + fmt.Sprintf("exit %d", *s.ExitCode)
	case s.Signal != "":
		return long("ended, "+s.Signal, strings.TrimPrefix(s.Signal, "SIG"))
	}
	return s.State
}

// Elapsed is how long what is going on has been going on, from when it began. Idle shells have no clock: a
// row that changes every second draws the eye.
func Elapsed(s *model.Session, now time.Time) string {
	switch {
	case !s.CutOff.IsZero():
		return Duration(max(0, now.Sub(s.CutOff)))
	case s.State == model.StateRunning && s.Phase == model.PhasePrompt:
		return ""
	case s.State == model.StateRunning && s.Phase == model.PhaseRunning && !s.Since.IsZero():
		return Duration(max(0, now.Sub(s.Since)))
	}
	return Duration(s.Ran(now))
}

// barCells is how wide a bar of progress is.
const barCells = 8

// eighths are one eighth of a cell, which is too little to be seen, to seven.
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

// Duration is a span of time in few columns: 12s, 3m12s, 1h02m, 3d4h.
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

// Clock is a place in a recording: 1:05, 2:00:00.
func Clock(d time.Duration) string {
	sec := int(d / time.Second)
	if sec < 3600 {
		return fmt.Sprintf("%d:%02d", sec/60, sec%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", sec/3600, sec/60%60, sec%60)
}

// Count is a number of things: 1 error, 2 errors.
func Count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// ShortPath is a directory in few columns: ~ for home, then only its last parts.
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

// Cut is a text in at most so many columns, without characters that cannot be shown. What is left out is marked.
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
