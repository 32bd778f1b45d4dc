package keymap

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Preset is a set of keys that people know from another program.
type Preset struct {
	Name   string
	Prefix string              // as input.ParseKey reads it
	Keys   map[string][]string // of actions; those that are not here keep theirs
	Modes  []Mode              // keys without the prefix
}

// Presets are the sets there are. tmux's keys in copy mode are those of vi or of emacs, as tmux chooses by the
// person's editor: tmux itself is one of both (Choose).
var Presets = sync.OnceValue(func() []Preset {
	tmux, vi := tmuxKeys(), viKeys()
	return []Preset{
		{Name: longterm, Prefix: Leader},
		{Name: "tmux-vi", Prefix: "C-b", Keys: with(tmux, vi)},
		{Name: "tmux-emacs", Prefix: "C-b", Keys: with(tmux, emacsKeys())},
		{Name: "zellij", Prefix: "C-b", Keys: with(tmux, vi, zellijKeys()), Modes: zellijModes()},
	}
})

// Leader is the key before the viewer's commands where nobody chose another.
const Leader = "C-Space"

// longterm is the preset where none is named.
const longterm = "longterm"

// tmuxAuto is the preset that is one of two.
const tmuxAuto = "tmux"

// PresetNames are the names that Choose takes.
func PresetNames() []string { return []string{longterm, tmuxAuto, "tmux-vi", "tmux-emacs", "zellij"} }

// Choose is the preset of a name. editor is the person's, $VISUAL or $EDITOR.
func Choose(name, editor string) (*Preset, error) {
	if name == "" {
		name = longterm
	}
	if name == tmuxAuto {
		name = "tmux-emacs"
		if base := editor[strings.LastIndexByte(editor, '/')+1:]; strings.Contains(base, "vi") {
			name = "tmux-vi"
		}
	}
	presets := Presets()
	for i := range presets {
		if presets[i].Name == name {
			return &presets[i], nil
		}
	}
	return nil, fmt.Errorf("no keys are called %q; there are %s", name, strings.Join(PresetNames(), ", "))
}

// With are the preset's keys with the person's own ones. A key does what the person says, else what the preset
// says, else what it does in the viewer's own table.
func (p *Preset) With(own map[string][]string) map[string][]string {
	if p.Keys == nil {
		return own
	}
	all := map[string][]string{}
	for _, rows := range [][]Row{Prefix, Scroll} {
		taken := chordsOf(rows, own)
		takenHere := append(chordsOf(rows, p.Keys), taken...)
		for _, r := range rows {
			a := string(r.Action)
			if chords, set := own[a]; set {
				all[a] = chords
			} else if chords, set := p.Keys[a]; set {
				all[a] = without(chords, taken)
			} else {
				all[a] = without(r.Chords, takenHere)
			}
		}
	}
	for a, chords := range own { // what is no action is said by New
		all[a] = chords
	}
	return all
}

func with(a map[string][]string, others ...map[string][]string) map[string][]string {
	all := maps.Clone(a)
	for _, o := range others {
		maps.Copy(all, o)
	}
	return all
}

// chordsOf are the keys that a set has for a table's actions.
func chordsOf(rows []Row, of map[string][]string) (all []string) {
	for _, r := range rows {
		all = append(all, of[string(r.Action)]...)
	}
	return all
}

func without(chords, taken []string) []string {
	return slices.DeleteFunc(slices.Clone(chords), func(c string) bool { return slices.Contains(taken, c) })
}

