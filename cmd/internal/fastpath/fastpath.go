// Package fastpath runs the shortest verbs before the rest of the program is initialised.
//
// Go initialises every linked package before main: those of the daemon, SQLite, the viewer. That is most of the run
// time of `longterm screen S`. The order is that of import paths, as far as imports allow (Go specification, Program
// initialization). This package imports very little, so it is among the first. Its init checks the arguments. If they
// have a plain form of a verb in the table (verbs.go), it sends the verb's only request, prints the answer and exits:
//
//	arguments (args.go) -> verb (verbs.go) -> body (body_unix.go) -> request (request_linux.go) -> answer (answer.go)
//
// Everything unusual is left to the verb itself, which reports errors: other flags, no daemon, an agent's label,
// another user's socket, an error as the answer. This package is only a shorter way to the same request. A request that
// was already sent is not repeated: the verb's client takes over the answer, or waits for it (Sent). A test compares
// the results of both.
//
// `attach S` starts here, up to the first drawing on the terminal (attach_linux.go). The verb continues with the stream
// (Sent) and the terminal (Terminal).
//
// The only allowed imports are those of package os, strconv, and takeover with the same restriction. Even strings would
// initialise some eighty packages before this one (TestFastPath_ImportsLittle). So some lines here repeat strings,
// net/http and encoding/json.
package fastpath

import "os"

// ID is the id (ask_id, or the job's id) of the request that was left to the verb. The verb reuses it, so the daemon
// detects the duplicate. Empty means no request was made.
var ID string

// Sent is the request that was sent and left to the verb. Got is the answer so far; the rest arrives on Conn.
var Sent Request

// Request is an HTTP request that was sent.
type Request struct {
	Method, URI string   // method and request URI
	Got         string   // answer received so far
	Conn        *os.File // connection with the rest of the answer; nil means no request was sent
}

// DisableEnv is the environment variable that disables the fast path, for tests that compare it with the verbs.
const DisableEnv = "LONGTERM_TEST_NO_SHORTCUT"

// init runs the verb on the command line if the fast path supports its form, and exits.
func init() {
	if os.Getenv(DisableEnv) == "" && os.Getenv("LONGTERM_HOST") == "" {
		if status, done := tryFastPath(os.Args); done {
			os.Exit(status)
		}
	}
}

// tryFastPath runs the verb of argv if the fast path supports its form.
func tryFastPath(argv []string) (status int, done bool) {
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

// asTmux reports whether the program was called as tmux, which has other verbs.
func asTmux(name string) bool {
	const tmux = "tmux"
	at := len(name) - len(tmux)
	return at >= 0 && name[at:] == tmux && (at == 0 || name[at-1] == '/')
}

// plainName reports whether s is not a flag and needs no escape in a path or in JSON.
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

// write prints the answer and reports whether it could. On failure the verb reports the error.
func write(s string) bool {
	_, err := os.Stdout.WriteString(s)
	return err == nil
}

// cut is strings.Cut, which must not be imported.
func cut(s, sep string) (before, after string, found bool) {
	for i := 0; i+len(sep) <= len(s); i++ {
		if s[i:i+len(sep)] == sep {
			return s[:i], s[i+len(sep):], true
		}
	}
	return s, "", false
}
