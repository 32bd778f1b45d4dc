package output

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/listing"
)

// DraftText describes a draft in one line, with the next commands. name is the session's name or id.
func DraftText(d *api.DraftSummary, name string) string {
	what := "changes not counted"
	if d.Changes != nil {
		what = count(*d.Changes, "change")
	}
	return fmt.Sprintf("%s in %s; `longterm changes %s`, then `longterm commit %[3]s` or `longterm discard %[3]s`", what, strings.Join(d.Roots, ", "), name)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// ChangePath returns the path of a change as users read it: relative to the draft's only directory, else absolute.
func ChangePath(c *api.Change, roots []string) string {
	path := c.Path
	if len(roots) > 1 {
		root := c.Root
		if root == "" {
			root = roots[0]
		}
		path = filepath.Join(root, path)
	}
	if c.Type == "dir" {
		path += "/"
	}
	return Printable(path)
}

// WriteChanges writes the changes of a draft, one in a line, and a summary.
func WriteChanges(w io.Writer, d *api.Draft) {
	conflicts := 0
	for i := range d.Changes {
		c := &d.Changes[i]
		line := fmt.Sprintf("%-9s %s", c.Kind, ChangePath(c, d.Roots))
		if c.LinkBroken {
			line += "  (its other hard links keep the old content)"
		}
		if c.Conflict != nil {
			conflicts++
			line += "  conflict: " + Printable(*c.Conflict)
		}
		fmt.Fprintln(w, line)
	}
	summary := count(len(d.Changes), "change") + " in " + Printable(strings.Join(d.Roots, ", "))
	if conflicts > 0 {
		summary += ", " + count(conflicts, "conflict")
	}
	fmt.Fprintf(w, "%s; draft %s, %s, id %s\n", summary, api.ShortID(d.Session), d.State, d.ID)
	if d.State == "committing" {
		fmt.Fprintf(w, "a commit was interrupted; run `longterm commit %s` to complete it\n", api.ShortID(d.Session))
	}
	if len(d.NotHeld) > 0 {
		fmt.Fprintln(w, "a draft does not hold everything; see `longterm help drafts`")
	}
}

// WriteDrafts writes a table of drafts.
func WriteDrafts(w io.Writer, list []api.DraftSummary, look listing.TableFormat) {
	columns := []listing.Column{
		{Head: "DRAFT", ShrinkTo: 8}, {Head: "STATE"}, {Head: "CHANGES", AlignRight: true}, {Head: "STARTED", Style: listing.AsFaint}, {Head: "DIRECTORY", ShrinkTo: 6, KeepsTail: true}, {Head: "COMMAND", ShrinkTo: 10},
	}
	rows := make([][]string, 0, len(list))
	for i := range list {
		d := &list[i]
		changes := "?"
		if d.Changes != nil {
			changes = strconv.Itoa(*d.Changes)
		}
		rows = append(rows, []string{
			api.ShortID(d.Session), d.State, changes, d.Started.Local().Format("2006-01-02 15:04"), Printable(strings.Join(d.Roots, ", ")), Printable(d.Command),
		})
	}
	_ = listing.WriteTable(w, columns, rows, look) // fails only if the reader has closed the output
}

// WriteDraftResult writes what a commit or a discard did. done is "committed" or "discarded".
func WriteDraftResult(w io.Writer, r *api.DraftResult, done string) {
	if r.DryRun {
		done = "would be " + done
		for i := range r.Paths {
			fmt.Fprintf(w, "%-9s %s\n", r.Paths[i].Kind, ChangePath(&r.Paths[i], nil))
		}
	}
	fmt.Fprintf(w, "%s %s: %s, %d deleted\n", count(len(r.Paths), "change"), done, count(r.Files, "file"), r.Deleted)
}
