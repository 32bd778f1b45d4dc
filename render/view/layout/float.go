package layout

import "math"

// Float is a pane that lies over others. Its place is told in shares of the area that panes have, so that it is
// much the same on every terminal.
type Float struct {
	Session string  `json:"session"`
	X       float64 `json:"x"`
	Y       float64 `json:"y"`
	W       float64 `json:"w"`
	H       float64 `json:"h"`
	raised  int     // the highest lies on top
}

// Sizes of floating panes, in cells: a border around what a pane needs. On a smaller area there is no floating.
const (
	FloatMinWidth  = MinWidth + 2
	FloatMinHeight = MinHeight + 1
	floatsFrom     = FloatMinWidth + 8
	floatsFromRows = FloatMinHeight + 4
)

// CanFloat reports whether an area has room for panes that lie over others.
func CanFloat(area Rect) bool { return area.W >= floatsFrom && area.H >= floatsFromRows }

// NewFloat is a float in the middle, a bit aside for each that is there.
func NewFloat(session string, there int) Float {
	const step, steps = 0.04, 5
	by := step * float64(there%steps)
	return Float{Session: session, X: 0.2 + by, Y: 0.15 + by, W: 0.6, H: 0.6}
}

// Top notes that it was raised, and when.
func (f *Float) Top(when int) { f.raised = when }

// Raised is when that was; 0: never.
func (f *Float) Raised() int { return f.raised }

// share is a number of 0 to 1, whatever a file says.
func share(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return min(max(x, 0), 1)
}

// cells is a share of a length.
func cells(x float64, length int) int { return int(math.Round(share(x) * float64(length))) }

// Area is where it lies: inside the area, and never smaller than what can be used.
func (f *Float) Area(in Rect) Rect {
	w := min(max(cells(f.W, in.W), FloatMinWidth), in.W)
	h := min(max(cells(f.H, in.H), FloatMinHeight), in.H)
	x := min(cells(f.X, in.W), in.W-w)
	y := min(cells(f.Y, in.H), in.H-h)
	return Rect{in.X + x, in.Y + y, w, h}
}

// Put has it lie there, as far as that is possible.
func (f *Float) Put(at, in Rect) {
	if in.W < 1 || in.H < 1 {
		return
	}
	w, h := float64(in.W), float64(in.H)
	f.W, f.H = share(float64(at.W)/w), share(float64(at.H)/h)
	f.X = share(float64(min(at.X-in.X, in.W-at.W)) / w)
	f.Y = share(float64(min(at.Y-in.Y, in.H-at.H)) / h)
}

// Move moves it by some cells; false: it is at the edge.
func (f *Float) Move(in Rect, dx, dy int) bool {
	was := f.Area(in)
	at := was
	at.X = min(max(at.X+dx, in.X), in.X+in.W-at.W)
	at.Y = min(max(at.Y+dy, in.Y), in.Y+in.H-at.H)
	f.Put(at, in)
	return at != was
}

// Grow makes it wider and taller by some cells, to the right and below, else to the left and above.
// False: it is as large, or as small, as it can be.
func (f *Float) Grow(in Rect, dw, dh int) bool {
	was := f.Area(in)
	at := was
	at.W = min(max(at.W+dw, FloatMinWidth), in.W)
	at.H = min(max(at.H+dh, FloatMinHeight), in.H)
	at.X = min(at.X, in.X+in.W-at.W)
	at.Y = min(at.Y, in.Y+in.H-at.H)
	f.Put(at, in)
	return at != was
}
