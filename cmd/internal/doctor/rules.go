//go:build unix

package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/policy/rulebook"
)

// checkRules checks the user's rule file, and the rules that the daemon uses.
func checkRules(ctx context.Context, d *Doctor) finding {
	path := d.Dirs.PolicyFile()
	f, _, err := rulebook.ReadFile(path)
	if said := projectsWrong(d); said != "" && (err == nil || errors.Is(err, fs.ErrNotExist)) {
		return fail("fix it; test it with `longterm policy test FILE`", "%s", said)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return ok("%s: not found; using the presets", path)
	}
	if err != nil {
		return fail("fix it, and test it with `longterm policy test "+path+"`; until then the last valid version applies, or agents may only read",
			"%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	if st, err := d.Quiet.Status(ctx); err == nil && len(st.Rules.Problems) > 0 {
		return warn("run `longterm doctor` again in a moment", "%s: valid, but not applied yet by the daemon", path)
	}
	var elsewhere []policy.Preset
	// otherwise the configuration's check reports the error
	if c, _, err := config.ReadFile(d.Dirs.ConfigFile()); err == nil {
		elsewhere = []policy.Preset{policy.Preset(c.Settings.Policy.Default), policy.Preset(c.Settings.Policy.Agents)}
	}
	if odd := rulebook.Lint(f, false, time.Now(), elsewhere...); len(odd) > 0 {
		return warn("see `longterm policy test "+path+"`", "%s: some rules never decide", path)
	}
	return ok("%s: valid", path)
}

// projectsWrong returns the problems of rule files of the current directory's projects, or "".
func projectsWrong(d *Doctor) string {
	cwd, err := os.Getwd()
	if err != nil {
		return ""
	}
	home, _ := os.UserHomeDir() // else it is not known
	_, src := rulebook.Open(rulebook.Options{File: d.Dirs.PolicyFile(), LastGoodCopy: d.Dirs.PolicyKept(), Trust: d.Dirs.PolicyTrust(), Home: home}).For(rulebook.Subject{Cwd: cwd})
	var said []string
	for i := range src.Files {
		f := &src.Files[i]
		if !f.Project || f.Using == "file" {
			continue
		}
		counts := "the last one in order counts in this project"
		if f.Using == "broken" {
			counts = "in this project agents need approval for all but reading"
		}
		said = append(said, strings.Join(f.Problems, "; ")+": "+counts)
	}
	return strings.Join(said, "; ")
}
