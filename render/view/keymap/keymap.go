package keymap

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/vterm/input"
)

// Map maps keys to actions.
type Map struct {
	PrefixName     string // readable name of the prefix key; "": none
	Prefix, Scroll []Row
	Modes          []Mode
	prefixActions  map[string]Action
	scrollActions  map[string]Action
	modeByKey      map[string]string // names of modes, by the key that starts or ends each without the prefix
}

// New returns a map of the tables, with other chords for some actions. An empty list of chords removes the key. A chord
// is a key after the prefix, or MODE:KEY.
func New(other map[string][]string, modes ...Mode) (*Map, error) {
	m := &Map{Prefix: slices.Clone(Prefix), Scroll: slices.Clone(Scroll)}
	left := map[string]bool{}
	for name := range other {
		left[name] = true
	}
	var err, errScroll error
	inModes := newModes(modes)
	m.prefixActions, err = index(m.Prefix, other, left, inModes)
	m.scrollActions, errScroll = index(m.Scroll, other, left, nil)
	if err == nil {
		m.Modes, m.modeByKey, err = inModes.build()
	}
	if err = errors.Join(err, errScroll); err != nil {
		return nil, err
	}
	for name := range left {
		return nil, fmt.Errorf("unknown action %q; the help (?) lists them", name)
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
				return nil, fmt.Errorf("key %s is bound to both %s and %s: change one", c, taken, r.Action)
			}
			by[k.String()] = r.Action
		}
	}
	return by, nil
}

// AfterPrefix returns the action of a key after the prefix, or "".
func (m *Map) AfterPrefix(k input.Key) Action { return find(m.prefixActions, k) }

// find returns the action of a key. A key of another script counts as the US key at its place.
func find(actions map[string]Action, k input.Key) Action {
	if a := actions[name(k)]; a != "" {
		return a
	}
	if us, ok := k.US(); ok {
		return actions[name(us)]
	}
	return ""
}

// isChord reports whether a key does not type text.
func isChord(k input.Key) bool { return k.Mods&^(input.Shift|input.CapsLock|input.NumLock) != 0 }

// repeating holds the actions whose keys tmux repeats without the prefix (bind-key -r).
var repeating = map[Action]bool{"left": true, "down": true, "up": true, "right": true, "wider": true, "narrower": true, "taller": true, "shorter": true}

// Repeats reports whether an action's keys work without the prefix for a while.
func Repeats(a Action) bool { return repeating[a] }

// InScroll returns the action of a key in copy mode, or "".
func (m *Map) InScroll(k input.Key) Action { return find(m.scrollActions, k) }

// name returns a key's name without lock modifiers.
func name(k input.Key) string {
	return input.Key{Code: k.Code, Mods: k.Mods &^ (input.CapsLock | input.NumLock)}.String()
}

// PrefixLabel returns the label of an action's first key after the prefix.
func (m *Map) PrefixLabel(a Action) string { return firstLabel(m.Prefix, a) }

// Chord returns the label of the prefix and an action's key, such as Ctrl-Space z. For an action without a key it
// returns the palette's key and the action's name.
func (m *Map) Chord(a Action) string {
	label := m.PrefixLabel(a)
	if label == "" && a != "palette" {
		return m.Chord("palette") + " " + words(a)
	}
	return m.PrefixName + " " + label
}

// ScrollLabel returns the label of an action's first key in copy mode.
func (m *Map) ScrollLabel(a Action) string { return firstLabel(m.Scroll, a) }

func firstLabel(rows []Row, a Action) string {
	for i := range rows {
		if r := &rows[i]; r.Action == a && len(r.Chords) > 0 {
			return Label(r.Chords[0])
		}
	}
	return ""
}

// Name returns the action's name in lists, with blanks.
func (r *Row) Name() string { return words(r.Action) }

func words(a Action) string { return strings.ReplaceAll(string(a), "-", " ") }

// Label returns the label of a row's first key, or a range such as 1-9.
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

// numbers reports whether a row has a key for each number.
func (r *Row) numbers() bool {
	return len(r.Chords) == 9 && strings.HasSuffix(r.Chords[0], "1") && strings.HasSuffix(r.Chords[8], "9")
}

// Labels returns the labels of all of a row's keys.
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

// Label returns a chord's label: Ctrl-Space, Shift-Tab, ←.
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

// KeyLabel returns a key's label.
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
