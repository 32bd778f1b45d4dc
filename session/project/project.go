// Package project reads a project's file, .longterm.toml: the sessions of a directory, their start order, their ready
// conditions and their layout.
//
//	bytes ──▶ tomldoc ──▶ Decode ──▶ File: checked names, order without cycles, directories below the root
//
// It starts nothing and does not use the daemon. It reports all errors of a file at once, each with line and column.
// Options.Probe validates probes, whose syntax belongs to the caller.
package project

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/config/tomldoc"
	"github.com/longterm-dev/longterm/session/suggestname"
)

// Name is the file's name in a project's directory.
const Name = ".longterm.toml"

// Bounds of a file. They limit the time that an untrusted project's file can cost.
const (
	MaxFile     = 256 << 10 // bytes
	maxKeys     = 4000
	maxSessions = 100
	maxTabs     = 50
	maxReady    = time.Hour
	// ReadyTimeout is the default time for a session to become ready.
	ReadyTimeout = time.Minute
)

// Restart policies.
const (
	RestartNever     = "never"
	RestartOnFailure = "on-failure"
	RestartAlways    = "always"
)

// File is a valid project file.
type File struct {
	Root     string // directory of the file
	Hash     string // SHA-256 of its content
	Name     string
	Sessions []Session // in the order they are started
	Tabs     []Tab
}

// Session is a session of the project.
type Session struct {
	Name    string
	Argv    []string // neither Argv nor Line: the user's shell
	Line    string   // a command line for the user's shell
	Cwd     string   // absolute
	Env     []string // NAME=VALUE
	After   []string // names of the sessions that must be ready before it
	Ready   []string // conditions, any of which makes it ready; none: ready once started
	Timeout time.Duration
	Restart string
	Sandbox string

	position      tomldoc.Position
	afterPosition tomldoc.Position
}

// Definition identifies a session's definition: its command and, after the dot, its ready conditions.
func (s *Session) Definition() string {
	return digest(s.Argv, s.Line, s.Cwd, s.Env, s.Restart, s.Sandbox) + "." + digest(s.Ready)
}

// CompareDefinition compares the definition with a recorded one. run reports that something else is run, ready that
// something else makes it ready.
func (s *Session) CompareDefinition(noted string) (run, ready bool) {
	now := s.Definition()
	i, j := strings.IndexByte(noted, '.'), strings.IndexByte(now, '.')
	if i < 0 { // recorded by an earlier version, which kept one digest of both
		differs := noted != digest(s.Argv, s.Line, s.Cwd, s.Env, s.Ready, s.Restart, s.Sandbox)
		return differs, differs
	}
	return noted[:i] != now[:j], noted[i:] != now[j:]
}

// digest returns a hash of its arguments.
func digest(parts ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", parts))
	return hex.EncodeToString(sum[:8])
}

// Tab is a tab of the viewer.
type Tab struct {
	Name     string
	Arrange  string // one of Arrangements
	Sessions []string
	Focus    string
	Floating []string // those of Sessions that float over the others
	Pinned   []string // those that float over all tabs

	position tomldoc.Position
}

// Arrangements are the layouts of a tab's panes.
var Arrangements = []string{"tiles", "main left", "main above", "columns", "rows", "stacked"}

// Key describes a key of the file.
type Key struct{ Name, Kind, Help string }

// Keys of the file, of [[sessions]] and of [[tabs]]. docs/projects.md is compared with them by a test.
var (
	TopKeys     = []Key{{"name", "text", "what the project is called, the first part of its sessions' names, not `last`; default: the directory's name"}}
	SessionKeys = []Key{
		{"name", "text", "what it is called in the project; PROJECT-NAME is the session"},
		{"command", "text or list of texts", "a line for the user's shell, or a program and its arguments; without: the shell itself"},
		{"cwd", "text", "directory, from the project's; default: that"},
		{"env", "list of texts", "NAME=VALUE, added to the environment of the caller of up"},
		{"after", "list of texts", "sessions that have to be ready before this one is started"},
		{"ready", "text or list of texts", "when it counts as ready: a condition as `longterm wait --for` takes it, any of several; exit means with status 0"},
		{"ready_timeout", "text", "how long that may take, as in \"30s\"; default 1m"},
		{"restart", "never, on-failure, always", "what to do when it ends by itself; default never"},
		{"sandbox", "text", "profile of the sandbox to start it in"},
	}
	TabKeys = []Key{
		{"name", "text", "what the tab is called"},
		{"sessions", "list of texts", "what it shows, in order; default: all"},
		{"arrange", "tiles, main left, main above, columns, rows, stacked", "how; default tiles"},
		{"focus", "text", "session that has the focus; default: the first"},
		{"floating", "list of texts", "sessions that float over the others"},
		{"pinned", "list of texts", "sessions that float over all tabs"},
	}
)

// Options configure Decode.
type Options struct {
	Probe func(condition string) error // checks a condition; nil: any is valid
	Path  string                       // the file's path for errors; empty: Name below root
}

