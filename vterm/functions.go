package vterm

import "github.com/longterm-dev/longterm/vterm/internal/parse"

// function is a row of the table of control functions. Dispatch, docs/sequences.md and a test of all rows use the
// table.
type function struct {
	kind   string // "CSI" or "ESC"
	match  string // prefix, intermediates and final byte
	name   string
	syntax string
	source string
	run    func(t *Terminal, s *parse.Seq)
}

// plain adapts a handler without parameters.
func plain(f func(t *Terminal)) func(*Terminal, *parse.Seq) {
	return func(t *Terminal, _ *parse.Seq) { f(t) }
}

// withCount adapts a handler with a count, where a missing or 0 parameter means 1.
func withCount(f func(t *Terminal, n int)) func(*Terminal, *parse.Seq) {
	return func(t *Terminal, s *parse.Seq) { f(t, s.Count(0)) }
}

// ignore ignores a function.
func ignore(*Terminal, *parse.Seq) {}

// key returns the row's key in the lookup tables, a parse.Seq.Key.
func (f *function) key() uint32 {
	m := f.match
	var prefix, i0, i1 byte
	if m[0] >= '<' && m[0] <= '?' && len(m) > 1 {
		prefix, m = m[0], m[1:]
	}
	if len(m) > 1 {
		i0 = m[0]
	}
	if len(m) > 2 {
		i1 = m[1]
	}
	return uint32(prefix)<<24 | uint32(i0)<<16 | uint32(i1)<<8 | uint32(m[len(m)-1])
}

var (
	csiPlain  [128]*function // no prefix, no intermediate: by final byte
	csiOthers map[uint32]*function
	escapes   map[uint32]*function
)

func init() {
	csiOthers = make(map[uint32]*function, len(csiFunctions))
	escapes = make(map[uint32]*function, len(escFunctions))
	for i := range csiFunctions {
		f := &csiFunctions[i]
		if k := f.key(); k < 128 {
			csiPlain[k] = f
		} else {
			csiOthers[k] = f
		}
	}
	for i := range escFunctions {
		escapes[escFunctions[i].key()] = &escFunctions[i]
	}
}

func lookupCsi(key uint32) *function {
	if key < 128 {
		return csiPlain[key]
	}
	return csiOthers[key]
}

func lookupEsc(key uint32) *function { return escapes[key] }

// control is a row of the table of C0 controls.
type control struct {
	code   byte
	name   string
	source string
	run    func(t *Terminal)
}

var controlTable = []control{
	{0x05, "ENQ: answerback, empty", "xterm", func(*Terminal) {}},
	{0x07, "BEL: bell", "ECMA-48", func(t *Terminal) { t.emit(Event{Kind: EventBell}) }},
	{0x08, "BS: back one column", "ECMA-48", func(t *Terminal) { t.backward(1) }},
	{0x09, "HT: next tab stop", "ECMA-48", func(t *Terminal) { t.tab(1) }},
	{0x0a, "LF: line feed", "ECMA-48", (*Terminal).lineFeed},
	{0x0b, "VT: as LF", "VT510", (*Terminal).lineFeed},
	{0x0c, "FF: as LF", "VT510", (*Terminal).lineFeed},
	{0x0d, "CR: carriage return", "ECMA-48", (*Terminal).carriageReturn},
	{0x0e, "SO: G1 to the left half", "ECMA-48", func(t *Terminal) { t.lockingShift(1) }},
	{0x0f, "SI: G0 to the left half", "ECMA-48", func(t *Terminal) { t.lockingShift(0) }},
}

var controls = func() (c [32]func(*Terminal)) {
	for _, row := range controlTable {
		c[row.code] = row.run
	}
	return c
}()
