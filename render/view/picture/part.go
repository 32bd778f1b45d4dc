package picture

// Part is a rectangle of cells that shows part of an image.
type Part struct {
	X, Y, W, H int
	Key        string // key of the image
	// FromX and FromY are the first cell within the image, which covers Cols × Rows cells.
	FromX, FromY int
	Cols, Rows   float64
}

// Below reports whether q continues p on the row below.
func (p *Part) Below(q *Part) bool {
	return q.X == p.X && q.W == p.W && q.Y == p.Y+p.H && q.Key == p.Key && q.FromX == p.FromX && q.FromY == p.FromY+p.H &&
		q.Cols == p.Cols && q.Rows == p.Rows
}

// Join merges rows, sorted from top to bottom, into rectangles. It overwrites parts.
func Join(parts []Part) []Part {
	out := parts[:0]
next:
	for i := range parts {
		p := parts[i]
		for j := len(out) - 1; j >= 0; j-- {
			if out[j].Below(&p) {
				out[j].H += p.H
				continue next
			}
		}
		out = append(out, p)
	}
	return out
}

// Cut returns one row of cells without [from, to): at most two parts.
func (p Part) Cut(from, to int) (left []Part) {
	if to <= p.X || from >= p.X+p.W || to <= from {
		return []Part{p}
	}
	if from > p.X {
		l := p
		l.W = from - p.X
		left = append(left, l)
	}
	if end := p.X + p.W; to < end {
		r := p
		r.X, r.W, r.FromX = to, end-to, p.FromX+to-p.X
		left = append(left, r)
	}
	return left
}
