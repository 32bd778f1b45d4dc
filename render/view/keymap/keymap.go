package keymap

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/vterm/input"
)

// Map finds actions by keys.
type Map struct {
	PrefixName     string // of the prefix key, for people, where there is one
	Prefix, Scroll []Row
	Modes          []Mode
	byPrefix       map[string]Action
	byScroll       map[string]Action
	direct         map[string]string // names of modes by the keys that begin them
}

// New makes a map of the tables, with other chords for some actions; no chord at all
// takes the key away. A chord is a key after the prefix, or MODE:KEY.
func New(other map[string][]string, modes ...Mode) (*Map, error) {
	m := &Map{Prefix: slices.Clone(Prefix), Scroll: slices.Clone(Scroll)}
	left := map[string]bool{}
	for name := range other {
		left[name] = true
	}
	var err, errScroll error
	inModes := newModes(modes)
	m.byPrefix, err = index(m.Prefix, other, left, inModes)
	m.byScroll, errScroll = index(m.Scroll, other, left, nil)
	if err == nil {
		m.Modes, m.direct, err = inModes.whole()
	}
	if err = errors.Join(err, errScroll); err != nil {
		return nil, err
	}
	for name := range left {
		return nil, fmt.Errorf("no action is called %q; the help (?) lists them", name)
	}
	return m, nil
}

func index(rows []Row, other map[string][]string, left map[string]bool, modes *modeIndex) (map[string]Action, error) {
	by := map[string]Action{}
	for i := range rows {
		r := &rows[i]
		if chords, ok := other[string(r.Action)]; ok {
			r.Chords, r.Brief = chords, ""
			delete(left, string(r.Action))
		}
		if err := modes.take(r); err != nil {
			return nil, err
		}
		for _, c := range r.Chords {
			k, err := input.ParseKey(c)
			if err != nil {
				return nil, fmt.Errorf("key of %s: %w", r.Action, err)
			}
			if taken, ok := by[k.String()]; ok {
				return nil, fmt.Errorf("key %s is %s and %s: give one of them another", c, taken, r.Action)
			}
			by[k.String()] = r.Action
		}
	}
	return by, nil
}

// AfterPrefix returns what a key does after the prefix, and an empty action if it does nothing.
func (m *Map) AfterPrefix(k input.Key) Action { return find(m.byPrefix, k) }

// find returns what a key does. A key of another script counts as the US key at its place.
func find(by map[string]Action, k input.Key) Action {
	if a := by[name(k)]; a != "" {
		return a
	}
	if us, ok := k.US(); ok {
		return by[name(us)]
	}
	return ""
}

// isChord reports whether a key types no text.
func isChord(k input.Key) bool { return k.Mods&^(input.Shift|input.CapsLock|input.NumLock) != 0 }

// repeating are actions whose keys tmux repeats without the prefix (bind-key -r).
var repeating = map[Action]bool{"left": true, "down": true, "up": true, "right": true, "wider": true, "narrower": true, "taller": true, "shorter": true}

// Repeats reports whether an action's keys may go on without the prefix, where keys repeat.
func Repeats(a Action) bool { return repeating[a] }

// InScroll returns what a key does in copy mode, and an empty action if it does nothing.
func (m *Map) InScroll(k input.Key) Action { return find(m.byScroll, k) }

// name is a key's name, without what is no part of it.
func name(k input.Key) string {
	return input.Key{Code: k.Code, Mods: k.Mods &^ (input.CapsLock | input.NumLock)}.String()
}

// PrefixLabel is the first key of an action after the prefix, for people.
func (m *Map) PrefixLabel(a Action) string { return firstLabel(m.Prefix, a) }

// Chord are the prefix and the key of an action, for people: Ctrl-Space z. One without a key is found by its name.
func (m *Map) Chord(a Action) string {
	label := m.PrefixLabel(a)
	if label == "" && a != "palette" {
		return m.Chord("palette") + " " + words(a)
	}
	return m.PrefixName + " " + label
}

// ScrollLabel is the first key of an action in copy mode, for people.
func (m *Map) ScrollLabel(a Action) string { return firstLabel(m.Scroll, a) }

func firstLabel(rows []Row, a Action) string {
	for i := range rows {
		if r := &rows[i]; r.Action == a && len(r.Chords) > 0 {
			return Label(r.Chords[0])
		}
	}
	return ""
}

// Name is what the action is called in lists: its name, in words.
func (r *Row) Name() string { return words(r.Action) }

func words(a Action) string { return strings.ReplaceAll(string(a), "-", " ") }

// Label is a row's keys for people: the first, or 1-9.
func (r *Row) Label() string {
	switch {
	case r.Brief != "":
		return r.Brief
	case len(r.Chords) == 0:
		return ""
	case r.numbers():
		return Label(r.Chords[0]) + "-9"
	}
	return Label(r.Chords[0])
}

// numbers reports that a row has a key for each number.
func (r *Row) numbers() bool {
	return len(r.Chords) == 9 && strings.HasSuffix(r.Chords[0], "1") && strings.HasSuffix(r.Chords[8], "9")
}

// Labels are all of a row's keys for people.
func (r *Row) Labels() string {
	if r.numbers() {
		return Label(r.Chords[0]) + "-9"
	}
	var out []string
	for _, c := range r.Chords {
		out = append(out, Label(c))
	}
	return strings.Join(out, " ")
}

var arrows = strings.NewReplacer("Left", "←", "Right", "→", "Up", "↑", "Down", "↓")

// Label is a chord for people: Ctrl-Space, Shift-Tab, ←.
func Label(chord string) string {
	k, err := input.ParseKey(chord)
	if err != nil {
		return chord
	}
	if strings.HasPrefix(chord, "Page") {
		return chord
	}
	return arrows.Replace(KeyLabel(k))
}

var modNames = []struct {
	mod  input.Mods
	name string
}{{input.Ctrl, "Ctrl-"}, {input.Alt, "Alt-"}, {input.Shift, "Shift-"}, {input.Super, "Super-"}, {input.Meta, "Meta-"}, {input.Hyper, "Hyper-"}}

// KeyLabel is a key for people.
func KeyLabel(k input.Key) string {
	label := ""
	for _, m := range modNames {
		if k.Mods&m.mod != 0 {
			label += m.name
		}
	}
	bare := input.Key{Code: k.Code}.String()
	if upper := (input.Key{Code: k.Code, Mods: input.Shift}).String(); k.Mods == input.Shift && len(upper) == 1 {
		return upper // a capital letter
	}
	switch bare {
	case "BSpace":
		bare = "Backspace"
	case "DC":
		bare = "Delete"
	case "IC":
		bare = "Insert"
	case "PPage", "PgUp":
		bare = "PageUp"
	case "NPage", "PgDn":
		bare = "PageDown"
	}
	return label + bare
}
