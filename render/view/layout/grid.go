package layout

// CellAspect is the ratio of a cell's height to its width.
const CellAspect = 2

// Grid divides area among n panes with the number of columns whose panes come closest to a terminal's shape. Panes are
// in reading order, gap columns between them. Panes that do not fit are omitted, except the first.
func Grid(area Rect, n, gap int) []Rect {
	if n < 1 || area.W < 1 || area.H < 1 {
		return nil
	}
	best, bestScore := 0, 0.0
	for cols := 1; cols <= n; cols++ {
		rows := (n + cols - 1) / cols
		w, h := (area.W-gap*(cols-1))/cols, area.H/rows
		if w < MinWidth || h < MinHeight {
			continue
		}
		if s := score(w, h-1) / float64(cols*rows-n+1); s > bestScore {
			best, bestScore = cols, s
		}
	}
	if best > 0 {
		return fill(area, n, best, gap)
	}
	cols := max(1, (area.W+gap)/(MinWidth+gap))
	rows := max(1, area.H/MinHeight)
	return fill(area, min(n, cols*rows), cols, gap)
}

// score returns 1 for the shape of an 80×24 terminal and less for others.
func score(w, h int) float64 {
	const want = 80.0 / (24 * CellAspect)
	got := float64(w) / float64(max(1, h)*CellAspect)
	return min(got/want, want/got)
}

// fill places n panes in rows of cols; a short last row gets wider panes.
func fill(area Rect, n, cols, gap int) []Rect {
	rows := (n + cols - 1) / cols
	var out []Rect
	for r := range rows {
		y0, y1 := area.Y+area.H*r/rows, area.Y+area.H*(r+1)/rows
		here := min(cols, n-r*cols)
		for c := range here {
			x0 := area.X + (area.W+gap)*c/here
			x1 := area.X + (area.W+gap)*(c+1)/here - gap
			out = append(out, Rect{x0, y0, x1 - x0, y1 - y0})
		}
	}
	return out
}

// Tiles returns the tree of a grid.
func Tiles(area Rect, sessions []string) *Node {
	var rows []*Node
	var row []*Node
	areas := Grid(area, len(sessions), 1)
	for i, s := range sessions {
		if i > 0 && i < len(areas) && areas[i].Y != areas[i-1].Y {
			rows, row = append(rows, Row(row...)), nil
		}
		row = append(row, Leaf(s))
	}
	if len(row) > 0 {
		rows = append(rows, Row(row...))
	}
	return Stack(rows...)
}

// Arrangement is a built-in arrangement of panes.
type Arrangement struct {
	Name string
	Make func(area Rect, sessions []string) *Node
}

// Arrangements are the built-in arrangements, in the order in which the user steps through them.
var Arrangements = []Arrangement{
	{"tiles", Tiles},
	{"main left", func(_ Rect, s []string) *Node { return mainHalf(false, s) }},
	{"main above", func(_ Rect, s []string) *Node { return mainHalf(true, s) }},
	{"columns", func(_ Rect, s []string) *Node { return Row(leaves(s)...) }},
	{"rows", func(_ Rect, s []string) *Node { return Stack(leaves(s)...) }},
	{"stacked", func(_ Rect, s []string) *Node { return NewStack("", s...) }},
}

func leaves(sessions []string) []*Node {
	var out []*Node
	for _, s := range sessions {
		out = append(out, Leaf(s))
	}
	return out
}

// mainHalf gives the first session one half.
func mainHalf(stacked bool, sessions []string) *Node {
	if len(sessions) < 2 {
		return group(stacked, leaves(sessions))
	}
	first, rest := Leaf(sessions[0]), group(!stacked, leaves(sessions[1:]))
	first.Share, rest.Share = 3, 2
	return group(stacked, []*Node{first, rest})
}
