package keymap

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/vterm/input"
)

// Mode is a table of keys that one key begins, without the prefix: a chord pane:n is the key n in the mode pane. Keys
// that only look or move (Stays) leave the mode as it is; all others end it.
type Mode struct {
	Name string
	Key  string // that begins and ends it
	rows []Row
	by   map[string]Action
}

// Names of modes with a meaning of their own.
const (
	Direct = "direct" // its keys need neither the prefix nor a key that begins it
	Locked = "locked" // all keys but the one that ends it go to the session, the prefix too
)

// ModeNames are the modes that chords may name, whether or not the keys that are in force have them.
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

// modeIndex collects the keys of modes out of the table's rows.
type modeIndex struct{ modes []Mode }

func newModes(modes []Mode) *modeIndex {
	x := &modeIndex{modes: append([]Mode{{Name: Direct}}, modes...)}
	for i := range x.modes {
		x.modes[i].by = map[string]Action{}
	}
	return x
}

// take takes the chords of modes out of a row; a nil index has no modes.
func (x *modeIndex) take(r *Row) error {
	if !slices.ContainsFunc(r.Chords, ofMode) {
		return nil
	}
	if x == nil {
		return fmt.Errorf("key of %s: in copy mode a key is a key, without a mode", r.Action)
	}
	chords := r.Chords
	r.Chords = nil
	for _, c := range chords {
		if !ofMode(c) {
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

// ofMode reports that a chord is MODE:KEY, not a key that is called so.
func ofMode(chord string) bool {
	i := strings.IndexByte(chord, ':')
	return i > 0 && i < len(chord)-1
}

func noMode(name string) error {
	return fmt.Errorf("no mode is called %q; there are %s", name, strings.Join(ModeNames(), ", "))
}

// CheckChord says what is wrong with a chord, KEY or MODE:KEY, whatever it is for.
func CheckChord(chord string) error {
	if ofMode(chord) {
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
	if taken, ok := m.by[name(k)]; ok {
		return fmt.Errorf("key %s:%s is %s and %s: give one of them another", m.Name, key, taken, r.Action)
	}
	m.by[name(k)] = r.Action
	if n := len(m.rows) - 1; n >= 0 && m.rows[n].Action == r.Action {
		m.rows[n].Chords = append(m.rows[n].Chords, key)
		return nil
	}
	m.rows = append(m.rows, Row{Action: r.Action, Chords: []string{key}, Group: r.Group, Short: r.Short, Help: r.Help})
	return nil
}

// whole are the modes with what begins each.
func (x *modeIndex) whole() ([]Mode, map[string]string, error) {
	begins, direct := map[string]string{}, x.modes[0].by
	for i := range x.modes[1:] {
		m := &x.modes[i+1]
		k, err := input.ParseKey(m.Key)
		if err != nil {
			return nil, nil, errors.Join(fmt.Errorf("key of the mode %s", m.Name), err)
		}
		if direct[name(k)] == "" { // else the person has another use for it
			begins[name(k)] = m.Name
		}
		m.brief("left", "down", "up", "right")
		m.brief("narrower", "taller", "shorter", "wider")
	}
	return x.modes, begins, nil
}

// brief has hints show the keys of several actions together, with the one that hints name: hjkl.
func (m *Mode) brief(actions ...Action) {
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

// Mode is the mode of a name; nil: there is none.
func (m *Map) Mode(name string) *Mode {
	for i := range m.Modes {
		if m.Modes[i].Name == name {
			return &m.Modes[i]
		}
	}
	return nil
}

// Begins is the mode that a key begins without the prefix, and ends; nil: none.
func (m *Map) Begins(k input.Key) *Mode {
	n, ok := m.direct[name(k)]
	if us, other := k.US(); !ok && other && isChord(k) {
		n, ok = m.direct[name(us)]
	}
	if ok {
		return m.Mode(n)
	}
	return nil
}

// Direct returns what a key does without the prefix, and an empty action if it goes to the session.
func (m *Map) Direct(k input.Key) Action {
	d := m.Mode(Direct)
	if isChord(k) {
		return d.Does(k)
	}
	return d.by[name(k)] // text of another script is typed, not translated
}

// Does returns what a key does in the mode, and an empty action if it does nothing.
func (m *Mode) Does(k input.Key) Action { return find(m.by, k) }

// Rows are the mode's actions with their keys in it.
func (m *Mode) Rows() []Row { return m.rows }

// Label is the mode's key for people.
func (m *Mode) Label() string { return Label(m.Key) }

// staying are the actions that people repeat: they do not end a mode.
var staying = map[Action]bool{
	"left": true, "down": true, "up": true, "right": true, "next": true, "previous": true, "wider": true, "narrower": true, "taller": true, "shorter": true,
	"even": true, "arrange": true, "swap": true, "swap-before": true, "float-left": true, "float-down": true, "float-up": true, "float-right": true,
	"tab-next": true, "tab-previous": true, "tab-last": true, "tab-go": true, "go": true, "last": true,
}

// Stays reports that an action leaves a mode as it is.
func Stays(a Action) bool { return staying[a] }
