package picture

// Part is a rectangle of the terminal's cells that shows part of an image.
type Part struct {
	X, Y, W, H int
	Key        string // the image's
	// FromX and FromY are the first cell within the image, which is spread over Cols × Rows cells.
	FromX, FromY int
	Cols, Rows   float64
}

// Below reports that q goes on where p ends, one below the other.
func (p *Part) Below(q *Part) bool {
	return q.X == p.X && q.W == p.W && q.Y == p.Y+p.H && q.Key == p.Key && q.FromX == p.FromX && q.FromY == p.FromY+p.H &&
		q.Cols == p.Cols && q.Rows == p.Rows
}

// Join makes rectangles of rows, which come from the top to the bottom, in the place of what was in parts.
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

// Cut is what is left of one row of cells where [from, to) is taken away: at most two parts.
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
