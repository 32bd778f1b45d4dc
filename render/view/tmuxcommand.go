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

// typed is one of tmux's commands with words behind it that is done here; without any, commands are names of actions
// (keymap.Row.Also).
type typed struct {
	help, write string // what it does, and with what words
	// of is what it does with its words; nil: they are none that it takes.
	of func(v *viewer, words []string) func()
}

// typedCommands are those there are, by tmux's names.
func typedCommands() map[string]typed {
	return map[string]typed{
		"rename-window": {"names the tab", "rename-window NAME", func(v *viewer, words []string) func() {
			t := v.m.Tab()
			return named(together(words), func(name string) { t.Name = name })
		}},
		"rename-session": {"renames the focused session", "rename-session NAME", func(v *viewer, words []string) func() {
			s := v.m.Session(v.m.Focus)
			if s == nil || v.o.Steward == nil {
				return nil
			}
			id := s.ID
			return named(together(words), func(name string) { rename(v, id, name) })
		}},
		"new-window":     {"starts a session in a tab of its own", "new-window -n NAME -c DIR COMMAND, each as you like; -d leaves the focus", newWindow},
		"new-session":    {"goes to a session, or starts it", "new-session -A -s NAME COMMAND, the last as you like", newSession},
		"split-window":   {"starts a session beside the pane", "split-window -h -l SIZE -c DIR COMMAND, each as you like; -b before, -f along all", splitWindow},
		"join-pane":      {"takes a pane of another tab into this one", "join-pane -h -s TAB, TAB.PANE or SESSION; -b, -f and -l SIZE as of split-window", joinPane},
		"move-pane":      {"takes a pane of another tab into this one", "move-pane -h -s TAB, TAB.PANE or SESSION; -b, -f and -l SIZE as of split-window", joinPane},
		"rotate-window":  {"has each pane take the place of the one before it", "rotate-window -D, the other way round", rotateWindow},
		"respawn-pane":   {"ends the session and starts it again", "respawn-pane -k", respawnPane},
		"move-window":    {"gives the tab another place", "move-window -t NUMBER", moveWindow},
		"swap-window":    {"swaps the tab with another one", "swap-window -t NUMBER or NAME", swapWindow},
		"display-popup":  {"starts a session in a floating pane", "display-popup -E COMMAND, with -d DIR as you like", popup},
		"choose-tree":    {"all sessions in a list", "choose-tree", chooseTree},
		"kill-session":   {"ends the session of this name; asks", "kill-session -t SESSION", killSession},
		"select-window":  {"shows the tab of this number or name", "select-window -t NUMBER or NAME, or -n, -p, -l", selectWindow},
		"select-pane":    {"goes to the pane of this number", "select-pane -t NUMBER, or -L, -R, -U, -D, -l", selectPane},
		"select-layout":  {"arranges the panes so", "select-layout NAME: of a saved one, or tiled, main-vertical, even-vertical …", selectLayout},
		"switch-client":  {"goes to the session of this name", "switch-client -t SESSION", goToSession},
		"attach-session": {"goes to the session of this name", "attach-session -t SESSION", goToSession},
		"find-window": {"finds sessions by this text", "find-window TEXT", func(v *viewer, words []string) func() {
			return named(together(words), func(text string) {
				openPicker(v)
				v.over.Paste(text)
			})
		}},
		"resize-pane":       {"moves the pane's border by so many cells", "resize-pane -L NUMBER, -R, -U or -D; -x or -y with a size, as 80 or 30%; or -Z", resizePane},
		"set-option":        {"types into all panes of the tab, or no more", "", setOption},
		"set-window-option": {"types into all panes of the tab, or no more", "", setOption},
		"display-message":   {"says it in the bar", "display-message TEXT, in which #S is the session; `longterm ls -F` in scripts", displayMessage},
	}
}

func newWindow(v *viewer, words []string) func() {
	o, line, ok := options(words, "da", "nc")
	if !ok {
		return nil
	}
	return func() { newTabOf(v, o["n"], made{line, o.dir(), o.has("d")}, o.has("a")) }
}

