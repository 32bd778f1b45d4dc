package canvas

import (
	"slices"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"

	"github.com/longterm-dev/longterm/render/view/layout"
)

// Under has everything drawn lie below these parts of the terminal, which stay as they are; nil ends it.
func (c *Canvas) Under(parts []layout.Rect) { c.under = parts }

// Covers reports whether a position lies in one of some parts.
func Covers(parts []layout.Rect, x, y int) bool {
	return slices.ContainsFunc(parts, func(r layout.Rect) bool { return r.Contains(x, y) })
}

// uncovered draws what can be seen of a character that lies below something: of a wide one that is half below it, a blank.
// covered is false when all of it can be seen.
func (c *Canvas) uncovered(x, y int, text string, st tcell.Style) (rest string, width int, covered bool) {
	_, rest, width, _ = uniseg.FirstGraphemeClusterInString(text, -1)
	for i := range width {
		covered = covered || Covers(c.under, x+i, y)
	}
	if !covered {
		return "", 0, false
	}
	for i := range width {
		if !Covers(c.under, x+i, y) {
			c.put(x+i, y, " ", st)
		}
	}
	return rest, width, true
}
