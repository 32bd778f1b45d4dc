// Package integrate implements `agent install`: it shows the changes to an agent program's configuration files, asks
// the user to confirm, and writes them with a backup. Package session/integrations computes the changes.
package integrate

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/integrations"
)

// Run holds the parameters of one call of the verb.
type Run struct {
	Program   string
	Undo, Yes bool
	DryRun    bool
	Stdin     io.Reader
	Terminal  bool // input is a terminal, so the user can confirm
	Printer   *output.Printer
	JSON      bool
}

// Report is the verb's output with --json.
type Report struct {
	Program string `json:"program"`
	Undo    bool   `json:"undo,omitempty"`
	Changed bool   `json:"changed"`
	Written bool   `json:"written"`
	Files   []File `json:"files"`
	Note    string `json:"note,omitempty"`
}

// File describes a changed file in the report.
type File struct {
	Path   string   `json:"path"`
	State  string   `json:"state"` // created, changed, removed, unchanged
	Diff   string   `json:"diff,omitempty"`
	Backup string   `json:"backup,omitempty"`
	Kept   []string `json:"kept,omitempty"` // settings of the user that were left unchanged
}

// Do computes the changes, shows them, prompts for confirmation and writes them.
func (r *Run) Do() error {
	program, err := integrations.For(r.Program)
	if err != nil {
		return exit.Usage(err)
	}
	place, err := LocalPlace()
	if err != nil {
		return err
	}
	changes, err := program.Plan(place, r.Undo)
	if err != nil {
		return api.Errorf(api.CodeInvalid, "%v", err)
	}
	report := Report{Program: program.Name, Undo: r.Undo, Files: []File{}}
	if !r.Undo {
		report.Note = program.Note
	}
	for i := range changes {
		f := describe(&changes[i])
		report.Changed = report.Changed || f.State != "unchanged"
		report.Files = append(report.Files, f)
	}
	if !report.Changed || r.DryRun {
		return r.Printer.Print(report, func(w io.Writer) { report.write(w, program.Title) })
	}
	if !r.Yes {
		if err := r.ask(&report, program.Title); err != nil {
			return err
		}
	}
	for i := range changes {
		if err := changes[i].Apply(); err != nil {
			e := api.Errorf(api.CodeStorage, "%v", err)
			if i > 0 {
				return e.WithHint("the files before it in the list are written: `longterm agent install %s --undo` takes all out", program.Name)
			}
			return e
		}
		if _, err := os.Stat(changes[i].Backup()); err == nil && changes[i].HasChanged() {
			report.Files[i].Backup = changes[i].Backup()
		}
	}
	report.Written = true
	return r.Printer.Print(report, func(w io.Writer) {
		if r.Yes {
			report.write(w, program.Title)
		}
		report.writeDone(w, program.Title)
	})
}

// LocalPlace returns where configuration is looked up for this user: home directory, environment, and command name.
func LocalPlace() (integrations.Place, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return integrations.Place{}, fmt.Errorf("%w; set HOME", err)
	}
	return integrations.Place{Home: home, Getenv: os.Getenv, OS: runtime.GOOS, Command: commandName(), Skill: integrations.SkillText}, nil
}

func (r *Run) ask(report *Report, title string) error {
	if r.JSON || !r.Terminal {
		return exit.Usagef("no terminal to confirm on: review the change with --dry-run, then use --yes")
	}
	report.write(r.Printer.Stdout, title)
	if !termio.Confirm(r.Stdin, r.Printer.Stdout, "\nWrite this?") {
		return exit.With(api.ExitFailure, errors.New("not changed"))
	}
	return nil
}

// commandName returns how other programs call longterm: by name if PATH finds this executable, else by path.
func commandName() string {
	self, err := os.Executable()
	if err != nil {
		return "longterm"
	}
	if found, err := exec.LookPath("longterm"); err == nil {
		a, errA := os.Stat(found)
		b, errB := os.Stat(self)
		if errA == nil && errB == nil && os.SameFile(a, b) && filepath.IsAbs(found) {
			return "longterm"
		}
	}
	return self
}

func describe(c *integrations.Change) File {
	f := File{Path: c.Path, State: "unchanged", Kept: c.Kept}
	if !c.HasChanged() {
		return f
	}
	switch {
	case c.Old == nil:
		f.State = "created"
	case c.New == nil:
		f.State = "removed"
	default:
		f.State = "changed"
	}
	f.Diff = Diff(string(c.Old), string(c.New))
	return f
}

// write prints the planned changes of each file.
func (r *Report) write(w io.Writer, title string) {
	for i := range r.Files {
		f := &r.Files[i]
		fmt.Fprintf(w, "%s: %s\n", output.Printable(f.Path), f.State)
		for _, kept := range f.Kept {
			fmt.Fprintf(w, "  %s\n", kept)
		}
		for line := range strings.Lines(f.Diff) {
			fmt.Fprintf(w, "  %s\n", output.Printable(strings.TrimRight(line, "\r\n")))
		}
	}
	if !r.Changed && r.Undo {
		fmt.Fprintf(w, "%s: not set up for longterm\n", title)
	} else if !r.Changed {
		fmt.Fprintf(w, "%s: already set up\n", title)
	}
}

func (r *Report) writeDone(w io.Writer, title string) {
	if r.Undo {
		fmt.Fprintf(w, "%s: longterm removed\n", title)
		return
	}
	fmt.Fprintf(w, "%s: set up for longterm; restart it to use longterm. Undo with `longterm agent install %s --undo`\n", title, r.Program)
	if r.Note != "" {
		fmt.Fprintln(w, r.Note)
	}
}