// Decode parses a file's content; root is its directory, absolute.
func Decode(root string, src []byte, o Options) (*File, error) {
	sum := sha256.Sum256(src)
	d := decoder{o: o, file: &File{Root: root, Hash: hex.EncodeToString(sum[:])}}
	src = bytes.TrimPrefix(src, []byte(tomldoc.ByteOrderMark)) // editors of other systems add it
	switch {
	case len(src) > MaxFile:
		d.reportProblem(tomldoc.Position{}, "", "the file has more than %d bytes; take out what is not needed", MaxFile)
	case strings.Count(string(src), "=") > maxKeys:
		d.reportProblem(tomldoc.Position{}, "", "the file has more than %d keys; take out what is not needed", maxKeys)
	case !utf8.Valid(src) || strings.Contains(string(src), "\x00"):
		d.reportProblem(tomldoc.Position{}, "", "this is no text in UTF-8; save the file as one")
	default:
		doc, err := tomldoc.Parse(src)
		if err != nil {
			d.problems = tomldoc.ProblemsOf(err)
			break
		}
		d.readDocument(doc)
		d.finish()
	}
	if len(d.problems) == 0 {
		return d.file, nil
	}
	slices.SortStableFunc(d.problems, func(a, b tomldoc.Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	const most = 30
	if more := len(d.problems) - most; more > 0 {
		d.problems = append(d.problems[:most], tomldoc.Problem{Text: fmt.Sprintf("and %d more", more)})
	}
	for i := range d.problems {
		d.problems[i].File = cmp.Or(o.Path, filepath.Join(root, Name))
	}
	return nil, d.problems
}

// noPosition is the position of problems without a place in the file.
var noPosition tomldoc.Position

// decoder checks a document and builds a File from it.
type decoder struct {
	o        Options
	file     *File
	problems tomldoc.Problems
	named    bool
}

// reportProblem adds a problem with a key.
func (d *decoder) reportProblem(at tomldoc.Position, key, format string, args ...any) {
	d.problems = append(d.problems, tomldoc.Problem{Position: at, Key: key, Text: fmt.Sprintf(format, args...)})
}

// readDocument reads headers first: they give the number of sessions and tabs.
func (d *decoder) readDocument(doc *tomldoc.Document) {
	for _, h := range doc.Headers {
		switch name := strings.Join(h.Path, "."); {
		case name == "sessions" && h.IsArray:
			d.file.Sessions = append(d.file.Sessions, Session{Restart: RestartNever, Timeout: ReadyTimeout, Cwd: d.file.Root, position: h.At})
		case name == "tabs" && h.IsArray:
			d.file.Tabs = append(d.file.Tabs, Tab{Arrange: Arrangements[0], position: h.At})
		case name == "sessions" || name == "tabs":
			d.reportProblem(h.At, name, "there may be several of these; write [[%s]]", name)
		default:
			d.reportProblem(h.At, name, "no such section%s; there are [[sessions]] and [[tabs]]", suggest(name, []string{"sessions", "tabs"}))
		}
	}
	if len(d.file.Sessions) > maxSessions || len(d.file.Tabs) > maxTabs {
		d.reportProblem(tomldoc.Position{}, "", "there may be %d sessions and %d tabs; take out what is not needed", maxSessions, maxTabs)
		return
	}
	for i := range doc.Items {
		d.readItem(&doc.Items[i])
	}
}

// readItem passes a value to the function for its table.
func (d *decoder) readItem(it *tomldoc.Item) {
	path := it.Path
	if len(path) == 1 && path[0] == "name" {
		d.readText(it, "name", &d.file.Name)
		d.named = true
		if d.checkName(it, d.file.Name); d.file.Name == reservedName {
			d.reportProblem(it.ValuePos, "name", "%q is what the viewer calls the layout that it keeps by itself; use another", reservedName)
		}
		return
	}
	if len(path) == 3 {
		n, err := strconv.Atoi(path[1])
		if err == nil && path[0] == "sessions" && n < len(d.file.Sessions) {
			d.readSessionKey(&d.file.Sessions[n], it, path[2])
			return
		}
		if err == nil && path[0] == "tabs" && n < len(d.file.Tabs) {
			d.readTabKey(&d.file.Tabs[n], it, path[2])
			return
		}
	}
	switch path[0] {
	case "sessions", "tabs":
		d.reportProblem(it.At, strings.Join(path, "."), "write [[%s]] and a line for each key", path[0])
	default:
		d.reportUnknown(it, strings.Join(path, "."), "the file", append(slices.Clone(TopKeys), Key{Name: "[[sessions]]"}, Key{Name: "[[tabs]]"}))
	}
}

// reportUnknown reports an unknown key, with a suggestion.
func (d *decoder) reportUnknown(it *tomldoc.Item, name, where string, keys []Key) {
	var names []string
	for _, k := range keys {
		names = append(names, k.Name)
	}
	d.reportProblem(it.At, name, "no such key%s; %s has %s", suggest(name, names), where, strings.Join(names, ", "))
}

// suggest returns a hint to a similar name, or "".
func suggest(name string, names []string) string {
	if near := suggestname.Nearest(name, names); near != "" {
		return fmt.Sprintf(", %q is the nearest", near)
	}
	return ""
}

// readSessionKey reads a key of a session.
func (d *decoder) readSessionKey(s *Session, it *tomldoc.Item, key string) {
	switch key {
	case "name":
		d.readText(it, key, &s.Name)
		d.checkName(it, s.Name)
	case "command":
		if line, ok := it.Data.(string); ok {
			if s.Line = line; strings.TrimSpace(line) == "" {
				d.reportProblem(it.ValuePos, key, "it is empty; leave it away to have a shell")
			}
			return
		}
		if d.readTexts(it, key, &s.Argv); it.Data != nil && len(s.Argv) == 0 {
			d.reportProblem(it.ValuePos, key, "it is empty; leave it away to have a shell")
		}
	case "cwd":
		dir := ""
		if d.readText(it, key, &dir); filepath.IsAbs(dir) {
			s.Cwd = filepath.Clean(dir)
		} else {
			s.Cwd = filepath.Join(d.file.Root, dir)
		}
	case "env":
		d.readTexts(it, key, &s.Env)
		for _, pair := range s.Env {
			if name, _, ok := strings.Cut(pair, "="); !ok || name == "" {
				d.reportProblem(it.ValuePos, key, "%q is no NAME=VALUE", pair)
			}
		}
	case "after":
		d.readTexts(it, key, &s.After)
		s.afterPosition = it.ValuePos
	case "ready":
		d.readOneOrMore(it, key, &s.Ready)
		for _, c := range s.Ready {
			if d.o.Probe == nil {
				break
			}
			if err := d.o.Probe(c); err != nil {
				d.reportProblem(it.ValuePos, key, "%v", err)
			}
		}
	case "ready_timeout":
		text := ""
		d.readText(it, key, &text)
		t, err := time.ParseDuration(text)
		if s.Timeout = t; err != nil || t <= 0 || t > maxReady {
			d.reportProblem(it.ValuePos, key, "%q is no time of at most an hour, as in \"30s\"", text)
		}
	case "restart":
		d.readOneOf(it, key, &s.Restart, []string{RestartNever, RestartOnFailure, RestartAlways})
	case "sandbox":
		d.readText(it, key, &s.Sandbox)
	default:
		d.reportUnknown(it, key, "[[sessions]]", SessionKeys)
	}
}

// readTabKey reads a key of a tab.
func (d *decoder) readTabKey(t *Tab, it *tomldoc.Item, key string) {
	switch key {
	case "name":
		d.readText(it, key, &t.Name)
	case "sessions":
		d.readTexts(it, key, &t.Sessions)
	case "arrange":
		d.readOneOf(it, key, &t.Arrange, Arrangements)
	case "focus":
		d.readText(it, key, &t.Focus)
	case "floating":
		d.readTexts(it, key, &t.Floating)
	case "pinned":
		d.readTexts(it, key, &t.Pinned)
	default:
		d.reportUnknown(it, key, "[[tabs]]", TabKeys)
	}
}

// readText reads a string.
func (d *decoder) readText(it *tomldoc.Item, key string, to *string) {
	s, ok := it.Data.(string)
	if !ok {
		d.reportProblem(it.ValuePos, key, "found %s, want a text", tomldoc.TypeName(it.Data))
	}
	*to = s
}

// readTexts reads a list of strings.
func (d *decoder) readTexts(it *tomldoc.Item, key string, to *[]string) {
	list, ok := it.Data.([]any)
	for _, v := range list {
		s, is := v.(string)
		ok = ok && is
		*to = append(*to, s)
	}
	if !ok {
		d.reportProblem(it.ValuePos, key, `found %s, want a list of texts, as in ["a", "b"]`, tomldoc.TypeName(it.Data))
	}
}

// readOneOrMore reads a string or a list of strings.
func (d *decoder) readOneOrMore(it *tomldoc.Item, key string, to *[]string) {
	if s, ok := it.Data.(string); ok {
		*to = []string{s}
		return
	}
	d.readTexts(it, key, to)
}

// readOneOf reads a string that must be one of choices.
func (d *decoder) readOneOf(it *tomldoc.Item, key string, to *string, choices []string) {
	if d.readText(it, key, to); !slices.Contains(choices, *to) {
		d.reportProblem(it.ValuePos, key, "unknown value %q (known: %s)", *to, strings.Join(choices, ", "))
	}
}

// reservedName cannot be a project's name: the viewer stores its last layout under it.
const reservedName = "last"

// maxName leaves room for both parts of a session's name.
const maxName = 60

// checkName checks the name of a project, session or tab.
func (d *decoder) checkName(it *tomldoc.Item, name string) {
	if cleanName(name) != name || name == "" || len(name) > maxName {
		d.reportProblem(it.ValuePos, "name", "%q is no name: use letters, digits and _ . -, beginning with a letter or digit, at most %d", name, maxName)
	}
}

// cleanName returns a name without invalid characters.
func cleanName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.-", r) {
			return r
		}
		return -1
	}, name)
	return strings.TrimLeft(name, "_.-")
}
