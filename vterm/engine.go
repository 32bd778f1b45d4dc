package vterm

import "github.com/longterm-dev/longterm/vterm/internal/grid"

// Size limits of a screen, in cells. Engines clamp to them; callers that take sizes
// from people should refuse instead (ValidSize).
const (
	MinCols, MinRows = 1, 1
	MaxCols, MaxRows = grid.MaxCols, 4096
)

// ValidSize reports whether a screen of cols×rows cells can be had.
func ValidSize(cols, rows int) bool {
	return cols >= MinCols && rows >= MinRows && cols <= MaxCols && rows <= MaxRows
}

// Options configure an engine at its start. The zero value of every field means the
// documented default.
type Options struct {
	Cols, Rows int // cells; default 80×24

	// ScrollbackLines and ScrollbackBytes bound the history that leaves the top of
	// the primary screen. Defaults: 300,000 lines, 64 MiB. Negative: no history.
	ScrollbackLines int
	ScrollbackBytes int

	// AmbiguousWide makes East Asian ambiguous characters two cells wide.
	AmbiguousWide bool
	// LegacyWidth measures single code points (wcwidth) instead of grapheme clusters
	// until the program changes mode 2027.
	LegacyWidth bool
	// NewLine begins with LNM: a line feed goes to the first column as well, as text wants
	// that no terminal driver has been at (vt10x: not supported).
	NewLine bool
	// ReportTitle lets CSI 20/21 t echo icon label and title. Off by default, and in every
	// session: it lets output choose what is typed.
	ReportTitle bool
	// LightScheme makes the terminal report a light colour scheme (CSI ? 996 n).
	LightScheme bool
	// CellWidth and CellHeight are the pixel size of a cell as reported to programs.
	// Default 8×16.
	CellWidth, CellHeight int
	// ReportClipboard answers OSC 52 queries with what programs stored by OSC 52. Off by
	// default, and in every session, for the same reason.
	ReportClipboard bool
	// FixedSize makes requests of the program for another size (CSI 8 t, DECCOLM) an event
	// only; otherwise they are carried out and told.
	FixedSize bool

	outer Outer // see SetOuter
}

// Engine is a headless terminal. The native engine and vt10x both satisfy it.
type Engine interface {
	// Write feeds output of the program. It takes everything, never fails, and any
	// split of the same bytes gives the same state.
	Write(p []byte) (n int, err error)
	// Resize changes the size in cells; out of range sizes are clamped.
	Resize(cols, rows int)
	// Frame fills f with what q asks for. A Frame can be reused to save allocations.
	Frame(f *Frame, q Query)
	// History gives access to lines that scrolled off the primary screen. The view
	// is valid until the next Write, Resize or Restore.
	History() History
	// Recent returns only the newest lines of the history, at most the given number; line 0 is the oldest of these. After a change
	// of width its cost grows with that number, while that of History grows with the whole history.
	Recent(lines int) History
	// Modes are the modes that matter to those who encode input or draw.
	Modes() Modes
	// Version grows with every change of what Frame would show.
	Version() uint64
	// Written counts the bytes ever written, before a Restore included: what Event.At
	// counts.
	Written() uint64
	// Pack takes less memory; what comes next takes longer. It changes nothing that can
	// be seen.
	Pack()
	// Events appends what happened since the last call to dst, oldest first. The
	// queue is bounded (EventQueueMax); what did not fit is counted in an EventLost.
	Events(dst []Event) []Event
	// Replies appends the answers to queries that are to be typed back to the
	// program, and forgets them.
	Replies(dst []byte) []byte
	// AppendSnapshot appends the full state, half-read sequences included.
	AppendSnapshot(dst []byte) []byte
	// AppendScreenSnapshot is AppendSnapshot without the scrollback: a few kilobytes.
	AppendScreenSnapshot(dst []byte) []byte
	// Restore replaces the state by a snapshot; on error the engine is as new.
	Restore(snapshot []byte) error
}

// History is a random-access view of the scrollback, oldest line first. Lines have
// stable ids: the id of a line never changes while it is kept, and ids grow by one.
type History interface {
	// Len is the number of lines kept.
	Len() int
	// FirstID is the id of line 0. Dropped lines make it grow.
	FirstID() uint64
	// Line fills l with line i, 0 ≤ i < Len. Styles, clusters and links refer to the
	// tables of a Frame taken afterwards, at the same version: the line may have a
	// cluster that was in none before.
	Line(i int, l *Line)
}

// NoHistory is the History of engines that keep none.
type NoHistory struct{}

func (NoHistory) Len() int        { return 0 }
func (NoHistory) FirstID() uint64 { return 0 }

// Line panics: there is no line to ask for.
func (NoHistory) Line(int, *Line) { panic("vterm: line of an empty history") }
