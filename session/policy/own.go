package policy

import (
	"path"
	"slices"
	"strings"
)

// ownDir stands for what $LONGTERM_DIR is where the line does not set it: a directory of longterm's own, that
// may be anywhere.
const ownDir = "/" + someText + "/longterm"

// ownPlace reports whether a path is one of longterm's own files or sockets.
func (w *walk) ownPlace(p string) bool {
	full, ok := w.clean(p)
	if strings.HasPrefix(full, ownDir) {
		return true
	}
	if strings.HasSuffix(full, ".sock") && (strings.Contains(full, "/longterm/") || strings.HasPrefix(full, "longterm/")) {
		return true
	}
	if !ok {
		return false
	}
	for _, dir := range []string{"/.local/share/longterm", "/.local/state/longterm", "/.config/longterm",
		"/Library/Application Support/longterm"} {
		if full == w.home+dir || strings.HasPrefix(full, w.home+dir+"/") {
			return true
		}
	}
	return w.engine.owns(full) || strings.HasPrefix(full, "/run/user/") && (strings.HasSuffix(full, "/longterm") ||
		strings.Contains(full, "/longterm/"))
}

// copying are programs of which only the target is written, and programs that keep versions of files.
var copying = fieldSet("cp mv ln install gcp rsync scp sftp tar zip git cd pushd diff longterm test [ export local declare " +
	"rm rmdir mkdir touch alias set source . exec")

// ownFiles asks about commands that speak to longterm's daemon by its socket, past the rules, and about those
// that may change its files.
func (w *walk) ownFiles(c *Command, x *invocation) {
	if c.Verdict != Allow || x.name == "longterm" || textual[x.name] && x.name != "curl" || w.engine.preset == Off {
		return
	}
	reads := x.row != nil && x.row.Reads
	for _, a := range x.argv[1:] {
		if !strings.Contains(a, "longterm") && len(w.engine.own) == 0 && !strings.Contains(w.cwd, "longterm") {
			continue
		}
		for _, p := range []string{a, a[strings.IndexByte(a, '=')+1:], a[strings.IndexByte(a, ':')+1:], strings.TrimLeft(a, "-oOfU")} {
			p, _, _ = strings.Cut(p, ",")
			switch {
			case p == "" || !w.ownPlace(p):
			case path.Ext(p) == ".sock" && !reads && x.name != "rm":
				w.ask(c, "hard:longterm", "it speaks to longterm's daemon by its socket, past what is asked and recorded")
				c.Instead = "use the verbs of longterm"
				return
			case !reads && !copying[x.name] && strings.ContainsAny(p, "/."):
				w.ask(c, "hard:longterm", "it may change longterm's own files")
				return
			}
		}
	}
}

// ownInCode asks about code that names longterm's own files or sockets.
func (w *walk) ownInCode(text string, x *invocation) {
	if w.engine.preset == Off || !strings.Contains(text, "longterm") && !strings.Contains(text, "LONGTERM_DIR") {
		return
	}
	names := func(p string) bool {
		in := p[1 : len(p)-1]
		return strings.ContainsAny(in, "/") && w.ownPlace(strings.Replace(in, "~", w.home, 1)) || in == "LONGTERM_DIR"
	}
	if slices.ContainsFunc(literal.FindAllString(text, 200), names) {
		c := Command{Argv: x.argv}
		w.ask(&c, "hard:longterm", "its code names longterm's own files")
		w.record(c)
	}
}
