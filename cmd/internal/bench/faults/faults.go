//go:build unix

// Package faults measures how often `longterm why` names the cause of a failure.
//
//	projects/*.txtar → a good run in a shell → a fault → the failing run → why → is the cause in the first lines?
//
// A project is a txtar archive: "needs:" lists programs and "run:" the command in its comment, then its files. A file fault/NAME is
// a fault: "cause:" is a regular expression that matches a line with the cause, "session:" a line for the session's shell, "line:" a
// command in place of the project's; the rest is a script for bash in the project's directory. Each fault has its own good run.
package faults

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/output"
)

//go:embed projects/*.txtar
var archives embed.FS

// leadingLines is the number of leading lines of an answer in which the cause must appear.
const leadingLines = 5

// project is a build into which faults are injected.
type project struct {
	name   string
	needs  []string
	run    string
	files  []txtar.File
	faults []fault
}

// fault is a change that makes a project's command fail.
type fault struct {
	name          string
	cause         *regexp.Regexp // matches the line of `why` that names the cause
	session, line string         // line that sets up the session's shell; command to run in place of the project's
	script        string         // bash script that injects the fault
}

// parse reads a project.
func parse(name string, data []byte) (*project, error) {
	a := txtar.Parse(data)
	p := &project{name: name}
	for line := range strings.Lines(string(a.Comment)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "needs":
			p.needs = strings.Fields(value)
		case "run":
			p.run = value
		}
	}
	for _, f := range a.Files {
		kind, isFault := strings.CutPrefix(f.Name, "fault/")
		if !isFault {
			p.files = append(p.files, f)
			continue
		}
		one := fault{name: kind, line: p.run}
		for line := range strings.Lines(string(f.Data)) {
			key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch key {
			case "cause":
				re, err := regexp.Compile(value)
				if err != nil {
					return nil, fmt.Errorf("%s, fault %s: %w", name, kind, err)
				}
				one.cause = re
			case "session":
				one.session = value
			case "line":
				one.line = value
			default:
				one.script += line
			}
		}
		if one.cause == nil {
			return nil, fmt.Errorf("%s: fault %s names no cause", name, kind)
		}
		p.faults = append(p.faults, one)
	}
	if p.run == "" || len(p.faults) == 0 {
		return nil, fmt.Errorf("%s: no command or no fault", name)
	}
	return p, nil
}

// projects reads all projects.
func projects() ([]*project, error) {
	entries, err := archives.ReadDir("projects")
	if err != nil {
		return nil, err
	}
	var list []*project
	for _, e := range entries {
		data, err := archives.ReadFile("projects/" + e.Name())
		if err != nil {
			return nil, err
		}
		p, err := parse(strings.TrimSuffix(e.Name(), ".txtar"), data)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// report is the result of the measurement.
type report struct {
	Faults  int      `json:"faults"`
	Named   int      `json:"named"` // faults whose cause is in the first lines
	Percent float64  `json:"named_percent"`
	At      [7]int   `json:"at_line"` // count by the line that has the cause: 1 to 5, later, never; [0] is line 1
	Rows    []row    `json:"projects"`
	Missed  []string `json:"missed"`
	LeftOut []string `json:"left_out"` // programs that are not installed, faults without effect
}

// row is a project's line in the table.
type row struct {
	Project string `json:"project"`
	Faults  int    `json:"faults"`
	Named   int    `json:"named"`
}

// Command returns the command line of the measurement. find returns the path of the measured longterm.
func Command(p *output.Printer, find func() (string, error)) *cobra.Command {
	only, verbose := "", false
	c := &cobra.Command{
		Use: "why", Short: "Put faults into builds and check whether why names the cause", Args: cobra.NoArgs,
		Long: `Put faults into small builds (make, go, node, npm, Python, cargo, a shell script), run each before and after in a
separate instance, and count in how many the first five lines of "longterm why" have the cause. The causes are regular
expressions, given with the faults: see cmd/internal/bench/faults/projects.`,
	}
	c.Flags().StringVar(&only, "only", "", "only faults whose PROJECT/NAME contains this")
	c.Flags().BoolVar(&verbose, "answers", false, "print each answer")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		list, err := projects()
		if err != nil {
			return err
		}
		exe, err := find()
		if err != nil {
			return err
		}
		b, err := newBench(exe)
		if err != nil {
			return err
		}
		defer b.close()
		b.only = only
		if verbose {
			b.log = p.Stderr
		}
		for _, pr := range list {
			if err := b.measure(cmd.Context(), pr); err != nil {
				return err
			}
		}
		r := &b.report
		r.Percent = 100 * float64(r.Named) / float64(max(1, r.Faults))
		return p.Print(r, func(w io.Writer) { r.write(w) })
	}
	return p.JSONFlag(c)
}

func (r *report) write(w io.Writer) {
	for _, x := range r.Rows {
		fmt.Fprintf(w, "%-12s %3d of %3d causes in the first %d lines\n", x.Project, x.Named, x.Faults, leadingLines)
	}
	fmt.Fprintf(w, "%-12s %3d of %3d, %.0f%%; line 1 to %d: %v, later: %d, never: %d\n", "all", r.Named, r.Faults, r.Percent, leadingLines, r.At[:leadingLines], r.At[5], r.At[6])
	for _, m := range r.Missed {
		fmt.Fprintln(w, "missed:", m)
	}
	for _, m := range r.LeftOut {
		fmt.Fprintln(w, "left out:", m)
	}
}

// bench owns an instance and a temporary directory.
type bench struct {
	exe, dir string
	only     string
	log      io.Writer
	report   report
}

func newBench(exe string) (*bench, error) {
	dir, err := os.MkdirTemp("", "lt-why")
	if err != nil {
		return nil, err
	}
	return &bench{exe: exe, dir: dir, log: io.Discard}, nil
}

func (b *bench) close() {
	_, _, _ = b.longterm(context.Background(), "daemon", "stop", "--kill-sessions")
	_ = os.RemoveAll(b.dir)
}

// longterm runs a verb and returns its output and exit status.
func (b *bench) longterm(ctx context.Context, args ...string) (out string, status int, err error) {
	return b.command(ctx, b.dir, b.exe, args...)
}

func (b *bench) command(ctx context.Context, dir, name string, args ...string) (out string, status int, err error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "LONGTERM_DIR="+filepath.Join(b.dir, "lt"), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=bench", "GIT_AUTHOR_EMAIL=b@example.org",
		"GIT_COMMITTER_NAME=bench", "GIT_COMMITTER_EMAIL=b@example.org", "CARGO_TARGET_DIR="+filepath.Join(b.dir, "cargo"))
	both := &bytes.Buffer{}
	c.Stdout, c.Stderr = both, both
	err = c.Run()
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		return both.String(), ended.ExitCode(), nil
	}
	return both.String(), 0, err
}

