package rulebook

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/config/tomldoc"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/suggestname"
)

// Key is a key of a rule file, as the documentation lists it.
type Key struct{ Name, Kind, Help string }

// Keys of the file's top level, of [[sections]] and of [[rules]]. A test compares their descriptions in docs/policy.md
// with these.
var (
	TopKeys = []Key{
		{"preset", "preset", "preset for commands without a rule, unless a stricter one applies"},
		{"allow", "list of texts", "prefixes of commands that need no approval, as in \"git log\""},
		{"ask", "list of texts", "prefixes of commands that need approval"},
		{"draft", "list of texts", "prefixes of commands that run in a draft before they need approval"},
		{"deny", "list of texts", "prefixes of denied commands"},
	}
	SectionKeys = append([]Key{
		{"name", "text", "name for --policy; a section with only a name applies only on request"},
		{"agents", "list of texts", "for agents whose label is like one of these; \"*\" is any"},
		{"sessions", "list of texts", "for sessions whose name is like one of these"},
		{"labels", "list of texts", "for sessions with a label like one of these, as in \"env=prod*\""},
	}, TopKeys...)
	RuleKeys = []Key{
		{"name", "text", "name in answers; without: the decision and the words"},
		{"program", "text", "the program, without its directory; with one it is the file there"},
		{"words", "list of texts", "its first operands: \"*\" is any word, \"a|b\" one of several, \"x*\" any with that prefix"},
		{"options", "list of texts", "options that all have to be there, wherever; \"-f|--force\" is one of several"},
		{"exact", "true or false", "the words are all that is given, options too, and mean nothing but themselves"},
		{"decision", "allow, ask, draft, deny", "the decision"},
		{"cwd", "list of texts", "directories in which, and below which, it counts: \"~/work\", \"/srv\", in a project's file also \"sub\""},
		{"reason", "text", "reason, shown with an approval request or denial"},
		{"instead", "text", "what to do instead"},
		{"match", "list of texts", "lines that the rule has to decide, checked when the file is read"},
		{"not_match", "list of texts", "example lines that it must not match"},
		{"until", "date or time", "the last day on which it counts, or the time from which on it does not"},
	}
)

// reserved are the names of built-in rules.
var reserved = []string{"unknown", "not reading", "not listed", "environment", "secret", "write", "network", "reveal", "stop"}

