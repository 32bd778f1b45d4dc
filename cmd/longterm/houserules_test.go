package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// oneWay lists calls that only one package may make, with the other places and their reasons.
var oneWay = []struct {
	what string
	in   string            // the only package, from the top
	not  func(source) bool // reports a call elsewhere
	but  map[string]string // exceptions: files, and why
}{
	{
		"/proc is read by session/sys", "session/sys",
		func(s source) bool {
			return s.literal(func(text string) bool { return text == "/proc" || strings.HasPrefix(text, "/proc/") })
		},
		map[string]string{
			"session/draft/files_linux.go":    "names own descriptors for system calls that take none",
			"session/policy/paths.go":         "names paths that are judged, and reads none",
			"session/policy/criticalpaths.go": "names paths that are judged, and reads none",
			"session/confine/mounts_linux.go": "mounts one, and reads none",
			"session/sandbox/learn.go":        "names paths that every sandbox has of its own, and reads none",
			"session/sandbox/rules.go":        "names paths that nobody may write, and reads none",
			"session/sandbox/tools.go":        "has another program mount one, and reads none",
		},
	},
	{
		"terminals are asked and told by session/sys", "session/sys",
		func(s source) bool { return s.calls("unix", "Ioctl") || s.calls("pty", "Getsize") },
		map[string]string{"session/draft/apply_linux.go": "clones a file"},
	},
	{
		"who is at the other end of a socket is asked by session/sys", "session/sys",
		func(s source) bool { return s.calls("unix", "GetsockoptUcred") },
		nil,
	},
	{
		"limits of this process are asked and raised by session/sys", "session/sys",
		func(s source) bool { return s.calls("unix", "Getrlimit") || s.calls("unix", "Setrlimit") },
		nil,
	},
	{
		"files are replaced by store/atomicfile", "store/atomicfile",
		func(s source) bool { return s.calls("os", "Rename") },
		map[string]string{
			"session/paths/agentsocket_unix.go":   "replaces a link",
			"session/daemon/crash.go":             "sets a log aside",
			"session/daemon/registry/import.go":   "moves a directory to its place, where there is none",
			"session/daemon/registry/leftdirs.go": "names a directory that is being removed",
			"store/store.go":                      "sets a damaged file aside",
			"store/search/damage.go":              "sets a damaged file aside",
			"store/journal/fs.go":                 "the journal's own file system, which its tests replace",
		},
	},
	{
		"temporary files of what is replaced are store/atomicfile's", "store/atomicfile",
		func(s source) bool { return s.calls("os", "CreateTemp") },
		map[string]string{
			"session/ring/shm_other.go":   "memory without a name, where there is no memfd",
			"cmd/internal/export/film.go": "a picture that another program draws",
		},
	},
	{
		"processes are ended step by step by session/internal/killladder", "session/internal/killladder",
		func(s source) bool { return s.mentions("syscall", "SIGTERM") && s.mentions("syscall", "SIGHUP") },
		map[string]string{
			"cmd/internal/termio/takeover/takeover.go": "signals that end an attached client",
			"cmd/longterm-fleetd/main.go":              "signals that end it, and nobody else",
			"session/confine/namespaces_linux.go":      "passes signals on, or leaves them to the program, and ends nobody",
		},
	},
}

// source is a file that is built into a program, except tests: these read the system in other ways, to check what the
// product cannot see.
type source struct {
	path string // from the top, with slashes
	file *ast.File
}

func (s source) literal(is func(string) bool) (found bool) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, err := strconv.Unquote(lit.Value)
			found = found || err == nil && is(text)
		}
		return !found
	})
	return found
}

// mentions reports whether a name of a package with a prefix is used.
func (s source) mentions(pkg, prefix string) (found bool) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			x, ok := sel.X.(*ast.Ident)
			found = found || ok && x.Name == pkg && x.Obj == nil && strings.HasPrefix(sel.Sel.Name, prefix)
		}
		return !found
	})
	return found
}

