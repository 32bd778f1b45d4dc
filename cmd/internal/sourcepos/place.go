//go:build unix

// Package sourcepos finds the positions in files that a session's output names: errors with file and line (find.go),
// and it opens the user's editor there (editor.go).
//
// A printed name is relative to the directory of its command, or to the directory that make reported. On a remote host
// a file is HOST:PATH, which editors with access to other hosts receive in their own syntax.
package sourcepos

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

// Place is a position in a file, with a message.
type Place struct {
	Host    string `json:"host,omitempty"` // empty: this one
	Path    string `json:"path"`           // absolute where the directory is known
	Line    int    `json:"line"`           // from 1; 0: unknown
	Column  int    `json:"column"`         // from 1; 0: unknown
	Message string `json:"message"`
	Session string `json:"session,omitempty"` // id of the session that printed it
	Command int    `json:"command,omitempty"` // number of the command that printed it; 0: the session's program
}

// File returns the file's name, with its host if it is remote.
func (p *Place) File() string {
	if p.Host != "" {
		return p.Host + ":" + p.Path
	}
	return p.Path
}

// String returns the place as compilers print it and as editors read it.
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

// within returns a printed file name as a path, relative to dir.
func within(dir, file string) string {
	if filepath.IsAbs(file) || dir == "" {
		return filepath.Clean(file)
	}
	return filepath.Join(dir, file)
}

// onlyIn returns the file in the one possible directory that has it. If none or several have it, it returns "".
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

// placesOf returns the messages of a severity that have a file and line, in order and without duplicates. about has the fields that all
// places share.
func placesOf(ds []diagnostics.Diagnostic, severity diagnostics.Severity, dir string, about Place) (list []Place) {
	type spot struct {
		path         string
		line, column int
		message      string
	}
	seen, dirs := map[spot]bool{}, map[string]string{}
	for i := range ds {
		d := &ds[i]
		if d.Severity != severity || d.File == "" {
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

// Of returns the errors of a result that have a file and line.
func Of(r *diagnostics.Result, dir, host string) []Place { return errorsOf(r, dir, Place{Host: host}) }

// WarningsOf returns the warnings of a result that have a file and line.
func WarningsOf(r *diagnostics.Result, dir, host string) []Place {
	return placesOf(r.Diagnostics, diagnostics.Warning, dir, Place{Host: host})
}

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

// errorsOf returns the errors of a result that have a file and line: those of compilers, linters and Go tests, else of
// other failed tests.
func errorsOf(r *diagnostics.Result, dir string, about Place) []Place {
	list := placesOf(r.Diagnostics, diagnostics.Error, dir, about)
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

// positionPattern matches a position at the beginning of a line, as grep and compilers print it.
var positionPattern = pattern.Lazy(`(?:^|[\s("'\x60])((?:[A-Za-z0-9_.~/+@%-][^\s:()"'\x60]*)?[A-Za-z0-9_]):([1-9][0-9]{0,8})(?::([1-9][0-9]{0,8}))?(?:[:,)\s"'\x60]|$)`)

// InLine returns the first place that a line names, or ok = false without one.
func InLine(line, dir string) (p Place, ok bool) {
	result := diagnostics.Parse("", nil, line)
	for i := range result.Diagnostics { // warnings have places too
		if d := &result.Diagnostics[i]; d.File != "" {
			return Place{Path: within(dir, d.File), Line: d.Line, Column: d.Column, Message: d.Message}, true
		}
	}
	m := positionPattern.FindStringSubmatch(line)
	if m == nil || !strings.ContainsAny(m[1], "./") { // a time, or a host and its port
		return Place{}, false
	}
	p = Place{Path: within(dir, m[1]), Message: line}
	p.Line, _ = strconv.Atoi(m[2]) // only digits, and few
	p.Column, _ = strconv.Atoi(m[3])
	return p, true
}
