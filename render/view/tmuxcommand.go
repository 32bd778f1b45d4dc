package view

import (
	"slices"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/overlays"
)

// tmuxCommand is one of tmux's commands that people type with words behind it at its prompt; without any they are names of
// actions (keymap.Row.Also).
type tmuxCommand struct {
	names []string
	help  string
	// of is what it does with its words; nil: they are none that it takes.
	of func(v *viewer, words []string) func()
}

// tmuxCommands are those there are (tmux(1), of 3.5).
func tmuxCommands() []tmuxCommand {
	return []tmuxCommand{
		{[]string{"rename-window", "renamew"}, "names the tab", func(v *viewer, words []string) func() {
			t := v.m.Tab()
			return named(together(words), func(name string) { t.Name = name })
		}},
		{[]string{"rename-session", "rename"}, "renames the focused session", func(v *viewer, words []string) func() {
			s := v.m.Session(v.m.Focus)
			if s == nil || v.o.Steward == nil {
				return nil
			}
			id := s.ID
			return named(together(words), func(name string) { rename(v, id, name) })
		}},
		{[]string{"new-window", "neww"}, "starts a session in a tab of its own, of this name", func(v *viewer, words []string) func() {
			return named(behind(words, "-n"), func(name string) {
				create(v, func(id string) { v.m.AddTab(&model.Tab{Name: name, Tree: layout.Leaf(id), Focus: id}) })
			})
		}},
		{[]string{"select-window", "selectw"}, "shows the tab of this number", func(v *viewer, words []string) func() {
			return named(behind(words, "-t"), func(name string) {
				n, err := strconv.Atoi(strings.TrimLeft(name, ":="))
				if err != nil || n < 1 || n > len(v.m.Tabs) {
					v.message = "no tab " + name + "; they count from 1"
					return
				}
				v.m.Show(n - 1)
			})
		}},
		{[]string{"switch-client", "switchc", "attach-session", "attach"}, "goes to the session of this name", func(v *viewer, words []string) func() {
			return named(behind(words, "-t"), func(name string) {
				i := slices.IndexFunc(v.m.Sessions, func(s model.Session) bool { return s.Name == name || s.ID == name })
				if i < 0 {
					v.message = "no session " + name
					return
				}
				v.m.GoTo(v.m.Sessions[i].ID)
			})
		}},
		{[]string{"resize-pane", "resizep"}, "moves the pane's border by so many cells", resizePane},
		{[]string{"set-window-option", "setw", "set"}, "types into all panes of the tab, or no more", func(v *viewer, words []string) func() {
			words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "-w" })
			if len(words) != 2 || words[0] != "synchronize-panes" || words[1] != "on" && words[1] != "off" {
				return nil
			}
			t := v.m.Tab()
			return func() { t.Sync, v.fresh = words[1] == "on", true }
		}},
		{[]string{"display-message", "display"}, "says it in the bar", func(v *viewer, words []string) func() {
			if len(words) == 0 || strings.HasPrefix(words[0], "-") {
				return nil
			}
			return func() { v.message = strings.Join(words, " ") }
		}},
	}
}

// resizePane takes a number; without any it is an action's name.
func resizePane(v *viewer, words []string) func() {
	if len(words) != 2 {
		return nil
	}
	cells, err := strconv.Atoi(words[1])
	if err != nil || cells < 1 || cells > 1000 {
		return nil
	}
	if words[0] == "-L" || words[0] == "-U" {
		cells = -cells
	}
	if !slices.Contains([]string{"-L", "-R", "-U", "-D"}, words[0]) {
		return nil
	}
	return func() {
		if !v.m.MoveBorder(v.paneArea(), words[0] == "-U" || words[0] == "-D", cells) {
			v.message = "there is no border to move"
		}
	}
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

// typedCommand is what a line typed into the palette does, where it is one of tmux's commands with words that it takes.
func typedCommand(v *viewer, line string) *overlays.Item {
	words := wordsOf(line)
	if len(words) < 2 {
		return nil
	}
	for _, c := range tmuxCommands() {
		if !slices.Contains(c.names, words[0]) {
			continue
		}
		if do := c.of(v, words[1:]); do != nil {
			return &overlays.Item{Name: words[0], Text: c.help, Do: do}
		}
	}
	return nil
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
