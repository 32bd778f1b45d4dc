package canvas

import (
	"slices"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"

	"github.com/longterm-dev/longterm/render/view/layout"
)

// SetCovered sets areas that drawing must not change; nil ends it.
func (c *Canvas) SetCovered(parts []layout.Rect) { c.covered = parts }

// Covers reports whether a position is in one of the areas.
func Covers(parts []layout.Rect, x, y int) bool {
	return slices.ContainsFunc(parts, func(r layout.Rect) bool { return r.Contains(x, y) })
}

// putUncovered draws the visible part of a partly covered character: a blank for half of a wide one. covered is false
// if no part is covered.
func (c *Canvas) putUncovered(x, y int, text string, st tcell.Style) (rest string, width int, covered bool) {
	_, rest, width, _ = uniseg.FirstGraphemeClusterInString(text, -1)
	for i := range width {
		covered = covered || Covers(c.covered, x+i, y)
	}
	if !covered {
		return "", 0, false
	}
	for i := range width {
		if !Covers(c.covered, x+i, y) {
			c.put(x+i, y, " ", st)
		}
	}
	return rest, width, true
}