// tmuxKeys is tmux's table of keys after the prefix, as far as there is what they do (tmux(1), Default key
// bindings, of tmux 3.5). What tmux has no key for keeps the viewer's, where tmux has no other use for it.
func tmuxKeys() map[string][]string {
	return map[string][]string{
		"new":            {"N"},
		"pick":           {"s", "w", "f"},
		"next-alert":     {"M-n", "a"},
		"errors":         {"M-e"},
		"error-next":     {"M-."},
		"error-previous": {"M-,"},
		"follow":         {"M-f"},
		"pane-go":        {"q"},
		"columns":        {"M-1"},
		"rows":           {"M-2"},
		"main-above":     {"M-3"},
		"main-left":      {"M-4"},
		"tiles":          {"M-5"},
		"kill":           {"x"},
		"close":          {"X"},
		"rename":         {"$"},
		"go":             {},
		"split-right":    {"%"},
		"split-down":     {"\""},
		"next":           {"o"},
		"previous":       {"S-Tab"},
		"last":           {";"},
		"left":           {"Left"},
		"down":           {"Down"},
		"up":             {"Up"},
		"right":          {"Right"},
		"wider":          {"C-Right", "M-Right"},
		"narrower":       {"C-Left", "M-Left"},
		"taller":         {"C-Down", "M-Down"},
		"shorter":        {"C-Up", "M-Up"},
		"even":           {"E"},
		"swap":           {"}"},
		"swap-before":    {"{"},
		"floats":         {"C-f"},
		"float-new":      {"*"},
		"pin":            {"@"},
		"float-left":     {"M-h"},
		"float-down":     {"M-j"},
		"float-up":       {"M-k"},
		"float-right":    {"M-l"},
		"frames":         {},
		"tab-new":        {"c"},
		"tab-next":       {"n"},
		"tab-previous":   {"p"},
		"tab-last":       {"l"},
		"tab-go":         {"1", "2", "3", "4", "5", "6", "7", "8", "9"},
		"tab-move":       {"!"},
		"tab-rename":     {","},
		"scroll":         {"[", "PageUp"},
		"search":         {"/"},

		"command-previous": {"H"},
		"copy-output":      {"O"},
		"paste":            {"]"},
		"shell":            {"e"},
		"prompt":           {"P"},
		"read-only":        {"V"},
		"palette":          {":"},
		"quit":             {"d"},
	}
}

// viKeys are tmux's keys in copy mode with mode-keys vi.
func viKeys() map[string][]string {
	return map[string][]string{
		"scroll-home":          {"0", "Home"},
		"scroll-view-up":       {"C-y", "C-Up"},
		"scroll-view-down":     {"C-e", "C-Down"},
		"scroll-other-end":     {"o"},
		"scroll-copy-output":   {"O"},
		"scroll-select-block":  {"C-v"},
		"scroll-search":        {"/", "?"},
		"scroll-leave":         {"q", "C-c"},
		"scroll-unselect":      {"Escape"},
		"scroll-copy":          {"Enter", "y"},
		"scroll-screen-top":    {"H"},
		"scroll-screen-middle": {"M"},
		"scroll-screen-bottom": {"L"},
	}
}

// emacsKeys are tmux's keys in copy mode with mode-keys emacs.
func emacsKeys() map[string][]string {
	return map[string][]string{
		"scroll-up":            {"Up", "C-p"},
		"scroll-down":          {"Down", "C-n"},
		"scroll-left":          {"Left", "C-b"},
		"scroll-right":         {"Right", "C-f"},
		"scroll-word":          {},
		"scroll-word-behind":   {"M-f"},
		"scroll-word-back":     {"M-b"},
		"scroll-home":          {"Home", "C-a"},
		"scroll-line-end":      {},
		"scroll-line-behind":   {"End", "C-e"},
		"scroll-text-begin":    {"M-m"},
		"scroll-view-up":       {"C-Up"},
		"scroll-view-down":     {"C-Down"},
		"scroll-page-up":       {"PageUp", "M-v"},
		"scroll-page-down":     {"PageDown", "C-v", "Space"},
		"scroll-half-up":       {"M-Up"},
		"scroll-half-down":     {"M-Down"},
		"scroll-top":           {"M-<"},
		"scroll-bottom":        {"M->"},
		"scroll-search":        {"C-s", "C-r", "/"},
		"scroll-select":        {},
		"scroll-mark":          {"C-Space"},
		"scroll-select-rows":   {"V"},
		"scroll-select-block":  {"R"},
		"scroll-other-end":     {},
		"scroll-copy":          {"M-w", "C-w", "Enter"},
		"scroll-copy-line-end": {"C-k"},
		"scroll-copy-output":   {"o"},
		"scroll-leave":         {"q", "Escape", "C-c"},
		"scroll-unselect":      {"C-g"},
		"scroll-screen-top":    {"M-R"},
		"scroll-screen-middle": {"M-r"},
		"scroll-screen-bottom": {},
	}
}

