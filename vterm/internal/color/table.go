package color

import "slices"

// Sizes of the tables of colours other than the palette, and of the stack of XTPUSHCOLORS.
const (
	SpecialCount = 5  // bold, underline, blink, reverse, italic
	DynamicCount = 10 // OSC 10 to 19
	StackMax     = 10
)

// Table holds all colours that a program can set, and the stack of saved ones. Frames share the palette, so it is
// replaced and never changed.
type Table struct {
	Palette *Palette // palette shared with frames
	Special [SpecialCount]uint32
	Dynamic [DynamicCount]uint32
	Stack   []State
}

// State holds the value of every settable colour.
type State struct {
	Palette Palette
	Special [SpecialCount]uint32
	Dynamic [DynamicCount]uint32
}

// Reset sets all colours to their defaults.
func (t *Table) Reset() {
	t.Stack = nil
	t.Palette = Defaults
	t.Special = [SpecialCount]uint32{}
	fg, bg := t.Palette.Foreground, t.Palette.Background
	for i := range t.Special {
		t.Special[i] = fg
	}
	t.Dynamic = [DynamicCount]uint32{fg, bg, t.Palette.Cursor, fg, bg, fg, bg, fg, fg, bg}
}

// Defaults is the palette of a terminal after a reset. It is shared and must not be changed.
var Defaults = DefaultPalette()

// Change replaces the shared palette by a copy that f has changed.
func (t *Table) Change(f func(*Palette)) {
	next := *t.Palette
	f(&next)
	t.Palette = &next
}

// SetDynamic sets the colour of OSC 10+i.
func (t *Table) SetDynamic(i int, c uint32) {
	t.Dynamic[i] = c
	if i <= 2 {
		t.Change(func(s *Palette) {
			*[]*uint32{&s.Foreground, &s.Background, &s.Cursor}[i] = c
		})
	}
}

// Push saves all colours. It does nothing if the stack is full.
func (t *Table) Push() {
	if len(t.Stack) < StackMax {
		t.Stack = append(t.Stack, t.State())
	}
}

// Pop restores the colours pushed last, if there are any.
func (t *Table) Pop() {
	if n := len(t.Stack); n > 0 {
		top := t.Stack[n-1]
		t.Stack = slices.Clip(t.Stack[:n-1])
		t.SetState(&top)
	}
}

// State returns a copy of all colours.
func (t *Table) State() State { return State{*t.Palette, t.Special, t.Dynamic} }

// SetState sets all colours to those of s, which the table keeps.
func (t *Table) SetState(s *State) {
	t.Special, t.Dynamic = s.Special, s.Dynamic
	if t.Palette = &s.Palette; *t.Palette == *Defaults {
		t.Palette = Defaults
	}
}
