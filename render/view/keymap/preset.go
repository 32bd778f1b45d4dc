package keymap

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Preset is a set of keys that users know from another program.
type Preset struct {
	Name   string
	Prefix string              // as input.ParseKey reads it
	Keys   map[string][]string // keys of actions; actions without an entry keep their keys
	Modes  []Mode              // keys without the prefix
}

// Presets returns the available presets. tmux's keys in copy mode are those of vi or of emacs, chosen by the user's
// editor as in tmux, so there are two presets for tmux (Choose).
var Presets = sync.OnceValue(func() []Preset {
	tmux, vi := tmuxKeys(), viKeys()
	return []Preset{
		{Name: longterm, Prefix: Leader},
		{Name: "tmux-vi", Prefix: "C-b", Keys: with(tmux, vi)},
		{Name: "tmux-emacs", Prefix: "C-b", Keys: with(tmux, emacsKeys())},
		{Name: "zellij", Prefix: "C-b", Keys: with(tmux, vi, zellijKeys()), Modes: zellijModes()},
	}
})

// Leader is the default prefix key.
const Leader = "C-Space"

// longterm is the default preset.
const longterm = "longterm"

// tmuxAuto is the name that selects one of tmux's two presets.
const tmuxAuto = "tmux"

// PresetNames returns the names that Choose accepts.
func PresetNames() []string { return []string{longterm, tmuxAuto, "tmux-vi", "tmux-emacs", "zellij"} }

// Choose returns the preset of a name. editor is the user's $VISUAL or $EDITOR.
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
	return nil, fmt.Errorf("unknown key preset %q; use one of %s", name, strings.Join(PresetNames(), ", "))
}

// With returns the preset's keys with the user's changes. The user's keys come first, then the preset's, then the
// viewer's defaults.
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
	for a, chords := range own { // New reports unknown actions
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

// chordsOf returns the keys that a set has for a table's actions.
func chordsOf(rows []Row, set map[string][]string) (all []string) {
	for _, r := range rows {
		all = append(all, set[string(r.Action)]...)
	}
	return all
}

func without(chords, taken []string) []string {
	return slices.DeleteFunc(slices.Clone(chords), func(c string) bool { return slices.Contains(taken, c) })
}

// tmuxKeys returns tmux's keys after the prefix that have an action here (tmux(1), default key bindings, tmux 3.5).
// Actions without a key in tmux keep the viewer's key, unless tmux uses that key otherwise.
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

// viKeys returns tmux's keys in copy mode with mode-keys vi.
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

// emacsKeys returns tmux's keys in copy mode with mode-keys emacs.
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

// zellijModes returns the modes of zellij's default keys that have a use here. Its move mode is omitted: most terminals
// send the same byte for its key Ctrl-h as for Backspace.
func zellijModes() []Mode {
	return []Mode{{Name: "pane", Key: "C-p"}, {Name: "tab", Key: "C-t"}, {Name: "resize", Key: "C-n"}, {Name: "session", Key: "C-o"}, {Name: Locked, Key: "C-g"}}
}

// zellijKeys returns zellij's keys that have an action here (its default configuration, 0.43). After C-b zellij has
// tmux's keys, which are repeated here; keys that only tmux has are in tmuxKeys.
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