func (s source) calls(pkg, prefix string) bool { return s.mentions(pkg, prefix) }

func sources(t *testing.T) (all []source) {
	t.Helper()
	fset := token.NewFileSet()
	err := filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		name := e.Name()
		switch {
		case err != nil:
			return err
		case e.IsDir() && (name == "testdata" || strings.HasPrefix(name, ".") && name != ".." && name != "."):
			return fs.SkipDir
		case e.IsDir() && path != "../.." && isModule(path): // with rules of its own
			return fs.SkipDir
		case e.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel("../..", path)
		all = append(all, source{filepath.ToSlash(rel), f})
		return err
	})
	if err != nil || len(all) < 100 {
		t.Fatalf("%d files, %v", len(all), err)
	}
	return all
}

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func TestOneWayOfEachThing(t *testing.T) {
	all := sources(t)
	for _, rule := range oneWay {
		inRoom, excepted := false, map[string]bool{}
		for _, s := range all {
			if !rule.not(s) {
				continue
			}
			dir := s.path[:strings.LastIndexByte(s.path, '/')]
			switch _, ok := rule.but[s.path]; {
			case dir == rule.in:
				inRoom = true
			case ok:
				excepted[s.path] = true
			default:
				t.Errorf("%s: %s", s.path, rule.what)
			}
		}
		if !inRoom {
			t.Errorf("%s, but it does not", rule.what)
		}
		for path := range rule.but {
			if !excepted[path] {
				t.Errorf("%s needs no exception any more: %s", path, rule.what)
			}
		}
	}
}

// machineMayNot lists packages that no pure state machine imports: it gets events and returns actions.
var machineMayNot = []string{
	"net", "net/http", "os", "os/exec", "os/signal", "io/fs", "syscall", "database/sql", "golang.org/x/sys/unix", "log/slog",
	module + "/session", module + "/session/sys", module + "/session/daemon", module + "/store", module + "/store/atomicfile",
}

// machineMay are the exceptions, and why.
var machineMay = map[string]map[string]string{
	"/session/internal/killladder": {"syscall": "the numbers of signals"},
	"/session/internal/inputwait":  {module + "/session/sys": "the settings of a terminal, a value that its host reads"},
	"/session/internal/rules": {
		"os":                         "it knows the format of its state's file",
		module + "/store/atomicfile": "it knows the format of its state's file",
	},
}

func TestMachinesArePure(t *testing.T) {
	h := theHouse(t)
	for _, pkg := range h.under(t, "/session/internal") {
		may := machineMay[strings.TrimPrefix(pkg, module)]
		for _, no := range machineMayNot {
			if _, ok := may[no]; !ok && slices.Contains(h.imports[pkg], no) {
				t.Errorf("%s imports %s: a state machine uses no files, sockets, processes or clocks", pkg, no)
			}
		}
		for imp := range may {
			if !slices.Contains(h.imports[pkg], imp) {
				t.Errorf("%s does not import %s any more", pkg, imp)
			}
		}
	}
}

// manyFiles is the number of files above which a directory usually contains two packages. Larger ones may only become
// smaller.
const manyFiles = 35

var largeFolders = map[string]int{
	"vterm": 48, // a terminal has that many functions
}

func TestFoldersAreRooms(t *testing.T) {
	count := map[string]int{}
	for _, s := range sources(t) {
		count[s.path[:strings.LastIndexByte(s.path, '/')]]++
	}
	for _, dir := range slices.Sorted(maps.Keys(count)) {
		most := max(manyFiles, largeFolders[dir])
		if count[dir] > most && dir != "cmd/longterm" { // a file a verb: TestVerbs
			t.Errorf("%s has %d files, %d are many: move a separate part out", dir, count[dir], most)
		}
		switch base := dir[strings.LastIndexByte(dir, '/')+1:]; base {
		case "util", "utils", "common", "helpers", "helper", "misc", "base", "lib", "shared":
			t.Errorf("%s: name a package after its content", dir)
		}
	}
}
