package vterm

import (
	"math"

	"github.com/longterm-dev/longterm/vterm/internal/bytescan"
	"github.com/longterm-dev/longterm/vterm/internal/graphics"
	"github.com/longterm-dev/longterm/vterm/internal/grid"
	"github.com/longterm-dev/longterm/vterm/internal/parse"
)

// Terminal is the native engine; see Engine for its contract. Its state is divided into parts with separate types, each
// in the file of its name. Operations on one part are methods of that part.
type Terminal struct {
	opts Options

	parser  parse.Parser
	decoder bytescan.Decoder // of UTF-8

	page       // cursor, margins, tab stops, modes
	rendition  // pen and protection
	textState  // text before the cursor
	screens    // primary and alternate
	keyboard   // encoding of keys
	eventQueue // events for the owner
	replyQueue // queued answers to the program

	scrollback *grid.Scrollback
	tables     grid.Tables
	// tablesVersion is the version at which the tables were last rebuilt. Older frames use other ids.
	tablesVersion uint64

	charsets   charsets
	saved      [2]savedCursor // DECSC, per screen
	conform    conformance
	title      titles
	colors     colors
	clipboard  string
	pointer    string // shape of the mouse pointer (OSC 22); "": default
	rectExtent int    // DECSACE: 2 is the rectangle
	images     graphics.Store
	collector  graphics.Command // an image whose chunks are incomplete

	lastModes Modes // modes at the last EventModes
	syncing   bool  // synchronized output is in progress

	scrolls func(top, bottom, n int) // callback of OnScroll; nil if unset
}

var _ Engine = (*Terminal)(nil)

// New returns a terminal. Options are clamped to valid values.
func New(o Options) *Terminal {
	t := &Terminal{opts: withDefaults(o)}
	t.start()
	return t
}

func withDefaults(o Options) Options {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&o.Cols, 80)
	def(&o.Rows, 24)
	def(&o.ScrollbackLines, 300_000)
	def(&o.ScrollbackBytes, 64<<20)
	def(&o.CellWidth, 8)
	def(&o.CellHeight, 16)
	o.Cols = min(max(o.Cols, MinCols), MaxCols)
	o.Rows = min(max(o.Rows, MinRows), MaxRows)
	return o
}

// start sets the initial state.
func (t *Terminal) start() {
	o := t.opts
	*t = Terminal{opts: o, page: page{cols: o.Cols, rows: o.Rows}}
	t.primary = grid.NewScreen(&t.tables, t.cols, t.rows)
	t.scr = t.primary
	t.scrollback = grid.NewScrollback(&t.tables, o.ScrollbackLines, o.ScrollbackBytes)
	t.tables.Styles.Init()
	t.colors = colors{out: &t.replyQueue, outer: &t.opts.outer}
	t.colors.Reset()
	t.resetState()
	t.tables.Version = 1
	t.primary.Moved = 1
	t.lastModes = t.Modes()
}

// Version implements Engine.
func (t *Terminal) Version() uint64 { return t.tables.Version }

// History implements Engine.
func (t *Terminal) History() History {
	t.scrollback.Reflow(t.cols, math.MaxInt)
	return t.scrollback
}

// Recent implements Engine.
func (t *Terminal) Recent(lines int) History {
	t.scrollback.Reflow(t.cols, lines)
	return t.scrollback.Newest(lines)
}

// Pack implements Engine.
func (t *Terminal) Pack() {
	t.scrollback.Pack()
	t.tables.Pack()
}

// Replies implements Engine.
func (t *Terminal) Replies(dst []byte) []byte {
	dst = append(dst, t.replies...)
	t.replies = t.replies[:0]
	return dst
}