// measure injects each fault into a project and records the answer's line of the cause.
func (b *bench) measure(ctx context.Context, p *project) error {
	for _, need := range p.needs {
		if _, err := exec.LookPath(need); err != nil {
			b.report.LeftOut = append(b.report.LeftOut, p.name+": "+need+" is not installed")
			return nil
		}
	}
	r := row{Project: p.name}
	for i := range p.faults {
		f := &p.faults[i]
		if !strings.Contains(p.name+"/"+f.name, b.only) {
			continue
		}
		at, answer, err := b.try(ctx, p, f)
		if err != nil {
			return fmt.Errorf("%s/%s: %w", p.name, f.name, err)
		}
		fmt.Fprintf(b.log, "--- %s/%s: line %d\n%s", p.name, f.name, at, answer)
		if at == 0 {
			b.report.LeftOut = append(b.report.LeftOut, p.name+"/"+f.name+": the run did not fail")
			continue
		}
		r.Faults++
		b.report.At[min(at, len(b.report.At))-1]++
		if at <= leadingLines {
			r.Named++
			continue
		}
		b.report.Missed = append(b.report.Missed, p.name+"/"+f.name)
	}
	if r.Faults > 0 {
		b.report.Rows = append(b.report.Rows, r)
	}
	b.report.Faults, b.report.Named = b.report.Faults+r.Faults, b.report.Named+r.Named
	return nil
}

// Values for causes that appear after leadingLines, or never.
const (
	later = leadingLines + 1
	never = leadingLines + 2
)

// try runs a project without and with a fault. It returns the answer's line that names the cause; 0: the fault has no
// effect.
func (b *bench) try(ctx context.Context, p *project, f *fault) (line int, answer string, err error) {
	dir := filepath.Join(b.dir, "work")
	defer os.RemoveAll(dir)
	if err := writeFiles(dir, p.files); err != nil {
		return 0, "", err
	}
	const name = "build" // neither names the fault
	for _, line := range []string{"git init -q .", "git add -A", "git commit -qm start"} {
		if out, status, err := b.command(ctx, dir, "bash", "-c", line); err != nil || status != 0 {
			return 0, "", fmt.Errorf("%s: %v %s", line, err, out)
		}
	}
	if out, status, err := b.longterm(ctx, "new", "-n", name, "--cwd", dir, "--", "bash", "--norc", "--noprofile"); err != nil || status != 0 {
		return 0, "", fmt.Errorf("new: %v %s", err, out)
	}
	defer func() { _, _, _ = b.longterm(ctx, "rm", "--force", name) }()
	if out, status, err := b.longterm(ctx, "exec", name, p.run); err != nil || status != 0 {
		return 0, "", fmt.Errorf("the good run ended with %d: %v %s", status, err, out)
	}
	if out, status, err := b.command(ctx, dir, "bash", "-c", f.script); err != nil || status != 0 {
		return 0, "", fmt.Errorf("the fault's script ended with %d: %v %s", status, err, out)
	}
	if f.session != "" {
		if out, status, err := b.longterm(ctx, "exec", name, f.session); err != nil || status != 0 {
			return 0, "", fmt.Errorf("%s: %v %s", f.session, err, out)
		}
	}
	if _, status, err := b.longterm(ctx, "exec", name, f.line); err != nil || status == 0 {
		return 0, "", err
	}
	answer, _, err = b.longterm(ctx, "why", name)
	if err != nil {
		return 0, "", err
	}
	lines := strings.Split(answer, "\n")
	switch i := slices.IndexFunc(lines, f.cause.MatchString); {
	case i < 0:
		return never, answer, nil
	case i < leadingLines:
		return i + 1, answer, nil
	}
	return later, answer, nil
}

func writeFiles(dir string, files []txtar.File) error {
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		mode := os.FileMode(0o644)
		if bytes.HasPrefix(f.Data, []byte("#!")) {
			mode = 0o755
		}
		if err := os.WriteFile(path, f.Data, mode); err != nil {
			return err
		}
	}
	return nil
}
