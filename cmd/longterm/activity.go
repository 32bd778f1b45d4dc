//go:build unix

package main

import (
	"fmt"
	"strings"

	"github.com/longterm-dev/longterm/session/api"
)

// activityText says in a few words how a command gets on: progress, time left, errors.
func activityText(s *api.Session) string {
	var parts []string
	if p := s.Progress; p != nil && p.State != "indeterminate" {
		parts = append(parts, progressText(p))
	}
	if a := s.Activity; a != nil && a.Running {
		if a.ETAMS != nil {
			parts = append(parts, "ETA "+elapsed(*a.ETAMS))
		}
		parts = append(parts, countsText(a.Errors, a.Warnings)...)
	}
	return strings.Join(parts, " ")
}

func progressText(p *api.Progress) string {
	text := fmt.Sprintf("%d%%", p.Percent)
	switch p.State {
	case "indeterminate":
		text = "…"
	case "error", "paused":
		text += " " + p.State
	}
	return text
}

// countsText are the counts that are not 0.
func countsText(errors, warnings int) []string {
	var parts []string
	if errors > 0 {
		parts = append(parts, plural(errors, "error"))
	}
	if warnings > 0 {
		parts = append(parts, plural(warnings, "warning"))
	}
	return parts
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// problemText is an error with its place.
func problemText(p *api.Problem) string {
	switch {
	case p.File != "" && p.Line > 0:
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
	case p.File != "":
		return p.File + ": " + p.Message
	}
	return p.Message
}

// activityRows describes how the newest command of a session gets on.
func activityRows(s *api.Session, row func(string, any)) {
	if p := s.Progress; p != nil {
		text := progressText(p)
		if p.Total > 0 {
			text += fmt.Sprintf(" (%d of %d)", p.Current, p.Total)
		}
		row("progress", strings.TrimSpace(text+" "+p.Label))
	}
	a := s.Activity
	if a == nil {
		return
	}
	if a.ETAMS != nil {
		row("time left", elapsed(*a.ETAMS))
	}
	if counts := countsText(a.Errors, a.Warnings); len(counts) > 0 {
		text := strings.Join(counts, ", ")
		if a.Partial {
			text += " at least"
		}
		row("problems", text)
	}
	if a.FirstError != nil {
		row("first error", problemText(a.FirstError))
	}
}
