//go:build unix

// Package cirun reports a command to the CI system that runs it: `longterm run --ci`.
//
//	environment → System;  output → diagnostics → annotations (annotate.go), summary, code quality, JUnit (report.go)
//
// The command's output passes unchanged, with secrets masked. All reports are made of masked output, because they are
// kept and shown to others.
package cirun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/sourcepos"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/output/diagnostics"
)

// Flags are those of `run` for CI jobs.
type Flags struct {
	On     bool
	Report string // file of the code quality report
	JUnit  string // file of the tests' results
}

// Check rejects flags without --ci.
func (f *Flags) Check() error {
	if !f.On && (f.Report != "" || f.JUnit != "") {
		return exit.Usagef("--ci-report and --junit require --ci")
	}
	return nil
}

// System is a kind of CI system.
type System string

// Kinds of systems.
const (
	GitHub System = "github" // and those that read its commands: Forgejo, Gitea
	GitLab System = "gitlab"
	Other  System = "other"
)

// Env is what the CI system passes in its environment.
type Env struct {
	System  System
	Root    string // directory of the checked out files; empty if unknown
	Summary string // file that takes the job's summary, if the system has one
}

// ReadEnv recognizes the CI system.
func ReadEnv(getenv func(string) string) Env {
	switch {
	case getenv("GITHUB_ACTIONS") == "true":
		return Env{GitHub, getenv("GITHUB_WORKSPACE"), getenv("GITHUB_STEP_SUMMARY")}
	case getenv("GITLAB_CI") != "":
		return Env{System: GitLab, Root: getenv("CI_PROJECT_DIR")}
	}
	return Env{System: Other}
}

// Reporter reports one command.
type Reporter struct {
	Flags
	Env
	Client *client.Client // receives masked output
	Stderr io.Writer
	Line   string // the command as given
	Job    string
	Host   string
}

// section is the name of GitLab's collapsible section around the output.
const section = "longterm_run"

// OpenSection starts the section of the output, where the system has sections.
func (r *Reporter) OpenSection(now time.Time) {
	if r.System == GitLab {
		fmt.Fprintf(r.Stderr, "\x1b[0Ksection_start:%d:%s\r\x1b[0K%s\n", now.Unix(), section, output.Printable(output.Shorten(r.Line, 200)))
	}
}

// maxText bounds the output that is read for errors: its end.
const maxText = 4 << 20

// readTime bounds the report's requests after an interruption.
const readTime = 30 * time.Second

// End reports how the command ended. ended is the error that run exits with, and End's unless a report cannot be written.
func (r *Reporter) End(ctx context.Context, ended error) error {
	if r.System == GitLab {
		fmt.Fprintf(r.Stderr, "\x1b[0Ksection_end:%d:%s\r\x1b[0K\n", time.Now().Unix(), section)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTime)
	defer cancel()
	f, err := r.read(ctx)
	if err == nil {
		err = r.write(f)
	}
	switch {
	case err == nil:
		return ended
	case ended == nil:
		return exit.With(api.ExitOwnFailure, fmt.Errorf("CI report: %w", err))
	}
	fmt.Fprintf(r.Stderr, "longterm: CI report: %v\n", err)
	return ended
}

// findings is what is reported of a command.
type findings struct {
	line     string
	job      api.Job
	result   diagnostics.Result
	errors   []sourcepos.Place // files are relative to the root where possible
	warnings []sourcepos.Place
}

// read reads the command's result, and its errors from the output.
func (r *Reporter) read(ctx context.Context) (*findings, error) {
	j, err := r.Client.Job(ctx, r.Job, 0)
	if err != nil {
		return nil, err
	}
	f := &findings{line: r.Line, job: j}
	s := r.Client.Session(j.Session)
	info, err := s.Info(ctx)
	if missing := (*api.Error)(nil); errors.As(err, &missing) && missing.Code == api.CodeNotFound || j.Session == "" {
		return f, nil // it was not started
	}
	if err != nil {
		return nil, err
	}
	from := info.Output.Start
	if end := info.Output.End; end > from+maxText {
		from = end - maxText
	}
	text, err := s.Text(ctx, client.TextQuery{From: from, MaxOutput: maxText})
	if err != nil {
		return nil, err
	}
	f.result = diagnostics.Parse(r.Line, info.ExitCode, text.Text)
	root := r.Root
	if root == "" {
		root = info.Cwd
	}
	f.errors = within(root, sourcepos.Of(&f.result, info.Cwd, r.Host))
	f.warnings = within(root, sourcepos.WarningsOf(&f.result, info.Cwd, r.Host))
	return f, nil
}

// write prints the annotations and writes the files.
func (r *Reporter) write(f *findings) error {
	if f.job.Session != "" {
		fmt.Fprintf(r.Stderr, "longterm: %s; recording kept: `longterm output %s`, `longterm play %[2]s`\n", f.status(), api.ShortID(f.job.ID))
	}
	if _, err := io.WriteString(r.Stderr, annotations(r.System, f)); err != nil {
		return err
	}
	var err error
	if r.Summary != "" {
		err = appendTo(r.Summary, summary(f))
	}
	if r.Report != "" {
		err = errors.Join(err, writeQuality(r.Report, f))
	}
	if r.JUnit != "" {
		err = errors.Join(err, writeJUnit(r.JUnit, f))
	}
	return err
}

// hasFailed reports whether the command did anything but exit with 0.
func (f *findings) hasFailed() bool {
	res := f.job.Result
	return res == nil || res.ExitCode == nil || *res.ExitCode != 0
}

// status returns how the command ended, and after how long.
func (f *findings) status() string {
	how, res := "status unknown", f.job.Result
	switch {
	case res == nil:
		how = cmp.Or(f.job.State, how)
	case res.TimedOut == "wall" || res.TimedOut == "idle":
		how = "timeout"
	case res.ExitCode != nil:
		how = "exit status " + strconv.Itoa(*res.ExitCode)
	case res.Signal != "":
		how = "signal " + res.Signal
	case res.State != "":
		how = res.State
	}
	took := time.Duration(f.job.DurationMS) * time.Millisecond
	if took > time.Second {
		took = took.Round(100 * time.Millisecond)
	}
	return fmt.Sprintf("%s after %s", how, took)
}

// appendTo appends to a file, which others may append to as well.
func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	return errors.Join(err, f.Close())
}
