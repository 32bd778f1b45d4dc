package vt10x

import (
	"fmt"
	"hash/maphash"
	"reflect"
	"unsafe"

	vt "github.com/hinshun/vt10x"

	"github.com/longterm-dev/longterm/vterm"
)

// What the BG of a glyph says. Everything but kindErased was written by text.go.
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
	attrWrap       = 1 << 6 // Glyph.Mode: the row's text goes on in the next row
	cursorWrapNext = 1 << 1 // Cursor.State
	cursorOrigin   = 1 << 2
	cursorBits     = cursorWrapNext | cursorOrigin
)

// modeBits are the modes that the library is told of.
const modeBits = vt.ModeWrap | vt.ModeAltScreen | vt.ModeCRLF

// grid is the library's state. The library exports neither the inactive screen nor the
// margins, tabs and saved cursor, and reads cells one by one through two map lookups, so
// its fields are pointed at directly. The version is pinned by go.sum; field checks
// names and types, and a test makes a change of either known.
type grid struct {
	term         vt.Terminal
	lines, other *[][]vt.Glyph // the shown screen and the one behind it
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

// field points at a field of the library's state.
func field[T any](st *vt.State, name, typ string) *T {
	f, ok := reflect.TypeFor[vt.State]().FieldByName(name)
	if !ok || f.Type.String() != typ {
		panic(fmt.Sprintf("vt10x: the library's State.%s is not a %s any more", name, typ))
	}
	return (*T)(unsafe.Add(unsafe.Pointer(st), f.Offset))
}

// screen is the rows of a screen: the shown one, or the one behind it.
func (g *grid) screen(behind bool) [][]vt.Glyph {
	if behind {
		return *g.other
	}
	return *g.lines
}

func (g *grid) pendingWrap() bool { return g.cur.State&cursorWrapNext != 0 }

var digestSeed = maphash.MakeSeed()

// digest stands for the looks of a row when asking whether it changed: 8 bytes a row
// instead of a second copy of the screen. The seed is random, so no output can be made
// to collide on purpose; by chance it happens once in 2⁶⁴ changes.
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
