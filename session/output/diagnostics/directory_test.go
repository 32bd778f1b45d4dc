package diagnostics

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// placesOf returns the positions of diagnostics and their notes, as text.
func placesOf(ds []Diagnostic) (list []string) {
	for _, d := range ds {
		if d.File != "" {
			list = append(list, strings.Join(append([]string{d.File}, d.Directories...), " in "))
		}
		list = append(list, placesOf(d.Related)...)
	}
	return list
}

const aC, bC = "a.c:1:2: error: e\n", "b.c:1:2: error: e\n"

// TestDirectories checks that file names that compilers print below a make, or another program that reports its
// directory, get that directory.
//
// FEATURES: R28 R82 R118
func TestDirectories(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"none", aC, "a.c"},
		{"make -C", "make: Entering directory '/w/mk'\n" + aC + "a.c:1:1: note: n\nmake: *** [M:2: r] Error 1\nmake: Leaving directory '/w/mk'\n" + bC, "/w/mk/a.c /w/mk/a.c b.c"},
		{"its own mistakes", "make: Entering directory '/w/mk'\nMakefile:5: *** missing separator.  Stop.\n", "/w/mk/Makefile"},
		{"an old make", "gmake[12]: Entering directory `/w/m k'\n" + aC, "/w/m k/a.c"},
		{"by another name", "/usr/bin/mingw32-make.exe[1]: Entering directory 'C:/w'\n" + aC + "C:\\x.c:1:2: error: e\n", "C:/w/a.c C:\\x.c"},
		{"a quote in the name", "make: Entering directory '/w/it's'\n" + aC, "/w/it's/a.c"},
		{"names that are whole", "make: Entering directory '/w'\n/x/a.c:1:2: error: e\n<stdin>:1:2: error: e\n./../b.c:1:2: error: e\n", "/x/a.c <stdin> /b.c"},
		{"nested", "make[1]: Entering directory '/w/a'\nmake[2]: Entering directory '/w/a/b'\n" + aC + "make[2]: Leaving directory '/w/a/b'\n" + aC +
			"make[1]: Leaving directory '/w/a'\n" + aC, "/w/a/b/a.c /w/a/a.c a.c"},
		{"one after the other", "make[1]: Entering directory '/w/a'\n" + aC + "make[1]: Leaving directory '/w/a'\nmake[1]: Entering directory '/w/b'\n" + aC, "/w/a/a.c /w/b/a.c"},
		{"one that was killed below", "make: Entering directory '/w'\nmake[1]: Entering directory '/w/a'\nmake: Leaving directory '/w'\n" + aC, "a.c"},
		{"in parallel", "make[1]: Entering directory '/w/a'\nmake[1]: Entering directory '/w/b'\n" + aC + "make[1]: Leaving directory '/w/b'\n" + aC, "a.c in /w/a in /w/b /w/a/a.c"},
		{"in parallel, below", "make: Entering directory '/w'\nmake[1]: Entering directory '/w/a'\nmake[1]: Entering directory '/w/b'\nmake[2]: Entering directory '/w/b/c'\n" + aC +
			"make[1]: Leaving directory '/w/a'\n" + bC, "a.c in /w/a in /w/b in /w/b/c /w/b/c/b.c"},
		{"twice the same", "make[1]: Entering directory '/w/a'\nmake[1]: Entering directory '/w/a'\n" + aC + "make[1]: Leaving directory '/w/a'\n" + aC, "/w/a/a.c /w/a/a.c"},
		{"its beginning is lost", aC + "make[2]: Leaving directory '/w/a/b'\n" + bC + "b.c:1:1: note: n\nmake[1]: Leaving directory '/w/a'\n" + bC, "/w/a/b/a.c /w/a/b.c /w/a/b.c b.c"},
		{"its middle is lost", "make: Entering directory '/w/a'\n[… 7 bytes, 1 line left out …]\n" + aC + "make: Leaving directory '/w/b'\n", "/w/b/a.c"},
		{"a directory unknown to it", "make: Entering an unknown directory\n" + aC + "make: Leaving an unknown directory\n", "a.c"},
		{"ninja", "ninja: Entering directory `build'\n../src/a.c:1:2: error: e\nninja: build stopped: subcommand failed.\n" + aC, "src/a.c a.c"},
		{"ninja twice", "ninja: Entering directory `x'\n" + aC + "ninja: Entering directory `y'\n" + aC, "x/a.c y/a.c"},
		{"ninja in make", "make: Entering directory '/w'\nninja: Entering directory `b'\n" + aC + "make: Leaving directory '/w'\n" + aC, "/w/b/a.c a.c"},
		{"make in ninja", "ninja: Entering directory `/b'\nmake: Entering directory '/w'\n" + aC + "make: Leaving directory '/w'\n" + bC, "/w/a.c /b/b.c"},
		{"cmake --build", "Change Dir: '/w/build'\n\nRun Build Command(s): ninja -v\n" + aC, "/w/build/a.c"},
		{"Waf", "Waf: Entering directory `/w/build'\n" + aC + "Waf: Leaving directory `/w/build'\n" + aC, "/w/build/a.c a.c"},
		{"others' words", "make: 'x' is up to date.\nmake: Nothing to be done for 'all'.\nfoo: Entering directory '/w'\nmake[x]: Entering directory '/w'\n" + aC, "a.c"},
		{"German", "make: Verzeichnis „/w/mk“ wird betreten\n" + aC + "make: Verzeichnis „/w/mk“ wird verlassen\n" + aC, "/w/mk/a.c a.c"},
		{"French", "make[1]\u00a0: on entre dans le répertoire «\u00a0/w/mk\u00a0»\n" + aC + "make[1]\u00a0: on quitte le répertoire «\u00a0/w/mk\u00a0»\n" + aC, "/w/mk/a.c a.c"},
		{"Japanese", "make: ディレクトリ '/w/mk' に入ります\n" + aC + "make: ディレクトリ '/w/mk' から出ます\n" + aC, "/w/mk/a.c a.c"},
		{"Chinese", "make: 进入目录“/w/mk”\n" + aC + "make: 离开目录“/w/mk”\n" + aC, "/w/mk/a.c a.c"},
	} {
		one := 1
		r := Parse("make", &one, c.text)
		if got := strings.Join(placesOf(r.Diagnostics), " "); got != c.want {
			t.Errorf("%s: %s; want %s", c.name, got, c.want)
		}
	}
}

