package vterm

import "github.com/longterm-dev/longterm/vterm/internal/grid"

// Size limits of a screen, in cells. Engines clamp to them; callers that take sizes from users should reject others
// (ValidSize).
const (
	MinCols, MinRows = 1, 1
	MaxCols, MaxRows = grid.MaxCols, 4096
)

// ValidSize reports whether a screen of cols×rows cells is possible.
func ValidSize(cols, rows int) bool {
	return cols >= MinCols && rows >= MinRows && cols <= MaxCols && rows <= MaxRows
}

// Options configure an engine at its start. The zero value of every field means the
// documented default.
type Options struct {
	Cols, Rows int // cells; default 80×24

	// ScrollbackLines and ScrollbackBytes limit the history of the primary screen. Defaults: 300,000 lines, 64 MiB.
	// Negative: no history.
	ScrollbackLines int
	ScrollbackBytes int

	// AmbiguousWide makes East Asian ambiguous characters two cells wide.
	AmbiguousWide bool
	// LegacyWidth measures single code points (wcwidth) instead of grapheme clusters
	// until the program changes mode 2027.
	LegacyWidth bool
	// NewLine starts with LNM: a line feed also moves to the first column, for text that passed no terminal driver
	// (vt10x: not supported).
	NewLine bool
	// ReportTitle lets CSI 20/21 t echo icon label and title. It is off by default and in every session, because the
	// answer is typed into the program: output could choose the typed text.
	ReportTitle bool
	// LightScheme makes the terminal report a light colour scheme (CSI ? 996 n).
	LightScheme bool
	// CellWidth and CellHeight are the pixel size of a cell as reported to programs.
	// Default 8×16.
	CellWidth, CellHeight int
	// ReportClipboard answers OSC 52 queries with the text that programs stored by OSC 52. It is off by default and in
	// every session, for the same reason.
	ReportClipboard bool
	// FixedSize reports the program's requests for another size (CSI 8 t, DECCOLM) as events only. Otherwise they are
	// carried out and reported.
	FixedSize bool

	outer Outer // outer terminal; see SetOuter
}

// Engine is a headless terminal. The native engine and vt10x implement it.
type Engine interface {
	// Write processes program output. It accepts all bytes and never fails. How the bytes are split over calls makes no
	// difference.
	Write(p []byte) (n int, err error)
	// Resize changes the size in cells; out of range sizes are clamped.
	Resize(cols, rows int)
	// Frame fills f according to q. A Frame can be reused to save allocations.
	Frame(f *Frame, q Query)
	// History returns the lines that scrolled off the primary screen. The view is valid until the next Write, Resize or
	// Restore.
	History() History
	// Recent returns at most this many of the newest history lines; line 0 is the oldest of them. After a change of
	// width its cost grows with that number, while the cost of History grows with the whole history.
	Recent(lines int) History
	// Modes returns the modes that affect encoding of input and drawing.
	Modes() Modes
	// Version returns a number that grows with each visible change of a Frame.
	Version() uint64
	// Written returns the number of bytes ever written, including those before a Restore. Event.At uses the same count.
	Written() uint64
	// Pack reduces memory use and slows the next write. It has no visible effect.
	Pack()
	// Events appends the events since the last call to dst, oldest first. The queue is limited (EventQueueMax); dropped
	// events are counted in an EventDropped.
	Events(dst []Event) []Event
	// Replies appends and clears the answers to queries, which the owner must write to the program.
	Replies(dst []byte) []byte
	// AppendSnapshot appends the full state, including incomplete sequences.
	AppendSnapshot(dst []byte) []byte
	// AppendScreenSnapshot is AppendSnapshot without the scrollback: a few kilobytes.
	AppendScreenSnapshot(dst []byte) []byte
	// Restore replaces the state by a snapshot. On error the engine is reset.
	Restore(snapshot []byte) error
}

// History is a random-access view of the scrollback, oldest line first. Lines have stable, consecutive ids, which never
// change while the line is stored.
type History interface {
	// Len returns the number of stored lines.
	Len() int
	// FirstID returns the id of line 0. It grows when lines are dropped.
	FirstID() uint64
	// Line fills l with line i, 0 ≤ i < Len. Its styles, clusters and links refer to the tables of a Frame taken
	// afterwards at the same version: the line may use a cluster that no earlier table has.
	Line(i int, l *Line)
}

// NoHistory is the History of an engine without scrollback.
type NoHistory struct{}

func (NoHistory) Len() int        { return 0 }
func (NoHistory) FirstID() uint64 { return 0 }

// Line panics, as the history is empty.
func (NoHistory) Line(int, *Line) { panic("vterm: line of an empty history") }
