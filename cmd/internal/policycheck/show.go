package policycheck

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/policy/rulebook"
)

// Shown lists the rules in effect, with their sources.
type Shown struct {
	Preset string                `json:"preset"`
	From   string                `json:"preset_from"` // source of the preset: "FILE:LINE", "--policy", or empty for built in
	Files  []rulebook.FileStatus `json:"files"`
	Rules  []Rule                `json:"rules"`
	Idle   []Rule                `json:"idle"` // rules in the files that are not in effect
}

// Rule is a rule with its position.
type Rule struct {
	Decision string     `json:"decision"`
	Name     string     `json:"name"`
	Program  string     `json:"program"`
	Words    []string   `json:"words,omitempty"`
	Options  []string   `json:"options,omitempty"`
	Exact    bool       `json:"exact,omitempty"`
	Cwd      []string   `json:"cwd,omitempty"`
	Until    *time.Time `json:"until,omitempty"`
	Reason   string     `json:"reason,omitempty"`
	Instead  string     `json:"instead,omitempty"`
	Section  string     `json:"section,omitempty"`
	File     string     `json:"file"`
	Line     int        `json:"line"`
	Idle     string     `json:"idle,omitempty"` // why it is not in effect
}

// Show returns the rules in effect for a subject.
func Show(s *rulebook.Sources) Shown {
	return Shown{Preset: string(s.Preset), From: s.From, Files: s.Files, Rules: rulesOf(s.Rules), Idle: rulesOf(s.Ineffective)}
}

func rulesOf(entries []rulebook.Entry) []Rule {
	all := make([]Rule, len(entries))
	for i := range entries {
		e := &entries[i]
		all[i] = Rule{
			Decision: e.VerdictText(), Name: e.Name, Program: e.Program, Words: e.Words, Options: e.Options, Exact: e.Exact,
			Cwd: e.Roots, Reason: e.Rule.Why, Instead: e.Instead, Section: e.Section, File: e.File, Line: e.Line, Idle: e.Why,
		}
		if !e.Until.IsZero() {
			all[i].Until = &e.Until
		}
	}
	return all
}

// Write prints the rules for a user.
func (s *Shown) Write(w io.Writer) {
	from := s.From
	if from == "" {
		from = "built in"
	}
	fmt.Fprintf(w, "preset %s  (%s)\n", s.Preset, output.Printable(from))
	for i := range s.Files {
		f := &s.Files[i]
		say := map[string]string{
			"none": "not found", "kept": "has mistakes: using the last valid version", "broken": "has mistakes, no valid version yet",
		}[f.Using]
		if say == "" {
			say = output.CountNoun(f.Rules, "rule", "rules")
		}
		switch {
		case f.Project && f.Trusted:
			say += ", trusted"
		case f.Project && f.Changed:
			say += ", changed since it was trusted"
		case f.Project:
			say += ", not trusted: it only makes things stricter"
		}
		fmt.Fprintf(w, "file   %s  (%s)\n", output.Printable(f.File), say)
	}
	width := 0
	for i := range s.Rules {
		width = max(width, len([]rune(s.Rules[i].Name)))
	}
	for i := range s.Rules {
		r := &s.Rules[i]
		fmt.Fprintf(w, "%-5s  %-*s  %s:%d%s\n", r.Decision, min(width, 50), output.Printable(r.Name), output.Printable(r.File), r.Line, r.limits())
	}
	for i := range s.Idle {
		r := &s.Idle[i]
		fmt.Fprintf(w, "idle   %s  %s:%d: %s\n", output.Printable(r.Name), output.Printable(r.File), r.Line, output.Printable(r.Idle))
	}
}

// limits describes where and until when a rule applies.
func (r *Rule) limits() string {
	text := ""
	if r.Cwd != nil {
		text += "  in " + output.Printable(strings.Join(r.Cwd, ", "))
	}
	if r.Until != nil {
		text += "  until " + rulebook.Until(*r.Until)
	}
	return text
}
