// Package shortcut answers the shortest verbs before the rest of the program is initialised.
//
// Go initialises every package that is linked before main runs: those of the daemon, of SQLite, of the
// viewer. That is most of the time that `longterm screen S` takes. It does so in the order of import
// paths, as far as what a package imports allows it (Go specification, Program initialization). This
// package imports next to nothing, so it is among the first; its init looks at the arguments, and
// where they have one of these plain forms it makes the one request that the verb makes, prints the
// answer and exits:
//
//	longterm version                    (of a release)
//	longterm ls [--json]
//	longterm screen S
//	longterm new [-n NAME] -- CMD...
//
// Whatever is not as usual (other flags, no daemon, an agent's label, another user's socket, an error
// in answer) is left to the verb itself, which begins anew and says what is wrong: this is no second
// way to do anything, only a shorter one to the same request. A test compares both.
//
// It may import what package os imports, and strconv, nothing else: already strings has some eighty
// packages initialised before this one (TestShortcutComesFirst). So there are a few lines here that
// strings, net/http and encoding/json have better.
package shortcut

import (
	"os"
	"runtime"
)

// Release is set by the linker: -X github.com/longterm-dev/longterm/cmd/longterm/internal/shortcut.Release=v1.2.3.
var Release string

// AskID is what the request of `new` was called when it was left to the verb: asked again
// by the same name, what a person has to allow is asked once. Empty: nothing was asked.
var AskID string

// Sent says that the request of `new` went out and no whole answer came: it may have been done.
var Sent bool

// Leave is the variable that has everything left to the verbs, for tests that compare.
const Leave = "LONGTERM_TEST_NO_SHORTCUT"

func init() {
	if os.Getenv(Leave) == "" && os.Getenv("LONGTERM_HOST") == "" && pass(os.Args) {
		os.Exit(0)
	}
}

// VersionLine is what the verb version prints.
func VersionLine(version string) string {
	return "longterm " + version + " (" + runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH + ")\n"
}

// pass does what args ask for, if it is among what can be done here.
func pass(args []string) bool {
	if len(args) < 2 {
		return false
	}
	switch rest := args[2:]; args[1] {
	case "version":
		return len(rest) == 0 && Release != "" && write(VersionLine(Release))
	case "ls":
		return list(rest)
	case "screen":
		return len(rest) == 1 && plainName(rest[0]) && screen(rest[0])
	case "new":
		return start(rest)
	}
	return false
}

// list prints the daemon's table, or its JSON as verbs print it.
func list(args []string) bool {
	switch {
	case len(args) == 0:
		text, ok := request("GET", "/v1/sessions.txt", "", nil)
		return ok && write(text)
	case len(args) == 1 && args[0] == "--json":
		text, ok := request("GET", "/v1/sessions", "", nil)
		if !ok {
			return false
		}
		text, ok = indented(text)
		return ok && write(text)
	}
	return false
}

func screen(ref string) bool {
	text, ok := request("GET", "/v1/sessions/"+ref+"/screen/text?fonts=system&max_output=-1&padding=8&scale=1&screen=active", "", nil)
	if !ok {
		return false
	}
	if text == "" || text[len(text)-1] != '\n' {
		text += "\n"
	}
	return write(text)
}

// start is `new` with no flag but a name.
func start(args []string) bool {
	name := ""
	if len(args) > 2 && (args[0] == "-n" || args[0] == "--name") && plainName(args[1]) {
		name, args = args[1], args[2:]
	}
	if len(args) < 2 || args[0] != "--" {
		return false
	}
	body, ok := newSession(name, args[1:])
	if !ok {
		return false
	}
	answer, ok := request("POST", "/v1/sessions", body, &Sent)
	if !ok {
		return false
	}
	_, answer, ok = cut(answer, `{"id":"`)
	id, _, whole := cut(answer, `"`)
	if !ok || !whole || !plainName(id) {
		return false
	}
	Sent = false
	return write(id + "\n")
}

// plainName says that s is no flag and needs no escape in a path or in JSON.
func plainName(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', i > 0 && (c == '.' || c == '_' || c == '-'):
		default:
			return false
		}
	}
	return s != ""
}

// write prints the answer. What cannot be written is the verb's to say.
func write(s string) bool {
	_, err := os.Stdout.WriteString(s)
	return err == nil
}

// cut is strings.Cut.
func cut(s, sep string) (before, after string, found bool) {
	for i := 0; i+len(sep) <= len(s); i++ {
		if s[i:i+len(sep)] == sep {
			return s[:i], s[i+len(sep):], true
		}
	}
	return s, "", false
}
