package view

import (
	"slices"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/overlays"
	"github.com/longterm-dev/longterm/vterm/input"
)

// tmuxCommand is a tmux command with arguments that the viewer implements. Commands without arguments are names of
// actions (keymap.Row.SearchNames).
type tmuxCommand struct {
	help, usage string // description, and the form of its arguments
	// bind returns the function that runs the command with these words, or nil if it does not accept them.
	bind func(v *viewer, words []string) func()
}

// typedCommands returns the commands by tmux's names.
func typedCommands() map[string]tmuxCommand {
	return map[string]tmuxCommand{
		"rename-window": {"names the tab", "rename-window NAME", func(v *viewer, words []string) func() {
			t := v.m.Tab()
			return withName(asOneName(words), func(name string) { t.Name = name })
		}},
		"rename-session": {"renames the focused session", "rename-session NAME", func(v *viewer, words []string) func() {
			s := v.m.Session(v.m.Focus)
			if s == nil || v.o.SessionManager == nil {
				return nil
			}
			id := s.ID
			return withName(asOneName(words), func(name string) { rename(v, id, name) })
		}},
		"new-window":     {"starts a session in a new tab", "new-window -n NAME -c DIR COMMAND, all optional; -d keeps the focus", newWindow},
		"new-session":    {"goes to a session or starts it", "new-session -A -s NAME COMMAND; COMMAND is optional", newSession},
		"split-window":   {"splits the pane and starts a session", "split-window -h -l SIZE -c DIR COMMAND, all optional; -b before, -f full size", splitWindow},
		"join-pane":      {"moves a pane from another tab here", "join-pane -h -s TAB, TAB.PANE or SESSION; -b, -f, -l SIZE as in split-window", joinPane},
		"move-pane":      {"moves a pane from another tab here", "move-pane -h -s TAB, TAB.PANE or SESSION; -b, -f, -l SIZE as in split-window", joinPane},
		"rotate-window":  {"rotates the panes", "rotate-window -D for the other direction", rotateWindow},
		"respawn-pane":   {"kills and restarts the session", "respawn-pane -k", respawnPane},
		"move-window":    {"moves the tab to another position", "move-window -t NUMBER", moveWindow},
		"swap-window":    {"swaps the tab with another", "swap-window -t NUMBER or NAME", swapWindow},
		"display-popup":  {"starts a session in a floating pane", "display-popup -E COMMAND; -d DIR is optional", popup},
		"choose-tree":    {"lists all sessions", "choose-tree", chooseTree},
		"kill-session":   {"kills the session of this name, after confirmation", "kill-session -t SESSION", killSession},
		"select-window":  {"shows the tab of this number or name", "select-window -t NUMBER or NAME, or -n, -p, -l", selectWindow},
		"select-pane":    {"goes to the pane of this number", "select-pane -t NUMBER, or -L, -R, -U, -D, -l", selectPane},
		"select-layout":  {"applies a layout", "select-layout NAME: a saved layout, or tiled, main-vertical, even-vertical …", selectLayout},
		"switch-client":  {"goes to the session of this name", "switch-client -t SESSION", goToSession},
		"attach-session": {"goes to the session of this name", "attach-session -t SESSION", goToSession},
		"find-window": {"finds sessions by text", "find-window TEXT", func(v *viewer, words []string) func() {
			return withName(asOneName(words), func(text string) {
				openPicker(v)
				v.overlay.Paste(text)
			})
		}},
		"resize-pane":       {"moves the pane's border", "resize-pane -L NUMBER, -R, -U or -D; -x or -y with a size such as 80 or 30%; or -Z", resizePane},
		"set-option":        {"turns typing into all panes on or off", "", setOption},
		"set-window-option": {"turns typing into all panes on or off", "", setOption},
		"display-message":   {"shows a text in the status bar", "display-message TEXT, where #S is the session; `longterm ls -F` in scripts", displayMessage},
	}
}

func newWindow(v *viewer, words []string) func() {
	o, line, ok := options(words, "da", "nc")
	if !ok {
		return nil
	}
	return func() { newTabOf(v, o["n"], startSpec{line, o.dir(), o.has("d")}, o.has("a")) }
}

