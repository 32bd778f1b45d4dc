package vterm

import (
	"github.com/longterm-dev/longterm/vterm/internal/graphics"
	"github.com/longterm-dev/longterm/vterm/internal/grid"
	"github.com/longterm-dev/longterm/vterm/internal/parse"
	"github.com/longterm-dev/longterm/vterm/internal/scan"
	"github.com/longterm-dev/longterm/vterm/internal/width"
)

// Terminal is the native engine. See Engine for its contract.
type Terminal struct {
	opts Options
	page

	parser  parse.Parser
	decoder scan.Decoder // of UTF-8

	screens
	scrollback *grid.Scrollback

	rendition
	answers

	tables grid.Tables
	images graphics.Store
	// tablesVersion is when the tables were last rebuilt: older frames have other ids.
	tablesVersion uint64

	savedModes map[int]bool // XTSAVE; the key is the mode's number
	charsets   charsets
	saved      [2]savedCursor // DECSC, per screen

	shape      cursorStyle
	kitty      [2]kittyStack
	keyFormat  keyFormat
	conform    conformance
	clipboard  string
	title      titles
	colors     colors
	rectExtent int // DECSACE: 2 is the rectangle

	// simple is set when ASCII can go to the grid as it stands: no insert mode, no
	// character set but ASCII.
	simple   bool
	lastRune rune        // for REP
	join     width.State // grapheme state of the character left of the cursor, 0 unknown
	before   width.State // join as the sequence that is carried out found it

	written    uint64 // bytes of all Writes before this one
	at         int    // bytes of this Write consumed
	events     []Event
	eventsLost int
	lastModes  Modes
	syncing    bool
	collector  graphics.Command
}

var _ Engine = (*Terminal)(nil)

// New makes a terminal. Options are clamped to what can be had.
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

// start sets everything to its first state.
func (t *Terminal) start() {
	o := t.opts
	*t = Terminal{opts: o, page: page{cols: o.Cols, rows: o.Rows}}
	t.primary = grid.NewScreen(&t.tables, t.cols, t.rows)
	t.scr = t.primary
	t.scrollback = grid.NewScrollback(&t.tables, o.ScrollbackLines, o.ScrollbackBytes)
	t.tables.Styles.Init()
	t.colors = colors{out: &t.answers}
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
	t.scrollback.Reflow(t.cols)
	return t.scrollback
}

// Pack implements Engine.
func (t *Terminal) Pack() { t.scrollback.Pack() }

// Replies implements Engine.
func (t *Terminal) Replies(dst []byte) []byte {
	dst = append(dst, t.replies...)
	t.replies = t.replies[:0]
	return dst
}