// Decode parses a file's content. It returns all errors at once, as tomldoc.Problems. project allows relative
// directories.
func Decode(path string, src []byte, project bool) (*File, error) {
	d := decoder{file: &File{Path: path, Hash: HashOf(src), Sections: []Section{{}}}, project: project}
	if p := tooMuch(src); p != nil {
		d.problems = append(d.problems, *p)
	} else if doc, err := tomldoc.Parse(src); err != nil {
		d.problems = tomldoc.ProblemsOf(err)
	} else {
		d.doc = doc
		d.document()
	}
	if len(d.problems) == 0 {
		return d.file, nil
	}
	slices.SortStableFunc(d.problems, func(a, b tomldoc.Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	if len(d.problems) > maxProblems {
		more := tomldoc.Problem{Text: fmt.Sprintf("and %d more", len(d.problems)-maxProblems)}
		d.problems = append(d.problems[:maxProblems], more)
	}
	for i := range d.problems {
		d.problems[i].File = path
	}
	return nil, d.problems
}

// maxProblems bounds the reported problems of one file.
const maxProblems = 50

// tooMuch returns the problem of a file that is too large to parse.
func tooMuch(src []byte) *tomldoc.Problem {
	switch {
	case len(src) > maxFile:
		return &tomldoc.Problem{Text: fmt.Sprintf("the file has more than %d bytes; split it, or take out what is not needed", maxFile)}
	case bytes.Count(src, []byte("=")) > maxKeys:
		return &tomldoc.Problem{Text: fmt.Sprintf("the file has more than %d keys; take out what is not needed", maxKeys)}
	case longKey(src) >= 0:
		return &tomldoc.Problem{Position: tomldoc.PositionOf(src, longKey(src)), Text: fmt.Sprintf("a key here has more than %d parts; none that is known has more than two", maxParts)}
	case !utf8.Valid(src) || bytes.IndexByte(src, 0) >= 0:
		at := bytes.IndexByte(src, 0)
		if at < 0 {
			at = invalidAt(src)
		}
		return &tomldoc.Problem{Position: tomldoc.PositionOf(src, at), Text: "this is no text in UTF-8; save the file as one"}
	}
	return nil
}

// longKey returns the offset of a line whose key or header has too many parts, or -1.
func longKey(src []byte) int {
	at := 0
	for line := range bytes.Lines(src) {
		key, _, _ := bytes.Cut(line, []byte("="))
		if bytes.Count(key, []byte(".")) > maxParts && !bytes.HasPrefix(bytes.TrimSpace(key), []byte("#")) {
			return at
		}
		at += len(line)
	}
	return -1
}

// invalidAt returns the offset of the first byte that is not valid UTF-8 text, or -1.
func invalidAt(src []byte) int {
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return 0
}

// decoder checks a TOML document and builds a File from it.
type decoder struct {
	doc      *tomldoc.Document
	file     *File
	project  bool
	problems tomldoc.Problems
	rules    []*partialRule
	reported []string // first names of headers that already have a problem
	examples int      // number of examples so far
}

// problem adds a problem at a place in the document.
func (d *decoder) problem(at tomldoc.Position, key, format string, args ...any) {
	d.problems = append(d.problems, tomldoc.Problem{Position: at, Key: key, Text: fmt.Sprintf(format, args...)})
}

// document reads headers first: they give the sections and rules and their order.
func (d *decoder) document() {
	sections := 0
	own := map[int]int{-1: 0} // rules so far, by section; -1 is the top level
	for _, h := range d.doc.Headers {
		switch name := strings.Join(h.Path, "."); {
		case !h.IsArray && slices.Contains([]string{"rules", "sections", "sections.rules"}, name):
			d.problem(h.At, name, "there may be several of these; write [[%s]]", name)
		case name == "sections":
			d.file.Sections = append(d.file.Sections, Section{At: h.At})
			sections++
		case name == "rules":
			d.rules = append(d.rules, &partialRule{section: 0, n: own[-1], at: h.At})
			own[-1]++
		case name == "sections.rules" && sections == 0:
			d.problem(h.At, name, "no section yet; write [[sections]] above, or [[rules]] for all callers")
		case name == "sections.rules":
			d.rules = append(d.rules, &partialRule{section: sections, n: own[sections-1], at: h.At})
			own[sections-1]++
		default:
			names := []string{"rules", "sections", "sections.rules"}
			d.reported = append(d.reported, h.Path[0])
			d.problem(h.At, name, "no such section%s; there are [[rules]], [[sections]] and [[sections.rules]]", suggest(name, names))
		}
	}
	if len(d.rules) > maxRules {
		d.problem(d.rules[maxRules].at, "rules", "there are more than %d rules; take out what is not needed", maxRules)
		return
	}
	for i := range d.doc.Items {
		d.item(&d.doc.Items[i])
	}
	d.finish()
}

// item passes a value to its section or rule.
func (d *decoder) item(it *tomldoc.Item) {
	path := it.Path
	if _, isTable := it.Data.(map[string]any); isTable {
		d.problem(it.At, strings.Join(path, "."), "this is a table in one line; write [[rules]] or [[sections]] and a line for each key")
		return
	}
	section := 0
	if path[0] == "sections" {
		n, err := -1, error(nil)
		if len(path) > 2 {
			n, err = strconv.Atoi(path[1])
		}
		if err != nil || n < 0 || n+1 >= len(d.file.Sections) {
			d.problem(it.At, "sections", "sections start with a line [[sections]]")
			return
		}
		section, path = n+1, path[2:]
	}
	switch {
	case len(path) == 1 && path[0] != "rules":
		d.sectionItem(&d.file.Sections[section], section, it, path[0])
	case path[0] == "rules" && len(path) == 3:
		n, _ := strconv.Atoi(path[1])
		for _, r := range d.rules {
			if r.section == section && r.n == n {
				r.item(d, it, path[2])
				return
			}
		}
		fallthrough
	case path[0] == "rules":
		d.problem(it.At, "rules", "rules start with a line [[rules]], those of a section with [[sections.rules]]")
	case d.headerIsWrong(it):
	default:
		d.unknown(it, path[0], section)
	}
}

// headerIsWrong reports whether the section of a key already has a problem.
func (d *decoder) headerIsWrong(it *tomldoc.Item) bool {
	if len(it.Path) > 1 && slices.Contains(d.reported, it.Path[0]) {
		return true
	}
	for _, h := range d.doc.Headers {
		if !h.IsArray && len(h.Path) < len(it.Path) && slices.Equal(h.Path, it.Path[:len(h.Path)]) {
			return true
		}
	}
	return false
}

// unknown adds a problem about an unknown key, with a suggestion.
func (d *decoder) unknown(it *tomldoc.Item, key string, section int) {
	keys := TopKeys
	where := "the file"
	if section > 0 {
		keys, where = SectionKeys, "[[sections]]"
	}
	if near := suggest(key, names(RuleKeys)); near != "" && suggest(key, names(keys)) == "" || slices.Contains(names(RuleKeys), key) {
		d.problem(it.At, key, "this is a key of a rule; write [[rules]] above it")
		return
	}
	d.problem(it.At, key, "no such key%s; %s has %s", suggest(key, names(keys)), where, strings.Join(names(keys), ", "))
}

// sectionItem decodes a key of a section, or of the file's top level.
func (d *decoder) sectionItem(s *Section, n int, it *tomldoc.Item, key string) {
	var list *[]string
	switch {
	case key == "preset":
		d.preset(s, it)
	case slices.Contains([]string{"allow", "ask", policy.Draft, "deny"}, key):
		d.short(n, it, key)
	case n > 0 && key == "name":
		if d.text(it, key, &s.Name) {
			d.sectionName(s, it)
		}
	case n > 0 && key == "agents":
		list = &s.Agents
	case n > 0 && key == "sessions":
		list = &s.Sessions
	case n > 0 && key == "labels":
		list = &s.Labels
	default:
		d.unknown(it, key, n)
	}
	if list != nil && d.texts(it, key, list) && len(*list) == 0 {
		d.problem(it.ValuePos, key, "the list is empty, so the section applies to no caller; remove the key, or add an entry")
	}
}

// sectionName decodes a section's name, which must be unique.
func (d *decoder) sectionName(s *Section, it *tomldoc.Item) {
	for i := range d.file.Sections {
		if o := &d.file.Sections[i]; o != s && o.Name == s.Name {
			d.problem(it.ValuePos, "name", "another section has the name %q; choose another", s.Name)
		}
	}
	if s.Name == "" || slices.Contains(presets, policy.Preset(s.Name)) || strings.ContainsFunc(s.Name, func(r rune) bool { return r <= ' ' }) {
		d.problem(it.ValuePos, "name", "%q is no name of a section: it has no blanks and is no preset", s.Name)
	}
}

// preset decodes a preset's name.
func (d *decoder) preset(s *Section, it *tomldoc.Item) {
	var text string
	if !d.text(it, "preset", &text) {
		return
	}
	s.Preset, s.PresetAt = policy.Preset(text), it.At
	switch {
	case s.Preset == policy.Off:
		d.problem(it.ValuePos, "preset", "a file cannot use preset off, since files only make things stricter: remove the line, and set the default elsewhere: "+
			"`longterm config set policy.agents off` for agents, policy.default for users")
	case !slices.Contains(presets, s.Preset):
		d.problem(it.ValuePos, "preset", "no preset %q%s; there are hard, build-draft, build, readonly and listed", text, suggest(text, names(nil, presets[1:]...)))
	}
}

// text decodes a string into to. It reports false, after adding a problem, for any other value.
func (d *decoder) text(it *tomldoc.Item, key string, to *string) bool {
	s, ok := it.Data.(string)
	if !ok {
		d.problem(it.ValuePos, key, "found %s, want a text in quotes", tomldoc.TypeName(it.Data))
		return false
	}
	*to = s
	return d.writable(it.ValuePos, key, s)
}

// writable rejects text that no rule can contain.
func (d *decoder) writable(at tomldoc.Position, key, text string) bool {
	if !policy.Unwritable(text) {
		return true
	}
	d.problem(at, key, "%q has a control character (0 to 5), which rules cannot contain; remove it", text)
	return false
}

// texts decodes a list of strings into to.
func (d *decoder) texts(it *tomldoc.Item, key string, to *[]string) bool {
	return d.list(it, key, to, false)
}

// list decodes a list of strings into to; empty permits a list without elements.
func (d *decoder) list(it *tomldoc.Item, key string, to *[]string, empty bool) bool {
	list, ok := it.Data.([]any)
	if !ok {
		d.problem(it.ValuePos, key, `found %s, want a list of texts, as in ["a", "b"]`, tomldoc.TypeName(it.Data))
		return false
	}
	well := true
	out := make([]string, len(list)) // what is wrong stays empty, so that the others are looked at, too
	for i, v := range list {
		switch t, ok := v.(string); {
		case !ok:
			d.problem(d.doc.Element(it, i), key, "list contains %s, want texts only", tomldoc.TypeName(v))
			well = false
		case !empty && strings.TrimSpace(t) == "":
			d.problem(d.doc.Element(it, i), key, "list contains an empty text; remove it")
			well = false
		case !d.writable(d.doc.Element(it, i), key, t):
			well = false
		default:
			out[i] = t
		}
	}
	*to = out
	return well
}

// names returns the names of keys and presets, for suggestions.
func names(keys []Key, more ...policy.Preset) (all []string) {
	for _, k := range keys {
		all = append(all, k.Name)
	}
	for _, p := range more {
		all = append(all, string(p))
	}
	return all
}

// suggest returns the end of a message: the most similar valid name, or all of them.
func suggest(name string, among []string) string {
	if near := suggestname.Nearest(name, among); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// directory checks a rule's directory, and returns its problem or "".
func (d *decoder) directory(dir string) string {
	switch {
	case dir == "~" || strings.HasPrefix(dir, "~/") || filepath.IsAbs(dir):
	case !d.project:
		return "want an absolute path, or one below ~/"
	case !filepath.IsLocal(dir):
		return "it leaves the project; name a directory below it, or an absolute one"
	}
	return ""
}