// newSession shows an existing session, as with -A, or starts one with that name.
func newSession(v *viewer, words []string) func() {
	o, line, ok := options(words, "Ad", "snc")
	if !ok || len(o) == 0 {
		return nil
	}
	return func() {
		name := o["s"]
		if s := v.sessionNamed(name); s != nil && name != "" {
			if !o.has("A") {
				v.message = "session " + name + " exists; -A goes to it"
				return
			}
			v.m.GoTo(s.ID)
			return
		}
		createFrom(v, startSpec{line, o.dir(), o.has("d")}, func(id string) {
			if name != "" && v.o.SessionManager != nil {
				rename(v, id, name)
			}
			if !o.has("d") {
				v.m.AddTab(&model.Tab{Name: o["n"], Tree: layout.Leaf(id), Focus: id})
			}
		})
	}
}

func selectWindow(v *viewer, words []string) func() {
	o, rest, ok := options(words, "npl", "t")
	target, aimed := o["t"]
	switch {
	case !ok || rest != "" || len(o) != 1:
		return nil
	case o.has("n"):
		return func() { v.m.StepTab(1) }
	case o.has("p"):
		return func() { v.m.StepTab(-1) }
	case !aimed:
		return func() { lastTab(v) }
	}
	return func() { v.goToTab(strings.TrimLeft(target, ":=")) }
}

// tabNamed returns the tab of a number, a name, or an unambiguous prefix of a name.
func (v *viewer) tabNamed(name string) (i int, why string) {
	if n, err := strconv.Atoi(name); err == nil {
		if n < 1 || n > len(v.m.Tabs) {
			return 0, "no tab " + name + "; tabs count from 1"
		}
		return n - 1, ""
	}
	var found []int
	for i := range v.m.Tabs {
		switch title := v.m.Title(i); {
		case title == name:
			return i, ""
		case strings.HasPrefix(title, name):
			found = append(found, i)
		}
	}
	if len(found) != 1 {
		return 0, "no tab " + name
	}
	return found[0], ""
}

// displayMessage shows a text in the status bar. -p has no effect, because the viewer has no standard output.
func displayMessage(v *viewer, words []string) func() {
	o, _, ok := options(words, "p", "d")
	if rest := words[min(len(words), len(o)):]; ok && len(o) < 2 && !o.has("d") && len(rest) > 0 {
		return func() { v.message = canvas.Printable(v.expandFormat(strings.Join(rest, " "))) }
	}
	return nil
}

func chooseTree(v *viewer, words []string) func() {
	if _, rest, ok := options(words, "GNrswZ", "FfKO"); !ok || rest != "" {
		return nil
	}
	return func() { openPicker(v) }
}

func killSession(v *viewer, words []string) func() {
	return withName(argsAfter(words, "-t"), func(name string) {
		s := v.sessionNamed(strings.TrimPrefix(name, "="))
		if s == nil {
			v.message = "no session " + name
			return
		}
		v.askKillOf(s)
	})
}

func selectPane(v *viewer, words []string) func() {
	if len(words) != 2 || words[0] != "-t" {
		return nil
	}
	n, err := strconv.Atoi(strings.TrimLeft(words[1], ":.%"))
	if err != nil {
		return nil
	}
	return func() { v.goToPane(n) }
}

// arrangements maps tmux's names to built-in arrangements.
var arrangements = map[string]string{
	"even-horizontal": "columns", "even-vertical": "rows", "main-horizontal": "main above", "main-vertical": "main left", "tiled": "tiles",
}

func selectLayout(v *viewer, words []string) func() {
	return withName(words, func(name string) {
		if known := arrangements[name]; known != "" {
			arrangeAs(known)(v, input.Key{})
			return
		}
		v.layouts.use(name)
	})
}

func goToSession(v *viewer, words []string) func() {
	return withName(argsAfter(words, "-t"), func(name string) {
		s := v.sessionNamed(name)
		if s == nil {
			v.message = "no session " + name
			return
		}
		v.m.GoTo(s.ID)
	})
}

// sessionNamed returns the session of a name or an id.
func (v *viewer) sessionNamed(name string) *model.Session {
	i := slices.IndexFunc(v.m.Sessions, func(s model.Session) bool { return s.Name == name || s.ID == name })
	if i < 0 {
		return nil
	}
	return &v.m.Sessions[i]
}

func setOption(v *viewer, words []string) func() {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "-w" })
	if len(words) != 2 || words[0] != "synchronize-panes" || words[1] != "on" && words[1] != "off" {
		return nil
	}
	t := v.m.Tab()
	return func() { t.Sync, v.needsRedraw = words[1] == "on", true }
}

