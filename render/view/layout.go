package view

import "slices"

// rect is a region of the terminal.
type rect struct{ x, y, w, h int }

func (r rect) contains(x, y int) bool {
	return x >= r.x && x < r.x+r.w && y >= r.y && y < r.y+r.h
}

func (r rect) center() (x, y int) { return r.x + r.w/2, r.y + r.h/2 }

// A pane smaller than this shows nothing useful.
const (
	minPaneWidth  = 10
	minPaneHeight = 3 // status line and two rows
)

// cellAspect is how much higher than wide a cell is.
const cellAspect = 2

// grid divides area among n panes: the number of columns whose panes come closest to a
// terminal's shape. Panes are in reading order, one separator column between them. Those
// that do not fit are left out, but never all of them.
func grid(area rect, n int) []rect {
	if n < 1 || area.w < 1 || area.h < 1 {
		return nil
	}
	best, bestScore := 0, 0.0
	for cols := 1; cols <= n; cols++ {
		rows := (n + cols - 1) / cols
		w, h := (area.w-(cols-1))/cols, area.h/rows
		if w < minPaneWidth || h < minPaneHeight {
			continue
		}
		if s := score(w, h-1) / float64(cols*rows-n+1); s > bestScore {
			best, bestScore = cols, s
		}
	}
	if best > 0 {
		return fill(area, n, best)
	}
	cols := max(1, (area.w+1)/(minPaneWidth+1))
	rows := max(1, area.h/minPaneHeight)
	return fill(area, min(n, cols*rows), cols)
}

// score is 1 for the shape of an 80×24 terminal and less for others.
func score(w, h int) float64 {
	const want = 80.0 / (24 * cellAspect)
	got := float64(w) / float64(max(1, h)*cellAspect)
	return min(got/want, want/got)
}

// fill spreads n panes over rows of cols; a last row that is short gets wider panes.
func fill(area rect, n, cols int) []rect {
	rows := (n + cols - 1) / cols
	var out []rect
	for r := range rows {
		y0, y1 := area.y+area.h*r/rows, area.y+area.h*(r+1)/rows
		here := min(cols, n-r*cols)
		for c := range here {
			x0 := area.x + (area.w+1)*c/here
			x1 := area.x + (area.w+1)*(c+1)/here - 1
			out = append(out, rect{x0, y0, x1 - x0, y1 - y0})
		}
	}
	return out
}

// window is n of ids, one of them the focused one.
func window(ids []string, focus string, n int) []string {
	from := 0
	if i := slices.Index(ids, focus); i >= n {
		from = i - n + 1
	}
	return ids[from : from+n]
}

// minBarHeight is the height from which on the last row is kept for the bar.
const minBarHeight = 4

// split divides the terminal: panes above, the bar below. A bar without height is not
// shown.
func split(w, h int) (panes, bar rect) {
	if h < minBarHeight {
		return rect{0, 0, w, h}, rect{0, h, w, 0}
	}
	return rect{0, 0, w, h - 1}, rect{0, h - 1, w, 1}
}