// newSession goes to a session that is there, as with -A, or starts one of that name.
func newSession(v *viewer, words []string) func() {
	o, line, ok := options(words, "Ad", "snc")
	if !ok || len(o) == 0 {
		return nil
	}
	return func() {
		name := o["s"]
		if s := v.called(name); s != nil && name != "" {
			if !o.has("A") {
				v.message = "there is a session " + name + "; -A goes to it"
				return
			}
			v.m.GoTo(s.ID)
			return
		}
		createOf(v, made{line, o.dir(), o.has("d")}, func(id string) {
			if name != "" && v.o.Steward != nil {
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

// tabCalled is the tab of a number or a name, or of its beginning where it is that of one only.
func (v *viewer) tabCalled(name string) (i int, why string) {
	if n, err := strconv.Atoi(name); err == nil {
		if n < 1 || n > len(v.m.Tabs) {
			return 0, "no tab " + name + "; they count from 1"
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

// displayMessage is the same with -p: there is no other place to print to.
func displayMessage(v *viewer, words []string) func() {
	o, _, ok := options(words, "p", "d")
	if rest := words[min(len(words), len(o)):]; ok && len(o) < 2 && !o.has("d") && len(rest) > 0 {
		return func() { v.message = canvas.Printable(v.formatted(strings.Join(rest, " "))) }
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
	return named(behind(words, "-t"), func(name string) {
		s := v.called(strings.TrimPrefix(name, "="))
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

// arrangements are the ready-made ones by tmux's names.
var arrangements = map[string]string{
	"even-horizontal": "columns", "even-vertical": "rows", "main-horizontal": "main above", "main-vertical": "main left", "tiled": "tiles",
}

func selectLayout(v *viewer, words []string) func() {
	return named(words, func(name string) {
		if known := arrangements[name]; known != "" {
			arranged(known)(v, input.Key{})
			return
		}
		v.layouts.use(name)
	})
}

func goToSession(v *viewer, words []string) func() {
	return named(behind(words, "-t"), func(name string) {
		s := v.called(name)
		if s == nil {
			v.message = "no session " + name
			return
		}
		v.m.GoTo(s.ID)
	})
}

// called is the session of a name or an id.
func (v *viewer) called(name string) *model.Session {
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
	return func() { t.Sync, v.fresh = words[1] == "on", true }
}

// flags are options that were given, by their letters, with their words.
type flags map[string]string

func (f flags) has(letter string) bool {
	_, is := f[letter]
	return is
}

// dir is the directory of -c; empty: that of the focused session.
func (f flags) dir() string {
	if rest, here := strings.CutPrefix(f["c"], "#{pane_current_path}"); here {
		return strings.TrimLeft(rest, "/")
	}
	return f["c"]
}

// options takes options off words: letters that stand alone, and those that have a word. rest is the line behind them. ok is
// false where there are others.
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

// lineOf is the line of a shell that words are: one word is a line already, as tmux takes it.
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

// behind are the words behind an option that has to be first; none: it is not.
func behind(words []string, option string) []string {
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

// together are words that are one name.
func together(words []string) []string {
	if len(words) == 0 || strings.HasPrefix(words[0], "-") {
		return nil
	}
	return []string{strings.Join(words, " ")}
}

// named does something with the one word there is; nil: there is none, or there are more.
func named(words []string, do func(name string)) func() {
	if len(words) != 1 || words[0] == "" || strings.HasPrefix(words[0], "-") {
		return nil
	}
	return func() { do(words[0]) }
}

// typedCommand is what a line typed into the palette does by itself: one of tmux's commands with words that it takes. Where it is
// no such, and cannot be meant to find something, it says what to do instead. found: there are actions that it finds.
func typedCommand(v *viewer, line string, found bool) *overlays.Item {
	words := wordsOf(line)
	if len(words) == 0 || found && actionCalled(v, words[0], words[1:]) {
		return nil
	}
	names := commandsCalled(words[0])
	if len(names) == 1 && (len(words) > 1 || !found || bareCommand(words[0])) {
		name := names[0]
		if c, known := typedCommands()[name]; known {
			if do := c.of(v, words[1:]); do != nil {
				return &overlays.Item{Name: name, Text: c.help, Do: do}
			}
		}
		found = found && !meantAsCommand(words)
	}
	if found {
		return nil
	}
	why := v.notDone(words, names)
	return &overlays.Item{Text: why, Do: func() { v.message = why }}
}

// bareCommand says that a word is one of tmux's commands that is no action's name and needs no more words.
func bareCommand(word string) bool { return word == "rotate-window" || word == "rotatew" }

// meantAsCommand says that a line is no text to find something by.
func meantAsCommand(words []string) bool {
	return len(words) > 1 && (strings.Contains(words[0], "-") || strings.HasPrefix(words[1], "-"))
}

// actionCalled says that a command with its words is a name of an action.
func actionCalled(v *viewer, name string, words []string) bool {
	command := " " + strings.Join(append([]string{name}, words...), " ") + " "
	for i := range v.keys.Prefix {
		if strings.Contains(" "+v.keys.Prefix[i].Also()+" ", command) {
			return true
		}
	}
	return false
}

// wordsOf are the words of a line; quotes hold some together.
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