// flags holds options by letter, with their values.
type flags map[string]string

func (f flags) has(letter string) bool {
	_, is := f[letter]
	return is
}

// dir returns the directory of -c, or "" for that of the focused session.
func (f flags) dir() string {
	if rest, here := strings.CutPrefix(f["c"], "#{pane_current_path}"); here {
		return strings.TrimLeft(rest, "/")
	}
	return f["c"]
}

// options parses options: letters in alone have no value, those in valued have one. rest is the line after them. ok is
// false for other options.
func options(words []string, alone, valued string) (o flags, rest string, ok bool) {
	o = flags{}
	for len(words) > 0 && strings.HasPrefix(words[0], "-") && len(words[0]) > 1 {
		letters := words[0][1:]
		words = words[1:]
		for letters != "" {
			letter := letters[:1]
			letters = letters[1:]
			switch {
			case strings.Contains(alone, letter):
				o[letter] = ""
				continue
			case !strings.Contains(valued, letter):
				return nil, "", false
			case letters == "" && len(words) == 0:
				return nil, "", false
			case letters == "":
				letters, words = words[0], words[1:]
			}
			o[letter], letters = letters, ""
		}
	}
	return o, lineOf(words), true
}

// lineOf returns words as a shell line. As in tmux, a single word is a complete line.
func lineOf(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		if quoted[i] = w; w == "" || strings.ContainsAny(w, " \t\n'\"\\$`&|;<>()*?[]#~!{}") {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// argsAfter returns the words after an option that must come first, or nil without that option.
func argsAfter(words []string, option string) []string {
	if len(words) == 0 {
		return nil
	}
	if value, joined := strings.CutPrefix(words[0], option); joined && value != "" {
		return append([]string{value}, words[1:]...)
	}
	if words[0] != option {
		return nil
	}
	return words[1:]
}

// asOneName joins words to one name.
func asOneName(words []string) []string {
	if len(words) == 0 || strings.HasPrefix(words[0], "-") {
		return nil
	}
	return []string{strings.Join(words, " ")}
}

// withName returns a call of do with the only word, or nil unless words holds exactly one.
func withName(words []string, do func(name string)) func() {
	if len(words) != 1 || words[0] == "" || strings.HasPrefix(words[0], "-") {
		return nil
	}
	return func() { do(words[0]) }
}

// typedCommand returns the item for a line typed into the palette that is a tmux command with words it accepts. For any
// other line that cannot be a search, the item shows what to do instead. found reports whether the line matches
// actions.
func typedCommand(v *viewer, line string, found bool) *overlays.Item {
	words := wordsOf(line)
	if len(words) == 0 || found && isActionName(v, words[0], words[1:]) {
		return nil
	}
	names := matchCommands(words[0])
	if len(names) == 1 && (len(words) > 1 || !found || isBareCommand(words[0])) {
		name := names[0]
		if c, known := typedCommands()[name]; known {
			if do := c.bind(v, words[1:]); do != nil {
				return &overlays.Item{Name: name, Text: c.help, Do: do}
			}
		}
		found = found && !isCommandWords(words)
	}
	if found {
		return nil
	}
	why := v.whyNotRun(words, names)
	return &overlays.Item{Text: why, Do: func() { v.message = why }}
}

// isBareCommand reports whether a word is a tmux command that needs no words and is not an action's name.
func isBareCommand(word string) bool { return word == "rotate-window" || word == "rotatew" }

// isCommandWords reports whether a line is a command and not a text to search for.
func isCommandWords(words []string) bool {
	return len(words) > 1 && (strings.Contains(words[0], "-") || strings.HasPrefix(words[1], "-"))
}

// isActionName reports whether a command with its words is the name of an action.
func isActionName(v *viewer, name string, words []string) bool {
	command := " " + strings.Join(append([]string{name}, words...), " ") + " "
	for i := range v.keys.Prefix {
		if strings.Contains(" "+v.keys.Prefix[i].SearchNames()+" ", command) {
			return true
		}
	}
	return false
}

// wordsOf splits a line into words; quotes join words.
func wordsOf(line string) (words []string) {
	var word strings.Builder
	var quote rune
	begun := false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, begun = r, true
		case quote == 0 && r == ' ':
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words
}
