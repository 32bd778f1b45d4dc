package boxdraw

// weight is the weight of an arm of a line character.
type weight byte

const (
	none   weight = '0'
	light  weight = '1'
	heavy  weight = '2'
	double weight = '3'
)

// arms holds the weights of U+2500–257F: up, right, down, left. An empty entry is not a crossing of lines.
var arms = [128]string{
	"0101", "0202", "1010", "2020", "", "", "", "",
	"", "", "", "", "0110", "0210", "0120", "0220",
	"0011", "0012", "0021", "0022", "1100", "1200", "2100", "2200",
	"1001", "1002", "2001", "2002", "1110", "1210", "2110", "1120",
	"2120", "2210", "1220", "2220", "1011", "1012", "2011", "1021",
	"2021", "2012", "1022", "2022", "0111", "0112", "0211", "0212",
	"0121", "0122", "0221", "0222", "1101", "1102", "1201", "1202",
	"2101", "2102", "2201", "2202", "1111", "1112", "1211", "1212",
	"2111", "1121", "2121", "2112", "2211", "1122", "1221", "2212",
	"1222", "2122", "2221", "2222", "", "", "", "",
	"0303", "3030", "0310", "0130", "0330", "0013", "0031", "0033",
	"1300", "3100", "3300", "1003", "3001", "3003", "1310", "3130",
	"3330", "1013", "3031", "3033", "0313", "0131", "0333", "1303",
	"3101", "3303", "1313", "3131", "3333", "", "", "",
	"", "", "", "", "0001", "1000", "0100", "0010",
	"0002", "2000", "0200", "0020", "0201", "1020", "0102", "2010",
}

// Arms returns the weights of a crossing of lines, for callers that draw it themselves: up, right, down and left, each
// 0 (none), 1 (light), 2 (heavy) or 3 (double). It returns "" for other characters.
func Arms(r rune) string {
	if r < 0x2500 || r > 0x257f {
		return ""
	}
	return arms[r-0x2500]
}

func (c *canvas) box(r rune) {
	if a := arms[r-0x2500]; a != "" {
		c.crossing(weight(a[0]), weight(a[1]), weight(a[2]), weight(a[3]))
		return
	}
	switch {
	case r <= 0x2507:
		c.dashes(3, r&1 != 0, r&2 != 0)
	case r <= 0x250b:
		c.dashes(4, r&1 != 0, r&2 != 0)
	case r <= 0x254f:
		c.dashes(2, r&1 != 0, r&2 != 0)
	case r <= 0x2570:
		c.corner(r)
	default:
		c.diagonals(r)
	}
}

// axis holds the edges of lines of each weight along one direction of the cell.
type axis struct{ thin, light, heavy, size float32 }

func axisOf(size, thin float32) axis {
	return axis{thin, float32(int((size - thin) / 2)), float32(int((size - 2*thin) / 2)), size}
}

// end returns how far an arm from the side of lower coordinates extends to fill the crossing: past the heaviest
// crossing line, or, if a double line only passes by, up to its nearer half.
func (x axis) end(this, opposite, a, b weight) float32 {
	switch {
	case a == heavy || b == heavy:
		return x.heavy + 2*x.thin
	case a != b || this == opposite:
		if a == double || b == double {
			return x.light + 2*x.thin
		}
		return x.light + x.thin
	case a == none:
		return x.light + x.thin
	}
	return x.light
}

// arm draws one arm along the axis "along", from the edge at 0; place puts a rectangle
// given as (across from, along from, across to, along to) where the arm is. sides are the
// arms across it: at lower and at higher coordinates of the axis "across".
func arm(this, opposite, lower, higher weight, along, across axis, place func(a1, l1, a2, l2 float32)) {
	end := along.end(this, opposite, lower, higher)
	t := across.thin
	switch this {
	case light:
		place(across.light, 0, across.light+t, end)
	case heavy:
		place(across.heavy, 0, across.heavy+2*t, end)
	case double:
		near := func(side weight) float32 {
			if side == double {
				return along.light
			}
			return end
		}
		place(across.light-t, 0, across.light, near(lower))
		place(across.light+t, 0, across.light+2*t, near(higher))
	}
}

