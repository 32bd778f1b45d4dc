//go:build linux

package executions

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/session/sys"
)

func TestInterpreterOf(t *testing.T) {
	for head, want := range map[string][]string{
		"": nil, "#": nil, "#!": nil, "#! \n": nil, "\x7fELF": nil,
		"#!/bin/sh": {"/bin/sh"}, "#!/bin/sh\nx": {"/bin/sh"}, "#! \t/bin/sh \t\nx": {"/bin/sh"},
		"#!/usr/bin/env -S a b \n": {"/usr/bin/env", "-S a b"}, "#!/bin/sh\x00 x\n": {"/bin/sh"},
	} {
		if got := interpreterOf([]byte(head)); !slices.Equal(got, want) {
			t.Errorf("%q: %q, not %q", head, got, want)
		}
	}
}

func TestLoaded(t *testing.T) {
	for line, want := range map[string]string{
		"ld": " true", "ld /bin/a b": "/bin/a b true", "ld --library-path /x /bin/a": "/bin/a true", "ld --library-path=/x /bin/a": "/bin/a true",
		"ld --argv0 x --list /bin/a": "/bin/a true", "ld --preload x.so /bin/a": "/bin/a false", "ld --new /bin/a": "/bin/a false",
		"ld -- --x": "--x true",
	} {
		rest, known := loaderCommand(strings.Fields(line))
		got := strings.Join(rest, " ") + map[bool]string{true: " true", false: " false"}[known]
		if got != want {
			t.Errorf("%s: %q, not %q", line, got, want)
		}
	}
}

func TestOtherNames(t *testing.T) {
	real, err := filepath.EvalSymlinks(tier.Path(t, "touch"))
	if err != nil || !slices.Contains(programDirs, filepath.Dir(real)) {
		t.Skipf("touch is %s: %v", real, err)
	}
	b, err := os.ReadFile(real)
	if err != nil {
		t.Fatal(err)
	}
	var p programs
	file := func(name string, b []byte) sys.ResolvedFile {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, b, 0o700); err != nil {
			t.Fatal(err)
		}
		return sys.ResolvedFile{Path: path, LocalPath: path}
	}
	copied := file("innocent", b)
	for range 2 { // found, and remembered
		if names := p.otherNames(copied); !slices.Contains(names, real) {
			t.Errorf("a copy: %q", names)
		}
	}
	other := slices.Clone(b)
	other[len(other)-1]++
	if names := p.otherNames(file("other", other)); len(names) > 0 {
		t.Errorf("another one of its size: %q", names)
	}
	if names := p.otherNames(sys.ResolvedFile{Path: real, LocalPath: real}); len(names) > 0 {
		t.Errorf("itself: %q", names)
	}
	if is, _ := kindOf(real); is != programFile {
		t.Errorf("touch is of kind %d", is)
	}
}

func FuzzInterpreterOf(f *testing.F) {
	for _, s := range []string{"", "#!", "#!/bin/sh -e\n", "#! \x00", "#!\t/a\t b\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		words := interpreterOf(head)
		if len(words) > 2 {
			t.Errorf("%q", words)
		}
		for i, w := range words {
			if w == "" || strings.ContainsAny(w, "\n\x00") || i == 0 && strings.ContainsAny(w, " \t") {
				t.Errorf("%q", words)
			}
		}
	})
}

// TestKindsAreRemembered checks that the kind of an unchanged file is cached. A file that changed just now, and a
// script, are read again.
func TestKindsAreRemembered(t *testing.T) {
	var p programs
	sh, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Skip(err)
	}
	id, settled := identify(sh)
	if is, _ := p.kindOf(sys.ResolvedFile{LocalPath: sh}); is != programFile || settled != (len(p.kinds) == 1) {
		t.Errorf("%v, %v", is, p.kinds)
	}
	p.kinds = map[contentID]kind{id: loaderFile}
	if is, _ := p.kindOf(sys.ResolvedFile{LocalPath: sh}); settled && is != loaderFile {
		t.Error("it is read again")
	}
	file := filepath.Join(t.TempDir(), "x")
	for _, c := range []struct {
		text string
		want kind
	}{{"echo", programFile}, {"#!/bin/sh\n", scriptFile}, {"echo", programFile}} {
		if err := os.WriteFile(file, []byte(c.text), 0o700); err != nil {
			t.Fatal(err)
		}
		if is, _ := p.kindOf(sys.ResolvedFile{LocalPath: file}); is != c.want {
			t.Errorf("%q: %v", c.text, is)
		}
	}
	if len(p.kinds) != 1 {
		t.Errorf("%v", p.kinds)
	}
}

// TestSystemName checks that a link in a system directory to root's file elsewhere names that program, and a link to
// another user's file does not.
//
// FEATURES: R107
func TestSystemName(t *testing.T) {
	of := func(path, file string) string {
		return systemName(&wire.Execution{Path: path}, sys.ResolvedFile{Path: file, LocalPath: file})
	}
	dir := t.TempDir()
	mine := filepath.Join(dir, "x")
	if err := os.WriteFile(mine, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	link, target := "", ""
	for _, bin := range programDirs {
		entries, _ := os.ReadDir(bin)
		for _, e := range entries {
			real, err := filepath.EvalSymlinks(filepath.Join(bin, e.Name()))
			if e.Type()&fs.ModeSymlink != 0 && err == nil && strings.HasPrefix(real, "/usr/") && !slices.Contains(programDirs, filepath.Dir(real)) &&
				isRootPackage(sys.ResolvedFile{Path: real, LocalPath: real}) && rootWrites(bin) {
				link, target = filepath.Join(bin, e.Name()), real
			}
		}
	}
	if link == "" {
		t.Skip("all programs of this system are where their names are")
	}
	if got := of(link, target); got != link {
		t.Errorf("%s for %s: %q", link, target, got)
	}
	for _, row := range [][2]string{
		{link, mine}, {filepath.Join(dir, filepath.Base(link)), target}, {filepath.Dir(link) + "/./" + filepath.Base(link), target}, {"", target},
		{filepath.Base(link), target}, {link, link}, {target, target},
	} {
		if got := of(row[0], row[1]); got != "" {
			t.Errorf("%s for %s: %q", row[0], row[1], got)
		}
	}
	if isRootPackage(sys.ResolvedFile{Path: mine, LocalPath: mine}) || isRootPackage(sys.ResolvedFile{Path: target, LocalPath: target, IsDifferentLocally: true}) {
		t.Error("another user's file counts as root's")
	}
}
