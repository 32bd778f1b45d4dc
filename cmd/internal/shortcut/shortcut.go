// Package shortcut answers the shortest verbs before the rest of the program is initialised.
//
// Go initialises every package that is linked before main runs: those of the daemon, of SQLite, of the
// viewer. That is most of the time that `longterm screen S` takes. It does so in the order of import
// paths, as far as what a package imports allows it (Go specification, Program initialization). This
// package imports next to nothing, so it is among the first; its init looks at the arguments, and
// where they have a plain form of a verb in the table (verbs.go) it makes the one request that the verb makes, prints
// the answer and exits:
//
//	arguments (args.go) -> verb (verbs.go) -> body (body_unix.go) -> request (request_linux.go) -> answer (answer.go)
//
// Whatever is not as usual (other flags, no daemon, an agent's label, another user's socket, an error
// in answer) is left to the verb itself, which says what is wrong: this is no second
// way to do anything, only a shorter one to the same request. What was asked by then is not asked again: the verb's
// client takes the answer, or waits for it, where we left off (Begun). A test compares both.
//
// `attach S` is begun here, up to the first drawing on the terminal (attach_linux.go), and gone on with by the verb, with the
// stream (Begun) and the terminal (Taken).
//
// It may import what package os imports, strconv, and takeover, of which the same holds, nothing else: already strings has some eighty
// packages initialised before this one (TestShortcutComesFirst). So there are a few lines here that
// strings, net/http and encoding/json have better.
package shortcut

import "os"

// ID is what a request was called that was left to the verb (ask_id, or the job's id); the verb's own is called the
// same. Empty: none was made.
var ID string

// Begun is the request that was made and left to the verb. What is the answer to it so far is Got; the rest comes by Conn.
var Begun Request

// Request is an HTTP request that was sent.
type Request struct {
	Method, URI string
	Got         string
	Conn        *os.File // nil: there is none
}

// Leave is the variable that has everything left to the verbs, for tests that compare.
const Leave = "LONGTERM_TEST_NO_SHORTCUT"

func init() {
	if os.Getenv(Leave) == "" && os.Getenv("LONGTERM_HOST") == "" {
		if status, done := pass(os.Args); done {
			os.Exit(status)
		}
	}
}

// pass does what args ask for, if it is among what can be done here.
func pass(argv []string) (status int, done bool) {
	if len(argv) < 2 || asTmux(argv[0]) {
		return 0, false
	}
	if argv[1] == "version" {
		return 0, len(argv) == 2 && write(VersionLine())
	}
	for i := range verbs {
		if v := &verbs[i]; v.name == argv[1] {
			return v.do(argv[2:])
		}
	}
	return 0, false
}

// asTmux says that the program was called by the name of tmux, whose verbs are others.
func asTmux(name string) bool {
	const tmux = "tmux"
	at := len(name) - len(tmux)
	return at >= 0 && name[at:] == tmux && (at == 0 || name[at-1] == '/')
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
