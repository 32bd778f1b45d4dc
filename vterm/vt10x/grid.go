package vt10x

import (
	"fmt"
	"hash/maphash"
	"reflect"
	"unsafe"

	vt "github.com/hinshun/vt10x"

	"github.com/longterm-dev/longterm/vterm"
)

// Values of a glyph's BG. text.go writes all but kindErased.
const (
	kindErased      = vt.DefaultBG // the library's own value for cells never written
	kindNarrow      = vt.Color(1)
	kindWide        = vt.Color(2) // Char is a two-column character, or a cluster of one
	kindTail        = vt.Color(3) // second column
	kindHead        = vt.Color(4) // filler in the last column, a wide character wrapped
	kindCluster     = vt.Color(5) // Char is an index into Engine.clusters
	kindWideCluster = vt.Color(6)
)

// Bits of the library's state that it does not export (its state.go).
const (
	attrWrap       = 1 << 6 // Glyph.Mode: the row's text continues in the next row
	cursorWrapNext = 1 << 1 // Cursor.State
	cursorOrigin   = 1 << 2
	cursorBits     = cursorWrapNext | cursorOrigin
)

// modeBits are the modes that the library implements.
const modeBits = vt.ModeWrap | vt.ModeAltScreen | vt.ModeCRLF

// grid provides the library's state. The library exports neither the inactive screen nor margins, tabs and the saved
// cursor, and reading cells takes two map lookups each, so this points at its fields directly. go.sum pins the version;
// field checks names and types, and a test detects changes of either.
type grid struct {
	term         vt.Terminal
	lines, other *[][]vt.Glyph // the shown screen and the other one
	cur, saved   *vt.Cursor
	top, bottom  *int // scroll margins, inclusive
	mode         *vt.ModeFlag
	tabs         *[]bool
}

func newGrid(cols, rows int) grid {
	term := vt.New(vt.WithSize(cols, rows))
	st := reflect.ValueOf(term).Elem().FieldByName("State").Interface().(*vt.State)
	return grid{
		term:   term,
		lines:  field[[][]vt.Glyph](st, "lines", "[]vt10x.line"),
		other:  field[[][]vt.Glyph](st, "altLines", "[]vt10x.line"),
		cur:    field[vt.Cursor](st, "cur", "vt10x.Cursor"),
		saved:  field[vt.Cursor](st, "curSaved", "vt10x.Cursor"),
		top:    field[int](st, "top", "int"),
		bottom: field[int](st, "bottom", "int"),
		mode:   field[vt.ModeFlag](st, "mode", "vt10x.ModeFlag"),
		tabs:   field[[]bool](st, "tabs", "[]bool"),
	}
}

// field returns a pointer to a field of the library's state.
func field[T any](st *vt.State, name, typ string) *T {
	f, ok := reflect.TypeFor[vt.State]().FieldByName(name)
	if !ok || f.Type.String() != typ {
		panic(fmt.Sprintf("vt10x: the library's State.%s is no longer a %s", name, typ))
	}
	return (*T)(unsafe.Add(unsafe.Pointer(st), f.Offset))
}

// screen returns the rows of the shown screen, or of the other one.
func (g *grid) screen(behind bool) [][]vt.Glyph {
	if behind {
		return *g.other
	}
	return *g.lines
}

func (g *grid) pendingWrap() bool { return g.cur.State&cursorWrapNext != 0 }

var digestSeed = maphash.MakeSeed()

// digest returns a hash of a row to detect changes: 8 bytes per row instead of a copy of the screen. The seed is
// random, so output cannot cause collisions on purpose; an accidental one occurs once in 2⁶⁴ changes.
func digest(cells []vterm.Cell, wrapped bool) uint64 {
	var h maphash.Hash
	h.SetSeed(digestSeed)
	if wrapped {
		_ = h.WriteByte(1)
	}
	if len(cells) > 0 {
		_, _ = h.Write(unsafe.Slice((*byte)(unsafe.Pointer(&cells[0])), len(cells)*int(unsafe.Sizeof(cells[0]))))
	}
	return h.Sum64()
}