// TestStream_Directories checks that a stream tracks directories, although it classifies lines that differ only in
// digits once.
//
// FEATURES: R82
func TestStream_Directories(t *testing.T) {
	s := NewStream("make")
	var text strings.Builder
	for i := range 9 {
		n := string(rune('1' + i))
		text.WriteString("make[1]: Entering directory '/w/a" + n + "'\ncc -c x" + n + ".c\n")
		if i == 8 {
			text.WriteString(aC)
		}
		text.WriteString("make[1]: Leaving directory '/w/a" + n + "'\n")
	}
	for line := range strings.Lines(text.String()) {
		s.ReadLine(strings.TrimSuffix(line, "\n"))
	}
	if d, _ := s.First(); d.File != "/w/a9/a.c" {
		t.Errorf("%+v", d)
	}
	s.ReadLine("make: Entering directory '/w'")
	if at, _, ok := s.Directory(); !ok || at != s.Lines()-1 {
		t.Errorf("line %d, %v", at, ok)
	}
	if s.NoteGap(); len(s.problems.dirs.openDirs) > 0 {
		t.Error("omitted output may have changed the directory")
	}
}

// TestMoveMessages checks that the messages of every language are recognized.
func TestMoveMessages(t *testing.T) {
	for _, words := range moveMessages {
		for k, form := range words {
			dir, enters, ok := parseMove(strings.Replace(form, "%", "«/w/a b»", 1))
			if !ok || dir != "/w/a b" || enters != (k == 0) {
				t.Errorf("%s: %q, %v, %v", form, dir, enters, ok)
			}
		}
	}
}

// TestTests_Directory checks that a failed test gets the directory that make reported.
//
// FEATURES: R82 R118
func TestTests_Directory(t *testing.T) {
	one := 1
	fails := "--- FAIL: TestX (0.00s)\n    x_test.go:12: broken\nFAIL\nFAIL\texample.org/x\t0.01s\nFAIL\n"
	r := Parse("make test", &one, "make: Entering directory '/w/x'\n"+fails+"make: *** [M:2: test] Error 1\nmake: Leaving directory '/w/x'\n"+fails)
	var got []string
	for _, f := range r.Tests.Failures {
		got = append(got, f.Directory)
	}
	if !slices.Equal(got, []string{"/w/x", ""}) {
		t.Errorf("%q", got)
	}
}

// endsWithPath reports whether a path is a directory joined with file, or may be.
func endsWithPath(joined, file string) bool {
	file = path.Clean(file) // as in a joined path
	return file == "." || strings.HasPrefix(file, "..") || strings.HasSuffix(joined, file)
}

// FuzzDirectories checks that tracking is bounded, and that a stream and Parse agree.
func FuzzDirectories(f *testing.F) {
	f.Add("make[1]: Entering directory '/w/a'\n" + aC + "make[1]: Leaving directory '/w/a'\nninja: Entering directory `b'\n" + bC)
	f.Add(aC + "make[2]: Leaving directory `/x'\nmake[1]: Entering directory '/w/a'\nmake[1]: Entering directory '/w/b'\n" + aC)
	f.Add("Change Dir: '/b'\nmake\u00a0: on entre dans le répertoire «\u00a0/w\u00a0»\nninja: error: x\n[… 1 line left out …]\n")
	f.Add("x/:2: error: e\nmake[1]: Leaving directory '/w/a'\nninja: Entering directory `b'\n" + bC)
	f.Add(".:1: error: e\nmake[2]: Leaving directory `/x'\n")
	f.Fuzz(func(t *testing.T, text string) {
		r := Parse("make", nil, text)
		for _, d := range r.Diagnostics {
			if len(d.Directories) > maxDirectories || len(d.Directories) == 1 {
				t.Errorf("%q: %q", d.File, d.Directories)
			}
		}
		s, lines := NewStream("make"), 0
		eachLine(text, func(_ int, line string) { s.ReadLine(line); lines++ })
		if d := &s.problems.dirs; len(d.openDirs) > maxDirectories || len(d.moves) > 0 {
			t.Errorf("%d open, %d noted", len(d.openDirs), len(d.moves))
		}
		first, ok := s.First()
		if want := firstError(r.Diagnostics); ok && want != nil && first.At == want.At && first.File != want.File && !endsWithPath(want.File, first.File) {
			t.Errorf("%q in pieces, %q at once", first.File, want.File)
		}
	})
}
