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

// checkRules looks at the user's file of rules, and at what the daemon makes of it.
func checkRules(ctx context.Context, d *Doctor) finding {
	path := d.Dirs.PolicyFile()
	f, _, err := rulebook.ReadFile(path)
	if said := projectsWrong(d); said != "" && (err == nil || errors.Is(err, fs.ErrNotExist)) {
		return fail("put it right, and try it with `longterm policy test FILE`", "%s", said)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return ok("%s does not exist: the presets are in effect", path)
	}
	if err != nil {
		return fail("put it right, and try it with `longterm policy test "+path+"`; until then the last one in order counts, and without one agents may only read",
			"%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	if st, err := d.Quiet.Status(ctx); err == nil && len(st.Rules.Problems) > 0 {
		return warn("look again in a moment", "%s is in order, but the daemon has not taken it yet", path)
	}
	var elsewhere []policy.Preset
	if c, _, err := config.Read(d.Dirs.ConfigFile()); err == nil { // else another check says what is wrong with it
		elsewhere = []policy.Preset{policy.Preset(c.Settings.Policy.Default), policy.Preset(c.Settings.Policy.Agents)}
	}
	if odd := rulebook.Lint(f, false, time.Now(), elsewhere...); len(odd) > 0 {
		return warn("`longterm policy test "+path+"` names them", "%s has rules that decide nothing", path)
	}
	return ok("%s is in order", path)
}

// projectsWrong says what is wrong with the files of rules of the projects that we are in; empty: nothing.
func projectsWrong(d *Doctor) string {
	cwd, err := os.Getwd()
	if err != nil {
		return ""
	}
	home, _ := os.UserHomeDir() // else it is not known
	_, src := rulebook.Open(rulebook.Options{File: d.Dirs.PolicyFile(), Kept: d.Dirs.PolicyKept(), Trust: d.Dirs.PolicyTrust(), Home: home}).For(rulebook.Subject{Cwd: cwd})
	var said []string
	for i := range src.Files {
		f := &src.Files[i]
		if !f.Project || f.Using == "file" {
			continue
		}
		counts := "the last one in order counts in this project"
		if f.Using == "broken" {
			counts = "agents in this project are asked about all but reading"
		}
		said = append(said, strings.Join(f.Problems, "; ")+": "+counts)
	}
	return strings.Join(said, "; ")
}
