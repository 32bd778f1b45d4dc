// Package integrate is `longterm agent install`: it shows what a program's configuration would become, asks, and writes
// it. What belongs into which file is session/integrations'.
package integrate

import (
	"bufio"
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
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/integrations"
)

// Run is one call of the verb.
type Run struct {
	Program   string
	Undo, Yes bool
	DryRun    bool
	Stdin     io.Reader
	Terminal  bool // somebody can be asked
	Printer   *output.Printer
	JSON      bool
}

// Report is what is printed with --json.
type Report struct {
	Program string `json:"program"`
	Undo    bool   `json:"undo,omitempty"`
	Changed bool   `json:"changed"`
	Written bool   `json:"written"`
	Files   []File `json:"files"`
	Note    string `json:"note,omitempty"`
}

// File is a file of the report.
type File struct {
	Path   string   `json:"path"`
	State  string   `json:"state"` // created, changed, removed, unchanged
	Diff   string   `json:"diff,omitempty"`
	Backup string   `json:"backup,omitempty"`
	Kept   []string `json:"kept,omitempty"`
}

// Do plans, shows, asks and writes.
func (r *Run) Do() error {
	program, err := integrations.For(r.Program)
	if err != nil {
		return exit.Usage(err)
	}
	place, err := Here()
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
		if _, err := os.Stat(changes[i].Backup()); err == nil && changes[i].Changed() {
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

// Here is the user who calls.
func Here() (integrations.Place, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return integrations.Place{}, fmt.Errorf("%w; set HOME", err)
	}
	return integrations.Place{Home: home, Getenv: os.Getenv, OS: runtime.GOOS, Command: commandName(), Skill: integrations.SkillText}, nil
}

func (r *Run) ask(report *Report, title string) error {
	if r.JSON || !r.Terminal {
		return exit.Usagef("nobody can be asked here: look at it with --dry-run, then give --yes")
	}
	report.write(r.Printer.Stdout, title)
	fmt.Fprint(r.Printer.Stdout, "\nWrite this? [y/N] ")
	answer, _ := bufio.NewReader(r.Stdin).ReadString('\n') // without an end it is no
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return exit.With(api.ExitFailure, errors.New("nothing was changed"))
	}
	return nil
}

// commandName is how programs call longterm: by its name, where that finds this executable, and by its path otherwise.
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
	if !c.Changed() {
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

// write shows what would become of each file.
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
		fmt.Fprintf(w, "there is nothing of longterm in the configuration of %s\n", title)
	} else if !r.Changed {
		fmt.Fprintf(w, "%s has all of it already\n", title)
	}
}

func (r *Report) writeDone(w io.Writer, title string) {
	if r.Undo {
		fmt.Fprintf(w, "longterm is taken out of %s\n", title)
		return
	}
	fmt.Fprintf(w, "longterm is put into %s; start it again to use it. `longterm agent install %s --undo` takes it out\n", title, r.Program)
	if r.Note != "" {
		fmt.Fprintln(w, r.Note)
	}
}
