package keymap

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/vterm/input"
)

// Mode is a table of keys that a key starts without the prefix: the chord pane:n is the key n in the mode pane. Keys
// that only move or show something (Stays) keep the mode; all others end it.
type Mode struct {
	Name    string
	Key     string // starts and ends the mode
	rows    []Row
	actions map[string]Action
}

// Names of modes with a special meaning.
const (
	Direct = "direct" // its keys need neither the prefix nor a mode key
	Locked = "locked" // all keys, including the prefix, go to the session, except the one that ends the mode
)

// ModeNames returns the modes that chords may name, whether or not the current keys have them.
func ModeNames() []string {
	names := []string{Direct}
	for _, p := range Presets() {
		for _, m := range p.Modes {
			if m.Name != Locked && !slices.Contains(names, m.Name) {
				names = append(names, m.Name)
			}
		}
	}
	return names
}

// modeIndex collects the keys of modes from the rows of the table.
type modeIndex struct{ modes []Mode }

func newModes(modes []Mode) *modeIndex {
	x := &modeIndex{modes: append([]Mode{{Name: Direct}}, modes...)}
	for i := range x.modes {
		x.modes[i].actions = map[string]Action{}
	}
	return x
}

// take removes the chords of modes from a row. A nil index has no modes.
func (x *modeIndex) take(r *Row) error {
	if !slices.ContainsFunc(r.Chords, isModeChord) {
		return nil
	}
	if x == nil {
		return fmt.Errorf("key of %s: copy mode keys take no mode", r.Action)
	}
	chords := r.Chords
	r.Chords = nil
	for _, c := range chords {
		if !isModeChord(c) {
			r.Chords = append(r.Chords, c)
			continue
		}
		name, key, _ := strings.Cut(c, ":")
		i := slices.IndexFunc(x.modes, func(m Mode) bool { return m.Name == name && name != Locked })
		switch {
		case i < 0 && slices.Contains(ModeNames(), name):
			continue // the keys in force are without that mode
		case i < 0:
			return fmt.Errorf("key of %s: %w", r.Action, noMode(name))
		}
		if err := x.modes[i].add(r, key); err != nil {
			return err
		}
	}
	return nil
}

// isModeChord reports whether a chord has the form MODE:KEY, and is not a key of that name.
func isModeChord(chord string) bool {
	i := strings.IndexByte(chord, ':')
	return i > 0 && i < len(chord)-1
}

func noMode(name string) error {
	return fmt.Errorf("unknown mode %q; use one of %s", name, strings.Join(ModeNames(), ", "))
}

// CheckChord returns an error if a chord, KEY or MODE:KEY, is invalid for any action.
func CheckChord(chord string) error {
	if isModeChord(chord) {
		name, key, _ := strings.Cut(chord, ":")
		if !slices.Contains(ModeNames(), name) {
			return noMode(name)
		}
		chord = key
	}
	_, err := input.ParseKey(chord)
	return err
}

func (m *Mode) add(r *Row, key string) error {
	k, err := input.ParseKey(key)
	if err != nil {
		return fmt.Errorf("key of %s: %w", r.Action, err)
	}
	if taken, ok := m.actions[name(k)]; ok {
		return fmt.Errorf("key %s:%s is bound to both %s and %s: change one", m.Name, key, taken, r.Action)
	}
	m.actions[name(k)] = r.Action
	if n := len(m.rows) - 1; n >= 0 && m.rows[n].Action == r.Action {
		m.rows[n].Chords = append(m.rows[n].Chords, key)
		return nil
	}
	m.rows = append(m.rows, Row{Action: r.Action, Chords: []string{key}, Group: r.Group, Short: r.Short, Help: r.Help})
	return nil
}

// build returns the modes, and the mode that each key starts.
func (x *modeIndex) build() ([]Mode, map[string]string, error) {
	begins, direct := map[string]string{}, x.modes[0].actions
	for i := range x.modes[1:] {
		m := &x.modes[i+1]
		k, err := input.ParseKey(m.Key)
		if err != nil {
			return nil, nil, errors.Join(fmt.Errorf("key of mode %s", m.Name), err)
		}
		if direct[name(k)] == "" { // else the user has another use for it
			begins[name(k)] = m.Name
		}
		m.setBrief("left", "down", "up", "right")
		m.setBrief("narrower", "taller", "shorter", "wider")
	}
	return x.modes, begins, nil
}

// setBrief shows the keys of several actions as one hint, such as hjkl, at the first of them that has a hint.
func (m *Mode) setBrief(actions ...Action) {
	keys := ""
	var shown *Row
	for _, a := range actions {
		i := slices.IndexFunc(m.rows, func(r Row) bool { return r.Action == a })
		if i < 0 {
			return
		}
		if keys += m.rows[i].Chords[0]; m.rows[i].Short != "" {
			shown = &m.rows[i]
		}
	}
	if shown != nil && len(keys) == len(actions) {
		shown.Brief = keys
	}
}

// Mode returns the mode with a name, or nil.
func (m *Map) Mode(name string) *Mode {
	for i := range m.Modes {
		if m.Modes[i].Name == name {
			return &m.Modes[i]
		}
	}
	return nil
}

// ModeStartedBy returns the mode that a key starts or ends without the prefix, or nil.
func (m *Map) ModeStartedBy(k input.Key) *Mode {
	n, ok := m.modeByKey[name(k)]
	if us, other := k.US(); !ok && other && isChord(k) {
		n, ok = m.modeByKey[name(us)]
	}
	if ok {
		return m.Mode(n)
	}
	return nil
}

// Direct returns the action of a key without the prefix, or "" if the key goes to the session.
func (m *Map) Direct(k input.Key) Action {
	d := m.Mode(Direct)
	if isChord(k) {
		return d.ActionOf(k)
	}
	return d.actions[name(k)] // text of another script is typed, not translated
}

// ActionOf returns the action of a key in the mode, or "".
func (m *Mode) ActionOf(k input.Key) Action { return find(m.actions, k) }

// Rows returns the mode's actions with their keys.
func (m *Mode) Rows() []Row { return m.rows }

// Label returns the label of the mode's key.
func (m *Mode) Label() string { return Label(m.Key) }

// modeKeeping holds the actions that users repeat: they do not end a mode.
var modeKeeping = map[Action]bool{
	"left": true, "down": true, "up": true, "right": true, "next": true, "previous": true, "wider": true, "narrower": true, "taller": true, "shorter": true,
	"even": true, "arrange": true, "swap": true, "swap-before": true, "float-left": true, "float-down": true, "float-up": true, "float-right": true,
	"tab-next": true, "tab-previous": true, "tab-last": true, "tab-go": true, "go": true, "last": true,
}

// KeepsMode reports whether an action keeps the current mode.
func KeepsMode(a Action) bool { return modeKeeping[a] }