func (c *canvas) crossing(up, right, down, left weight) {
	h, v := axisOf(c.w, c.thin), axisOf(c.h, c.thin)
	// An arm from the far edge is one from the near edge of a mirrored cell.
	mirror := func(x axis) axis {
		return axis{x.thin, x.size - x.light - x.thin, x.size - x.heavy - 2*x.thin, x.size}
	}
	arm(up, down, left, right, v, h, func(a1, l1, a2, l2 float32) { c.rect(a1, l1, a2, l2) })
	arm(left, right, up, down, h, v, func(a1, l1, a2, l2 float32) { c.rect(l1, a1, l2, a2) })
	arm(down, up, left, right, mirror(v), h, func(a1, l1, a2, l2 float32) { c.rect(a1, c.h-l2, a2, c.h-l1) })
	arm(right, left, up, down, mirror(h), v, func(a1, l1, a2, l2 float32) { c.rect(c.w-l2, a1, c.w-l1, a2) })
}

// dashes draws a broken line. The gaps at both ends together are as wide as one inside, so that the line continues
// evenly in the next cell.
func (c *canvas) dashes(n int, thick, vertical bool) {
	size, across := c.w, axisOf(c.h, c.thin)
	if vertical {
		size, across = c.h, axisOf(c.w, c.thin)
	}
	from, to := across.light, across.light+c.thin
	if thick {
		from, to = across.heavy, across.heavy+2*c.thin
	}
	step := size / float32(n)
	gap := max(1, min(round(step/3), round(c.thin*1.5)))
	for i := range n {
		start := round(float32(i)*step + gap/2)
		end := max(start+1, round(float32(i+1)*step+gap/2)-gap)
		if vertical {
			c.rect(from, start, to, end)
		} else {
			c.rect(start, from, end, to)
		}
	}
}

// corner draws ╭ ╮ ╯ ╰: a quarter of an ellipse's outline between straight ends.
func (c *canvas) corner(r rune) {
	right, down := r == 0x256d || r == 0x2570, r == 0x256d || r == 0x256e
	h, v := axisOf(c.w, c.thin), axisOf(c.h, c.thin)
	t := c.thin
	// Drawn as ╯ (left and up) in a cell that is mirrored as needed.
	x, y := h.light, v.light
	if right {
		x = c.w - x - t
	}
	if down {
		y = c.h - y - t
	}
	radius := min(x, y)
	const k = 0.5523 // of the cubic that comes nearest to a quarter circle
	outer := radius + t
	var p canvas
	p.move(x+t, 0)
	p.line(x+t, y-radius)
	p.cubic(x+t, y-radius+k*outer, x-radius+k*outer, y+t, x-radius, y+t)
	p.line(0, y+t)
	p.line(0, y)
	p.line(x-radius, y)
	p.cubic(x-radius+k*radius, y, x, y-radius+k*radius, x, y-radius)
	p.line(x, 0)
	p.close()
	for _, s := range p.path {
		for i := range s.P {
			if i%2 == 0 && right {
				s.P[i] = c.w - s.P[i]
			}
			if i%2 == 1 && down {
				s.P[i] = c.h - s.P[i]
			}
		}
		c.path = append(c.path, s)
	}
}

func (c *canvas) diagonals(r rune) {
	d := c.thin * 0.6 // half a line's width, measured along the edge
	if r != 0x2572 {
		c.polygon(c.w-d, 0, c.w, 0, c.w, d, d, c.h, 0, c.h, 0, c.h-d)
	}
	if r != 0x2571 {
		c.polygon(0, 0, d, 0, c.w, c.h-d, c.w, c.h, c.w-d, c.h, 0, d)
	}
}
