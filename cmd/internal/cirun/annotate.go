//go:build unix

package cirun

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/sourcepos"
)

// maxAnnotations is how many of each kind GitHub shows for a step.
const maxAnnotations = 10

// within returns places with paths relative to a directory, if they are below it.
func within(root string, list []sourcepos.Place) []sourcepos.Place {
	for i := range list {
		if rel, err := filepath.Rel(root, list[i].Path); err == nil && filepath.IsLocal(rel) {
			list[i].Path = rel
		}
	}
	return list
}

// annotations returns the errors and warnings as the CI system reads them.
func annotations(on System, f *findings) string {
	var b strings.Builder
	if on != GitHub {
		for i := range f.errors {
			b.WriteString(output.Printable(f.errors[i].String()) + "\n")
		}
		return b.String()
	}
	for _, kind := range []struct {
		name string
		list []sourcepos.Place
	}{{"error", f.errors}, {"warning", f.warnings}} {
		for i := range kind.list[:min(len(kind.list), maxAnnotations)] {
			b.WriteString(annotation(kind.name, &kind.list[i]))
		}
	}
	if len(f.errors) == 0 && f.hasFailed() && f.job.Session != "" {
		text := f.status()
		if first := f.result.Summary.FirstError; first != nil {
			text += ": " + first.Text
		}
		b.WriteString(annotation("error", &sourcepos.Place{Message: text}))
	}
	return b.String()
}

// annotation returns a workflow command of GitHub's that shows a message at a place.
func annotation(kind string, p *sourcepos.Place) string {
	var props []string
	if p.Path != "" {
		props = append(props, "file="+property(p.File()))
		if p.Line > 0 {
			props = append(props, fmt.Sprintf("line=%d", p.Line))
			if p.Column > 0 {
				props = append(props, fmt.Sprintf("col=%d", p.Column))
			}
		}
	}
	head := kind
	if len(props) > 0 {
		head += " " + strings.Join(props, ",")
	}
	return "::" + head + "::" + data(p.Message) + "\n"
}

// data escapes the message of a workflow command, as GitHub's toolkit does. The command stays one line.
func data(s string) string {
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s), "\n")
	for i := range lines {
		lines[i] = strings.ReplaceAll(output.Printable(lines[i]), "%", "%25")
	}
	return strings.Join(lines, "%0A")
}

// property escapes a property of a workflow command.
func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(s))
}
