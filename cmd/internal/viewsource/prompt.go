//go:build unix

package viewsource

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view"
	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/prompt"
)

// promptLine is the prompt line at the bottom of the viewer. All its methods run on the viewer's goroutine; promptJobs
// run in the background.
type promptLine struct {
	all  multiHostSource
	desk view.FooterHost
	p    *prompt.Prompt
	open bool
	dir  string // directory whose history and files the prompt uses
	cols int
	jobs map[int]*promptJob // jobs by number of their prompt entry
	home string
}

func newPromptLine(all multiHostSource) *promptLine {
	home, _ := os.UserHomeDir() // without one paths stay long
	return &promptLine{
		all: all, home: home, jobs: map[int]*promptJob{},
		p: prompt.New(prompt.Options{NoColor: os.Getenv("NO_COLOR") != ""}),
	}
}

func (v *promptLine) Open(d view.FooterHost, as keymap.Action) {
	v.desk, v.open = d, true
	v.p.SetShell(as == "shell")
}

func (v *promptLine) Height(cols, rows int) int {
	if !v.open {
		return 0
	}
	return v.p.Height(cols, max(rows/2, 2))
}

func (v *promptLine) Draw(s view.Surface, session *model.Session) {
	v.cols = s.Cols
	v.followFocus(session)
	th := s.Theme()
	v.p.SetBackground(th.Bar)
	v.p.SetModeColors(func(prompt.Mode) tcell.Color { return th.Warn })
	v.p.SetColors(th.Good, th.Bad, th.Busy)
	if x, y := v.p.Draw(s, s.Cols, s.Rows); x >= 0 {
		s.Cursor(x, y)
	}
}

// followFocus sets the prompt's directory and target to those of the focused session.
func (v *promptLine) followFocus(session *model.Session) {
	v.p.SetTarget(v.aim(session))
	dir := v.directory(session)
	if dir == v.dir {
		return
	}
	v.dir = dir
	h, err := prompt.OpenHistory(filepath.Join(v.all.home().dirs.State, "prompt.jsonl"), dir)
	if err != nil {
		v.desk.ShowMessage(err.Error())
	}
	v.p.SetContext(h, &prompt.Local{Dir: dir, Path: os.Getenv("PATH"), Others: map[prompt.Subject]func() []string{
		prompt.Sessions: v.sessionNames,
		prompt.Themes:   func() []string { names, _ := v.desk.Themes(); return names },
		prompt.Layouts:  func() []string { return v.desk.Layouts() },
	}})
}

// directory returns where commands run: the session's directory, else the viewer's own. On a remote host the latter
// stands for the home directory.
func (v *promptLine) directory(s *model.Session) string {
	if s != nil && s.Cwd != "" {
		if src, _ := v.all.hostOf(s.ID); src.host != "" || isDirectory(s.Cwd) {
			return s.Cwd
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return "/"
	}
	return dir
}

// ready reports whether the session's shell is at its prompt and can run a line.
func ready(s *model.Session) bool {
	return s != nil && s.State == model.StateRunning && s.Phase == model.PhasePrompt
}

// aim returns where the prompt's commands run.
func (v *promptLine) aim(s *model.Session) prompt.Target {
	dir := v.directory(s)
	if rest, ok := strings.CutPrefix(dir, v.home); ok && v.home != "" {
		dir = "~" + rest
	}
	a := prompt.Target{In: "in " + dir, ShellHint: "a command; it runs in a new shell in " + dir, MessageHint: "/ starts a command, ! a shell command"}
	if ready(s) {
		a.In, a.ShellHint = "in "+s.Name, "a command; it runs in the shell of "+s.Name
	}
	if s != nil && s.State == model.StateRunning {
		a.To, a.MessageHint = "to "+s.Name, "a line; it is typed into "+s.Name+", with Enter"
	}
	return a
}

func (v *promptLine) Input(in view.FooterInput, session *model.Session) bool {
	v.followFocus(session)
	switch {
	case in.Key != nil:
		for _, a := range v.p.Press(*in.Key) {
			v.do(a, session)
		}
	case in.Paste != nil:
		v.p.Paste(*in.Paste)
	case in.Mouse != nil:
		v.p.Mouse(in.Mouse)
	}
	return true
}

func (v *promptLine) do(a prompt.Action, session *model.Session) {
	switch a.Kind {
	case prompt.Run:
		v.run(a.ID, a.Text, session)
	case prompt.Cancel:
		if j := v.jobs[a.ID]; j != nil {
			j.cancel()
		}
	case prompt.Send:
		if !v.desk.Type(a.Text) {
			v.p.Show("nothing is sent: no session here takes input")
		}
	case prompt.Slash:
		v.slash(a.Slash, a.Text)
	case prompt.Leave:
		v.open = false
	case prompt.Warn:
		v.desk.ShowMessage(a.Text)
	}
}

func (v *promptLine) sessionNames() []string {
	var names []string
	all, _ := v.desk.Sessions()
	for i := range all {
		if all[i].State == model.StateRunning {
			names = append(names, all[i].Name)
		}
	}
	return names
}

// slash runs a slash command.
func (v *promptLine) slash(name, args string) {
	switch name {
	case "version":
		v.p.Show("longterm " + v.all.home().version())
	case "sessions":
		v.sessions(args)
	case "mcp":
		v.p.Show("agents use longterm over MCP: set up `longterm mcp` as their server; see `longterm mcp --help`")
	case "reload":
		v.reload()
	case "theme":
		v.theme(args)
	case "layout":
		v.layout(args)
	}
}

func (v *promptLine) sessions(name string) {
	all, focus := v.desk.Sessions()
	var b strings.Builder
	for i := range all {
		s := &all[i]
		if name != "" && s.Name == name {
			v.desk.Go(s.ID)
			return
		}
		if s.State != model.StateRunning {
			continue
		}
		sign := " "
		if s.ID == focus {
			sign = "▸"
		}
		what := s.Command
		if s.ShellCommand != "" && s.Phase == model.PhaseRunning {
			what = s.ShellCommand
		}
		fmt.Fprintf(&b, "%s %-14s %s\n", sign, s.Name, what)
	}
	switch {
	case name != "":
		v.p.Show("no session is called " + name)
	case b.Len() == 0:
		v.p.Show("no session runs")
	default:
		v.p.Show(b.String())
	}
}

// reload applies the current configuration. The daemon notices changes by itself.
func (v *promptLine) reload() {
	l, err := v.all.home().options.read()
	if err == nil {
		err = v.desk.Reconfigure(l)
	}
	if err != nil {
		v.p.Show("✗ the configuration is not taken:\n" + err.Error())
		return
	}
	v.p.Show("✓ the configuration is in effect: " + v.all.home().dirs.ConfigFile())
}

func (v *promptLine) theme(name string) {
	names, now := v.desk.Themes()
	switch {
	case name == "":
		v.p.Show("theme: " + now + "; there are " + strings.Join(names, ", "))
	case !v.desk.SetTheme(name):
		v.p.Show("no theme is called " + name + "; there are " + strings.Join(names, ", "))
	}
}

func (v *promptLine) layout(name string) {
	switch names := v.desk.Layouts(); {
	case name != "":
		v.desk.SetLayout(name)
	case len(names) == 0:
		v.p.Show("no layout was saved; " + v.desk.Chord("layout-save") + " saves one")
	default:
		v.p.Show("layouts: " + strings.Join(names, ", "))
	}
}
