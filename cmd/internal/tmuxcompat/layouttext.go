//go:build unix

package tmuxcompat

import (
	"fmt"
	"strconv"
	"strings"
)

// Layouts as texts, as #{window_layout} has them and select-layout takes them:
//
//	d69f,120x40,0,0{83x40,0,0[83x20,0,0,0,83x19,0,21,2],36x40,84,0,1}
//
// a sum, then cells as WxH,X,Y: a pane with its number, else parts side by side in {}, or below each other in [].

// String returns a layout's text without the checksum.
func (c *cell) String() string {
	text := fmt.Sprintf("%dx%d,%d,%d", c.w, c.h, c.x, c.y)
	if c.axis == leaf {
		return text + "," + strconv.Itoa(c.pane)
	}
	var parts []string
	for _, part := range c.parts {
		parts = append(parts, part.String())
	}
	open, end := "{", "}"
	if c.axis == below {
		open, end = "[", "]"
	}
	return text + open + strings.Join(parts, ",") + end
}

// addChecksum returns a layout's text with its checksum (tmux's layout_checksum).
func addChecksum(text string) string {
	sum := uint16(0)
	for i := range len(text) {
		sum = sum>>1 + sum&1<<15
		sum += uint16(text[i])
	}
	return fmt.Sprintf("%04x,%s", sum, text)
}

// parseLayout parses a layout's text with its checksum.
func parseLayout(text string) (*tree, bool) {
	_, rest, ok := strings.Cut(text, ",")
	if !ok || len(text) > maxLayout || addChecksum(rest) != text {
		return nil, false
	}
	r := &layoutReader{rest: rest}
	root := r.cell(nil, 0)
	if root == nil || r.rest != "" || !root.isComplete() {
		return nil, false
	}
	root.x, root.y = 0, 0
	root.place()
	return &tree{root}, true
}

// Limits of a layout from a caller: bytes and nesting.
const (
	maxLayout = 8 << 10
	maxDepth  = 64
)

// isComplete reports whether the parts of each cell fill it.
func (c *cell) isComplete() bool {
	if c.w < 1 || c.h < 1 || c.w > 10_000 || c.h > 10_000 {
		return false
	}
	if c.axis == leaf {
		return true
	}
	sum := len(c.parts) - 1
	for _, part := range c.parts {
		sum += *part.size(c.axis)
		if across := c.crossAxis(); *part.size(across) != *c.size(across) || !part.isComplete() {
			return false
		}
	}
	return sum == *c.size(c.axis)
}

// crossAxis returns the axis of the cell's parts' parts.
func (c *cell) crossAxis() axis {
	if c.axis == beside {
		return below
	}
	return beside
}

// layoutReader parses the text of a layout.
type layoutReader struct{ rest string }

// number parses a number after a sign, or returns -1.
func (r *layoutReader) number(sign string) int {
	rest, ok := strings.CutPrefix(r.rest, sign)
	n := 0
	for n < len(rest) && n < 9 && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	v, err := strconv.Atoi(rest[:n])
	if !ok || err != nil {
		return -1
	}
	r.rest = rest[n:]
	return v
}

func (r *layoutReader) cell(up *cell, depth int) *cell {
	c := &cell{parent: up}
	c.w, c.h, c.x, c.y = r.number(""), r.number("x"), r.number(","), r.number(",")
	if c.y < 0 || depth > maxDepth {
		return nil
	}
	if r.rest == "" {
		return c // an old one, without the pane's number
	}
	switch r.rest[0] {
	case '{':
		return r.parts(c, beside, '}', depth)
	case '[':
		return r.parts(c, below, ']', depth)
	}
	if c.pane = r.number(","); c.pane < 0 {
		return nil
	}
	return c
}

func (r *layoutReader) parts(c *cell, along axis, end byte, depth int) *cell {
	c.axis = along
	for r.rest != "" && r.rest[0] != end {
		r.rest = r.rest[1:] // the sign that opens, or a comma
		part := r.cell(c, depth+1)
		if part == nil || r.rest == "" || r.rest[0] != end && r.rest[0] != ',' {
			return nil
		}
		c.parts = append(c.parts, part)
	}
	if r.rest == "" || len(c.parts) < 2 {
		return nil
	}
	r.rest = r.rest[1:]
	return c
}
