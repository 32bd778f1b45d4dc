//go:build unix

// Package places leads from what was printed to where it is: the errors of a session as places in files (find.go),
// and the person's editor opened at one (editor.go).
//
// A file is named as it was printed, relative to the directory of the command that printed it, or to the one that make
// told of. On another host it
// stays that host's: HOST:PATH, which editors that reach other hosts are given in their own way.
package places

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/session/output/diagnostics"
	"github.com/longterm-dev/longterm/session/pattern"
)

// Place is a position in a file, and what is said of it.
type Place struct {
	Host    string `json:"host,omitempty"` // empty: this one
	Path    string `json:"path"`           // absolute where the directory is known
	Line    int    `json:"line"`           // from 1; 0: unknown
	Column  int    `json:"column"`         // from 1; 0: unknown
	Message string `json:"message"`
	Session string `json:"session,omitempty"` // id of the one that printed it
	Command int    `json:"command,omitempty"` // number of the command that printed it; 0: the session's program
}

// File is the file as programs name it that know of hosts.
func (p *Place) File() string {
	if p.Host != "" {
		return p.Host + ":" + p.Path
	}
	return p.Path
}

// String is the place as compilers print it, which editors' lists of errors read.
func (p *Place) String() string {
	text := p.File()
	if p.Line > 0 {
		text += ":" + strconv.Itoa(p.Line)
		if p.Column > 0 {
			text += ":" + strconv.Itoa(p.Column)
		}
	}
	return fmt.Sprintf("%s: %s", text, p.Message)
}

// within is a file as it was printed by a command of a directory.
func within(dir, file string) string {
	if filepath.IsAbs(file) || dir == "" {
		return filepath.Clean(file)
	}
	return filepath.Join(dir, file)
}

// onlyIn is the file where it is in one of the directories only that it may be in; empty: it is in none or in several.
func onlyIn(dir string, d *diagnostics.Diagnostic) (found string) {
	for _, maybe := range d.Directories {
		file := within(within(dir, maybe), d.File)
		if !filepath.IsAbs(file) || !isFile(file) {
			continue
		}
		if found != "" {
			return ""
		}
		found = file
	}
	return found
}

// of are the errors that have a place, in their order; those that are said again are one.
func of(ds []diagnostics.Diagnostic, dir string, about Place) (list []Place) {
	type spot struct {
		path         string
		line, column int
		message      string
	}
	seen, dirs := map[spot]bool{}, map[string]string{}
	for i := range ds {
		d := &ds[i]
		if d.Severity != diagnostics.Error || d.File == "" {
			continue
		}
		p := about
		p.Path, p.Line, p.Column, p.Message = within(dir, d.File), d.Line, d.Column, d.Message
		if about.Host == "" {
			p.Path = cmp.Or(onlyIn(dir, d), inPackage(p.Path, d.Package, dirs), p.Path)
		}
		if s := (spot{p.Path, p.Line, p.Column, p.Message}); !seen[s] {
			seen[s] = true
			list = append(list, p)
		}
	}
	return list
}

// Of are the errors of a result of a directory that have a place.
func Of(r *diagnostics.Result, dir, host string) []Place { return errorsOf(r, dir, Place{Host: host}) }

// inPackage returns the file of a failed Go test in its package's directory, or "" if no file of that name is there. dirs
// caches directories.
func inPackage(path, importPath string, dirs map[string]string) string {
	if importPath == "" {
		return ""
	}
	from := filepath.Dir(path)
	key := from + "\x00" + importPath
	in, known := dirs[key]
	if !known {
		in = goPackageDir(from, importPath)
		dirs[key] = in
	}
	if there := filepath.Join(in, filepath.Base(path)); in != "" && isFile(there) {
		return there
	}
	return ""
}

// errorsOf are the errors of a result that have a place: those of compilers, linters and Go's tests, else of other tests
// that failed.
func errorsOf(r *diagnostics.Result, dir string, about Place) []Place {
	list := of(r.Diagnostics, dir, about)
	if len(list) > 0 || r.Tests == nil {
		return list
	}
	for _, f := range r.Tests.Failures {
		in := dir
		if f.Directory != "" {
			in = within(dir, f.Directory)
		}
		for line := range strings.Lines(f.Excerpt) {
			if at, ok := InLine(strings.TrimSpace(line), in); ok {
				p := about
				p.Path, p.Line, p.Column, p.Message = at.Path, at.Line, at.Column, f.Name+" failed"
				list = append(list, p)
				break
			}
		}
	}
	return list
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

// named finds a place at the beginning of a line, as grep and compilers print it.
var named = pattern.Lazy(`(?:^|[\s("'\x60])((?:[A-Za-z0-9_.~/+@%-][^\s:()"'\x60]*)?[A-Za-z0-9_]):([1-9][0-9]{0,8})(?::([1-9][0-9]{0,8}))?(?:[:,)\s"'\x60]|$)`)

// InLine is the first place that a line names; ok is false when it names none.
func InLine(line, dir string) (p Place, ok bool) {
	result := diagnostics.Parse("", nil, line)
	for i := range result.Diagnostics { // warnings have places too
		if d := &result.Diagnostics[i]; d.File != "" {
			return Place{Path: within(dir, d.File), Line: d.Line, Column: d.Column, Message: d.Message}, true
		}
	}
	m := named.FindStringSubmatch(line)
	if m == nil || !strings.ContainsAny(m[1], "./") { // a time, or a host and its port
		return Place{}, false
	}
	p = Place{Path: within(dir, m[1]), Message: line}
	p.Line, _ = strconv.Atoi(m[2]) // only digits, and few
	p.Column, _ = strconv.Atoi(m[3])
	return p, true
}
