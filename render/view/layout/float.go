package layout

import "math"

// Float is a floating pane. Its position is stored as shares of the panes' area, so that it is similar on every
// terminal.
type Float struct {
	Session string  `json:"session"`
	X       float64 `json:"x"`
	Y       float64 `json:"y"`
	W       float64 `json:"w"`
	H       float64 `json:"h"`
	raised  int     // increasing number of the last raise; the highest pane is on top
}

// Minimum sizes of floating panes, in cells, with their border. A smaller area has no floating panes.
const (
	FloatMinWidth  = MinWidth + 2
	FloatMinHeight = MinHeight + 1
	floatsFrom     = FloatMinWidth + 8
	floatsFromRows = FloatMinHeight + 4
)

// CanFloat reports whether an area has room for floating panes.
func CanFloat(area Rect) bool { return area.W >= floatsFrom && area.H >= floatsFromRows }

// NewFloat returns a float in the middle, shifted a little for each existing one.
func NewFloat(session string, existing int) Float {
	const step, steps = 0.04, 5
	by := step * float64(existing%steps)
	return Float{Session: session, X: 0.2 + by, Y: 0.15 + by, W: 0.6, H: 0.6}
}

// SetRaised records that the pane was raised.
func (f *Float) SetRaised(when int) { f.raised = when }

// RaisedAt returns when the pane was last raised; 0: never.
func (f *Float) RaisedAt() int { return f.raised }

// share returns x limited to 0 to 1; files may hold any number.
func share(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return min(max(x, 0), 1)
}

// cells returns a share of a length in cells.
func cells(x float64, length int) int { return int(math.Round(share(x) * float64(length))) }

// Area returns the pane's area: inside in, and never smaller than the minimum.
func (f *Float) Area(in Rect) Rect {
	w := min(max(cells(f.W, in.W), FloatMinWidth), in.W)
	h := min(max(cells(f.H, in.H), FloatMinHeight), in.H)
	x := min(cells(f.X, in.W), in.W-w)
	y := min(cells(f.Y, in.H), in.H-h)
	return Rect{in.X + x, in.Y + y, w, h}
}

// Put places the pane within in, as far as possible.
func (f *Float) Put(at, in Rect) {
	if in.W < 1 || in.H < 1 {
		return
	}
	w, h := float64(in.W), float64(in.H)
	f.W, f.H = share(float64(at.W)/w), share(float64(at.H)/h)
	f.X = share(float64(min(at.X-in.X, in.W-at.W)) / w)
	f.Y = share(float64(min(at.Y-in.Y, in.H-at.H)) / h)
}

// Move moves the pane by a number of cells. It returns false at the edge.
func (f *Float) Move(in Rect, dx, dy int) bool {
	was := f.Area(in)
	at := was
	at.X = min(max(at.X+dx, in.X), in.X+in.W-at.W)
	at.Y = min(max(at.Y+dy, in.Y), in.Y+in.H-at.H)
	f.Put(at, in)
	return at != was
}

// Grow makes the pane wider and taller by a number of cells: to the right and below, else to the left and above. It
// returns false at a limit.
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
