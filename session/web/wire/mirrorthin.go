package wire

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// errNotThin is the error of an invalid thin frame.
var errNotThin = errors.New("not a thin frame")

// ThinID returns the subscription of a thin frame; ok is false for other messages.
func ThinID(b []byte) (id int, ok bool) {
	if len(b) == 0 || b[0] == '{' {
		return 0, false
	}
	s := string(b[:min(len(b), 8)])
	if i := strings.IndexFunc(s, isControl); i >= 0 {
		s = s[:i]
	}
	n, err := strconv.ParseUint(s, 36, 31)
	return int(n), err == nil && n > 0
}

// ApplyThin applies a thin frame and returns its number, which must be acknowledged.
func (m *Mirror) ApplyThin(b []byte, styles map[int]MirrorStyle) (n uint64, err error) {
	if _, ok := ThinID(b); !ok || !utf8.Valid(b) {
		return 0, errNotThin
	}
	m.styles = styles
	cursor, style, grew, placed := [2]int{-1, -1}, 0, uint64(1), false
	x, y := m.cursorAt(0), m.cursorAt(1)
	_, rest := nextPart(string(b))
	for rest != "" {
		op := rest[0]
		var body string
		body, rest = nextPart(rest[1:])
		var nums []int
		var err error
		if op == thinStyles {
			if err := addStyles(styles, "["+body+"]"); err != nil || style != 0 {
				return 0, fmt.Errorf("%w: styles %q: %w", errNotThin, body, err)
			}
			continue
		}
		if op != thinText {
			if nums, err = parseNumbers(body); err == nil && style != 0 {
				err = fmt.Errorf("%w: a style of no text", errNotThin)
			}
		}
		if err != nil {
			return 0, err
		}
		switch {
		case op == thinVersion && len(nums) == 1 && nums[0] > 0:
			grew = uint64(nums[0])
		case op == thinScroll && len(nums) == 3:
			err = m.scrollRows(nums[0], nums[1], nums[2])
		case op == thinCursor && len(nums) == 2:
			cursor = [2]int(nums)
		case op == thinPlace && (len(nums) == 2 || len(nums) == 3):
			y, x, placed = nums[0], nums[1], true
			err = m.copyPrefix(y, x, append(nums, y)[2])
		case op == thinStyle && len(nums) == 1 && nums[0] > 0:
			style = nums[0]
		case op == thinText && body != "":
			if !placed {
				placed, err = true, m.copyPrefix(y, x, y)
			}
			if err == nil {
				x, err = m.appendSpan(y, style, body)
			}
			style = 0
		default:
			err = fmt.Errorf("%w: %q", errNotThin, b)
		}
		if err != nil {
			return 0, err
		}
	}
	switch {
	case cursor[0] >= 0:
		m.Cursor[0], m.Cursor[1] = float64(cursor[0]), float64(cursor[1])
	case placed:
		m.Cursor[0], m.Cursor[1] = float64(x), float64(y)
	}
	m.Version += grew
	m.N++
	return m.N, nil
}

// nextPart splits s before the next control character.
func nextPart(s string) (body, rest string) {
	if i := strings.IndexFunc(s, func(r rune) bool { return r < ' ' }); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// parseNumbers parses numbers in base 36.
func parseNumbers(s string) ([]int, error) {
	var out []int
	for p := range strings.SplitSeq(s, ",") {
		n, err := strconv.ParseInt(p, 36, 32)
		if err != nil {
			return nil, fmt.Errorf("%w: number %q", errNotThin, p)
		}
		out = append(out, int(n))
	}
	return out, nil
}

// cursorAt returns a coordinate of the cursor.
func (m *Mirror) cursorAt(i int) int {
	f, _ := m.Cursor[i].(float64) // 0 if none was sent
	return int(f)
}

// copyPrefix sets a row to the columns before col of row like.
func (m *Mirror) copyPrefix(row, col, like int) error {
	if row < 0 || row >= len(m.Lines) || like < 0 || like >= len(m.Lines) || col < 0 {
		return fmt.Errorf("%w: row %d, column %d, like %d", errNotThin, row, col, like)
	}
	was := m.Lines[like]
	if was.Flags != 0 && col > 0 {
		return fmt.Errorf("%w: row %d is not plain characters", errNotThin, like)
	}
	var l MirrorLine
	for _, p := range was.Spans {
		if col == 0 {
			break
		}
		text := []rune(p.Text)
		if len(p.Widths) > 0 {
			return fmt.Errorf("%w: row %d is not plain characters", errNotThin, like)
		}
		if len(text) > col {
			p.Text = string(text[:col])
		}
		col -= min(col, len(text))
		l.Spans = append(l.Spans, p)
	}
	if col > 0 {
		return fmt.Errorf("%w: row %d ends before", errNotThin, like)
	}
	m.Lines[row] = l
	return nil
}

// appendSpan appends text to a row and returns the column after it.
func (m *Mirror) appendSpan(row, style int, text string) (col int, err error) {
	st, known := m.styles[style]
	if !known && style != 0 {
		return 0, fmt.Errorf("style %d is not defined", style)
	}
	l := &m.Lines[row]
	if n := len(l.Spans); n > 0 && l.Spans[n-1].Style == st {
		l.Spans[n-1].Text += text
	} else {
		l.Spans = append(l.Spans, MirrorSpan{Style: st, Text: text})
	}
	for _, p := range l.Spans {
		col += utf8.RuneCountInString(p.Text)
	}
	return col, nil
}
