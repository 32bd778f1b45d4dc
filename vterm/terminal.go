package vterm

import (
	"github.com/longterm-dev/longterm/vterm/internal/color"
	"github.com/longterm-dev/longterm/vterm/internal/graphics"
	"github.com/longterm-dev/longterm/vterm/internal/grid"
	"github.com/longterm-dev/longterm/vterm/internal/parse"
	"github.com/longterm-dev/longterm/vterm/internal/scan"
	"github.com/longterm-dev/longterm/vterm/internal/width"
)

// Terminal is the native engine. See Engine for its contract.
type Terminal struct {
	opts       Options
	cols, rows int

	parser  parse.Parser
	decoder scan.Decoder // of UTF-8

	primary, alternate *grid.Screen
	scr                *grid.Screen // the active one
	history            *grid.Scrollback

	cur      grid.Cursor
	pen      Style
	cell     Cell // the pen as a cell without content; stale when penStale
	penStale bool
	// blank is what erased cells become (xterm's back_color_erase) while the pen's
	// background is blankBG.
	blank   Cell
	blankBG Color
	protect Cell // CellProtected and CellISOGuard in force
	sgrSeen sgrCache
	penAt   StyleID // the pen's number in sgrSeen, or styleUnknown

	tables grid.Tables
	images graphics.Store
	// tablesVersion is when the tables were last rebuilt: older frames have other ids.
	tablesVersion uint64

	modes       modeBits
	savedModes  map[int]bool // XTSAVE; the key is the mode's number
	charsets    charsets
	saved       [2]savedCursor // DECSC, per screen
	tabs        []uint64       // bit set of tab stops
	top, bottom int            // DECSTBM, inclusive
	left, right int            // DECSLRM, inclusive; the whole width without mode 69

	shape      cursorStyle
	kitty      [2]kittyStack
	keyFormat  keyFormat
	conform    conformance
	sgrStack   []savedSGR
	clipboard  string
	title      titles
	palette    color.Table
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
	replies    []byte
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
	*t = Terminal{opts: o, cols: o.Cols, rows: o.Rows}
	t.primary = grid.NewScreen(&t.tables, t.cols, t.rows)
	t.scr = t.primary
	t.history = grid.NewScrollback(&t.tables, o.ScrollbackLines, o.ScrollbackBytes)
	t.tables.Styles.Init()
	t.palette.Reset()
	t.resetState()
	t.tables.Version = 1
	t.primary.Moved = 1
	t.lastModes = t.Modes()
}

// Version implements Engine.
func (t *Terminal) Version() uint64 { return t.tables.Version }

// History implements Engine.
func (t *Terminal) History() History {
	t.history.Reflow(t.cols)
	return t.history
}

// Pack implements Engine.
func (t *Terminal) Pack() { t.history.Pack() }

// Replies implements Engine.
func (t *Terminal) Replies(dst []byte) []byte {
	dst = append(dst, t.replies...)
	t.replies = t.replies[:0]
	return dst
}

// marginsFull reports whether lines are scrolled over their whole width.
func (t *Terminal) marginsFull() bool { return t.left == 0 && t.right == t.cols-1 }

// screens are those there are.
func (t *Terminal) screens() []*grid.Screen {
	if t.alternate == nil {
		return []*grid.Screen{t.primary}
	}
	return []*grid.Screen{t.primary, t.alternate}
}

// compactTables rebuilds tables that grew too large with what the screens still show.
// Frames taken before keep the old ones; the next frame is a full one.
func (t *Terminal) compactTables() {
	if t.tables.Styles.Full() {
		t.compactStyles()
	}
	if t.tables.Clusters.Full() {
		t.tables.CompactClusters(t.screens())
		t.tablesVersion = t.tables.Version
		t.tables.Version++
	}
}

// compactStyles gives styles new numbers, which all that keeps one forgets.
func (t *Terminal) compactStyles() {
	t.tables.CompactStyles(t.screens())
	t.penChanged()
	t.sgrSeen.clear()
	t.blank, t.blankBG = 0, 0
	t.tablesVersion = t.tables.Version
	t.tables.Version++
}