// zellijModes are the modes of zellij's default keys that have a use here. Its move mode has none: most terminals send
// the same for its key, Ctrl-h, as for Backspace.
func zellijModes() []Mode {
	return []Mode{{Name: "pane", Key: "C-p"}, {Name: "tab", Key: "C-t"}, {Name: "resize", Key: "C-n"}, {Name: "session", Key: "C-o"}, {Name: Locked, Key: "C-g"}}
}

// zellijKeys is zellij's table of keys, as far as there is what they do (its default configuration, of 0.43). After C-b
// it has tmux's keys, which stand here too: what is only there is tmuxKeys'.
func zellijKeys() map[string][]string {
	return map[string][]string{
		"new":          {"N", "pane:n", "direct:M-n"},
		"split-right":  {"%", "pane:r"},
		"split-down":   {"\"", "pane:d"},
		"next":         {"o", "pane:p", "pane:Tab"},
		"left":         {"Left", "h", "pane:h", "pane:Left", "direct:M-h", "direct:M-Left"},
		"down":         {"Down", "j", "pane:j", "pane:Down", "direct:M-j", "direct:M-Down"},
		"up":           {"Up", "k", "pane:k", "pane:Up", "direct:M-k", "direct:M-Up"},
		"right":        {"Right", "l", "pane:l", "pane:Right", "direct:M-l", "direct:M-Right"},
		"zoom":         {"z", "pane:f"},
		"floats":       {"C-f", "pane:w", "direct:M-f"},
		"float":        {"F", "pane:e"},
		"pin":          {"@", "pane:i"},
		"frames":       {"pane:z"},
		"rename":       {"$", "pane:c"},
		"kill":         {"x", "pane:x"},
		"wider":        {"C-Right", "M-Right", "resize:l", "resize:Right", "resize:=", "resize:+", "direct:M-=", "direct:M-+"},
		"narrower":     {"C-Left", "M-Left", "resize:h", "resize:Left", "resize:-", "direct:M--"},
		"taller":       {"C-Down", "M-Down", "resize:j", "resize:Down"},
		"shorter":      {"C-Up", "M-Up", "resize:k", "resize:Up"},
		"arrange":      {"Space", "direct:M-]"},
		"tab-new":      {"c", "tab:n"},
		"tab-next":     {"n", "tab:l", "tab:Right", "tab:j", "tab:Down"},
		"tab-previous": {"p", "tab:h", "tab:Left", "tab:k", "tab:Up"},
		"tab-last":     {"tab:Tab"},
		"tab-go":       {"1", "2", "3", "4", "5", "6", "7", "8", "9", "tab:1", "tab:2", "tab:3", "tab:4", "tab:5", "tab:6", "tab:7", "tab:8", "tab:9"},
		"tab-rename":   {",", "tab:r"},
		"tab-close":    {"&", "tab:x"},
		"tab-move":     {"!", "tab:b"},
		"sync":         {"y", "tab:s"},
		"scroll":       {"[", "PageUp", "direct:C-s"},
		"pick":         {"s", "w", "session:w"},
		"quit":         {"d", "session:d", "direct:C-q"},
		"float-left":   {},
		"float-down":   {},
		"float-up":     {},
		"float-right":  {},

		"scroll-search":    {"s", "/", "?"},
		"scroll-half-up":   {"C-u", "u"},
		"scroll-half-down": {"C-d", "d"},
		"scroll-leave":     {"q", "C-c", "C-s"},
		"scroll-unselect":  {"Escape"},
	}
}
