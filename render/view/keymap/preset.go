package keymap

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Preset is a set of keys that people know from another program.
type Preset struct {
	Name   string
	Prefix string              // as input.ParseKey reads it
	Keys   map[string][]string // of actions; those that are not here keep theirs
}

// Presets are the sets there are. tmux's keys in copy mode are those of vi or of emacs, as tmux chooses by the
// person's editor: tmux itself is one of both (Choose).
var Presets = []Preset{
	{Name: "longterm", Prefix: "C-Space"},
	{Name: "tmux-vi", Prefix: "C-b", Keys: with(tmuxKeys, viKeys)},
	{Name: "tmux-emacs", Prefix: "C-b", Keys: with(tmuxKeys, emacsKeys)},
}

// tmuxAuto is the preset that is one of two.
const tmuxAuto = "tmux"

// PresetNames are the names that Choose takes.
func PresetNames() []string { return []string{"longterm", tmuxAuto, "tmux-vi", "tmux-emacs"} }

// Choose is the preset of a name. editor is the person's, $VISUAL or $EDITOR.
func Choose(name, editor string) (*Preset, error) {
	if name == "" {
		name = Presets[0].Name
	}
	if name == tmuxAuto {
		name = "tmux-emacs"
		if base := editor[strings.LastIndexByte(editor, '/')+1:]; strings.Contains(base, "vi") {
			name = "tmux-vi"
		}
	}
	for i := range Presets {
		if Presets[i].Name == name {
			return &Presets[i], nil
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

func with(a, b map[string][]string) map[string][]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
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
var tmuxKeys = map[string][]string{
	"new":          {"N"},
	"pick":         {"s", "w"},
	"next-alert":   {"M-n", "a"},
	"errors":       {"M-e"},
	"kill":         {"x"},
	"close":        {"X"},
	"rename":       {"$"},
	"go":           {},
	"split-right":  {"%"},
	"split-down":   {"\""},
	"next":         {"o"},
	"previous":     {"S-Tab"},
	"last":         {";"},
	"left":         {"Left"},
	"down":         {"Down"},
	"up":           {"Up"},
	"right":        {"Right"},
	"wider":        {"C-Right", "M-Right"},
	"narrower":     {"C-Left", "M-Left"},
	"taller":       {"C-Down", "M-Down"},
	"shorter":      {"C-Up", "M-Up"},
	"even":         {"E"},
	"swap":         {"}"},
	"swap-before":  {"{"},
	"floats":       {"C-f"},
	"float-new":    {"*"},
	"pin":          {"@"},
	"float-left":   {"M-h"},
	"float-down":   {"M-j"},
	"float-up":     {"M-k"},
	"float-right":  {"M-l"},
	"frames":       {},
	"tab-new":      {"c"},
	"tab-next":     {"n"},
	"tab-previous": {"p"},
	"tab-last":     {"l"},
	"tab-go":       {"1", "2", "3", "4", "5", "6", "7", "8", "9"},
	"tab-move":     {"!"},
	"tab-rename":   {","},
	"scroll":       {"[", "PageUp"},
	"search":       {"/"},

	"command-previous": {"H"},
	"copy-output":      {"O"},
	"paste":            {"]"},
	"shell":            {"e"},
	"prompt":           {"P"},
	"read-only":        {"V"},
	"palette":          {":"},
	"quit":             {"d"},
}

// viKeys are tmux's keys in copy mode with mode-keys vi.
var viKeys = map[string][]string{
	"scroll-home":          {"0", "Home"},
	"scroll-other-end":     {"o"},
	"scroll-copy-output":   {"O"},
	"scroll-select-block":  {"C-v"},
	"scroll-search":        {"/", "?"},
	"scroll-leave":         {"q", "Escape", "C-c"},
	"scroll-copy":          {"Enter", "y"},
	"scroll-screen-top":    {"H"},
	"scroll-screen-middle": {"M"},
	"scroll-screen-bottom": {"L"},
}

// emacsKeys are tmux's keys in copy mode with mode-keys emacs.
var emacsKeys = map[string][]string{
	"scroll-up":            {"Up", "C-p"},
	"scroll-down":          {"Down", "C-n"},
	"scroll-left":          {"Left", "C-b"},
	"scroll-right":         {"Right", "C-f"},
	"scroll-word":          {"M-f"},
	"scroll-word-back":     {"M-b"},
	"scroll-home":          {"Home", "C-a"},
	"scroll-line-end":      {"End", "C-e"},
	"scroll-page-up":       {"PageUp", "M-v"},
	"scroll-page-down":     {"PageDown", "C-v", "Space"},
	"scroll-half-up":       {"M-Up"},
	"scroll-half-down":     {"M-Down"},
	"scroll-top":           {"M-<"},
	"scroll-bottom":        {"M->"},
	"scroll-search":        {"C-s", "C-r", "/"},
	"scroll-select":        {"C-Space"},
	"scroll-select-rows":   {"V"},
	"scroll-select-block":  {"R"},
	"scroll-other-end":     {},
	"scroll-copy":          {"M-w", "C-w", "Enter"},
	"scroll-copy-output":   {"o"},
	"scroll-leave":         {"q", "Escape", "C-g", "C-c"},
	"scroll-screen-top":    {"M-R"},
	"scroll-screen-middle": {"M-r"},
	"scroll-screen-bottom": {},
}
