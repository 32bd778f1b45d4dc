//go:build unix

// Package inboxlist prints the inbox for users: as a list with the command that answers each entry, and as counts by
// label.
package inboxlist

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/topics"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/listing"
	"github.com/longterm-dev/longterm/session/shellquote"
)

// ByProject is the name under which entries are counted by project.
const ByProject = "project"

// Join puts the entries of several hosts in the order of one, and makes their commands ones for their host.
func Join(list []api.InboxItem) {
	for i := range list {
		it := &list[i]
		for j := range it.Do {
			if it.Host != "" {
				it.Do[j] = "longterm -H " + shellquote.Line([]string{it.Host}) + strings.TrimPrefix(it.Do[j], "longterm")
			}
		}
	}
	slices.SortStableFunc(list, func(a, b api.InboxItem) int {
		return cmp.Or(cmp.Compare(a.Rank(), b.Rank()), a.Since.Compare(b.Since))
	})
}

// where returns the session of an entry, with its host.
func where(it *api.InboxItem) string {
	name := cmp.Or(it.Name, api.ShortID(it.Session), "-")
	if it.Host != "" {
		name = it.Host + "/" + name
	}
	return output.Printable(name)
}

// state returns the kind of an entry, or its state if it is not open.
func state(it *api.InboxItem) string {
	if it.State == "open" {
		return it.Kind
	}
	if it.Until != nil {
		return "snoozed until " + until(*it.Until, time.Now())
	}
	return it.State
}

func until(t, now time.Time) string {
	if t.Sub(now) < 20*time.Hour {
		return t.Local().Format("15:04")
	}
	return t.Local().Format("2 Jan 15:04")
}

func kindStyle(kind string) listing.Style {
	switch kind {
	case api.InboxApproval, api.InboxQuestion:
		return listing.RiskStyle("medium")
	case api.InboxFailed:
		return listing.RiskStyle("high")
	}
	return listing.Plain
}

// List writes the entries: on a terminal each with its first command below it, else as a table.
func List(w io.Writer, list []api.InboxItem, look listing.TableFormat) {
	if len(list) == 0 {
		fmt.Fprintln(w, "nothing needs your attention")
		return
	}
	columns := []listing.Column{
		{Head: "ID", MinWidth: 4, Style: listing.AsBold}, {Head: "KIND", MinWidth: 8, Style: kindStyle}, {Head: "SESSION", MinWidth: 10, ShrinkTo: 7}, {Head: "AGE"},
		{Head: "WHAT", ShrinkTo: 20}, {Head: "NEXT", ShrinkTo: 20, CanDrop: true},
	}
	rows := make([][]string, 0, len(list))
	for i := range list {
		it := &list[i]
		next := ""
		if len(it.Do) > 0 && it.State == "open" {
			next = it.Do[0]
		}
		rows = append(rows, []string{it.ID, state(it), output.Shorten(where(it), 20), output.Elapsed(time.Since(it.Since).Milliseconds()), output.Printable(it.Text), next})
	}
	if look.Width == 0 {
		_ = listing.WriteTable(w, columns, rows, look) // fails only if the reader has closed the output
		return
	}
	for i, row := range rows {
		style := func(s listing.Style, text string) string { return listing.StyleIf(look.Colour, s).Apply(text) }
		fmt.Fprintf(w, "%s %s  %s, %s ago\n", style(listing.Bold, fmt.Sprintf("%-4s", row[0])), style(kindStyle(list[i].Kind), row[1]), row[2], row[3])
		wrap(w, look.Width, listing.Plain, row[4])
		if row[5] != "" {
			wrap(w, look.Width, listing.StyleIf(look.Colour, listing.Faint), next(&list[i]))
		}
	}
}

// indent is before the lines below an entry's first.
const indent = "     "

func wrap(w io.Writer, width int, style listing.Style, text string) {
	var b strings.Builder
	topics.Wrap(&b, width-len(indent), "", "", text)
	for line := range strings.Lines(b.String()) {
		fmt.Fprintln(w, indent+style.Apply(strings.TrimSuffix(line, "\n")))
	}
}

// next returns the first command of an entry and the other answers that it may have.
func next(it *api.InboxItem) string {
	text := output.Printable(it.Do[0])
	if len(it.Answers) > 1 {
		text += " (or " + strings.Join(it.Answers[1:], ", ") + ")"
	}
	return text
}

// Group is the number of entries with one value of a label.
type Group struct {
	Value    string `json:"value"`
	Blocking int    `json:"blocking"`
	Failed   int    `json:"failed"`
	Other    int    `json:"other"`
	Oldest   string `json:"oldest"`
}

// By counts the entries by the value of a label of their sessions, or by project: the label of `longterm up`, else the
// directory. Groups that block a program come first, then those with failures.
func By(list []api.InboxItem, label string) []Group {
	groups := []Group{}
	for i := range list {
		it := &list[i]
		value := it.Labels[label]
		if label == ByProject {
			value = cmp.Or(value, filepath.Base(cmp.Or(it.Labels[api.ProjectLabel], it.Cwd, "-")))
		}
		value = cmp.Or(value, "-")
		j := slices.IndexFunc(groups, func(g Group) bool { return g.Value == value })
		if j < 0 {
			j = len(groups)
			groups = append(groups, Group{Value: value, Oldest: it.ID})
		}
		switch {
		case it.Blocks():
			groups[j].Blocking++
		case it.Kind == api.InboxFailed:
			groups[j].Failed++
		default:
			groups[j].Other++
		}
	}
	slices.SortStableFunc(groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Blocking, a.Blocking), cmp.Compare(b.Failed, a.Failed), cmp.Compare(a.Value, b.Value))
	})
	return groups
}

// Groups writes counts as a table.
func Groups(w io.Writer, groups []Group, label string, look listing.TableFormat) {
	if len(groups) == 0 {
		fmt.Fprintln(w, "nothing needs your attention")
		return
	}
	columns := []listing.Column{{Head: strings.ToUpper(label), Style: listing.AsBold}, {Head: "WAITING"}, {Head: "FAILED", Style: listing.StatusStyle}, {Head: "OTHER"}, {Head: "FIRST"}}
	rows := make([][]string, 0, len(groups))
	for _, g := range groups {
		rows = append(rows, []string{output.Printable(g.Value), fmt.Sprint(g.Blocking), fmt.Sprint(g.Failed), fmt.Sprint(g.Other), g.Oldest})
	}
	_ = listing.WriteTable(w, columns, rows, look) // fails only if the reader has closed the output
}
