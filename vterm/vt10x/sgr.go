package vt10x

import "github.com/longterm-dev/longterm/vterm"

// onSGR and offSGR map the parameters that set and clear attributes.
var (
	onSGR = [...]vterm.Attrs{
		1: vterm.Bold, 2: vterm.Faint, 3: vterm.Italic, 5: vterm.Blink, 6: vterm.RapidBlink,
		7: vterm.Inverse, 8: vterm.Conceal, 9: vterm.Strike, 53: vterm.Overline,
	}
	offSGR = [...]vterm.Attrs{
		22: vterm.Bold | vterm.Faint, 23: vterm.Italic, 25: vterm.Blink | vterm.RapidBlink,
		27: vterm.Inverse, 28: vterm.Conceal, 29: vterm.Strike, 55: vterm.Overline,
	}
)

// sgr returns the style after SGR (ECMA-48 §8.3.117, xterm ctlseqs "CSI Pm m"). It keeps the hyperlink.
func (e *Engine) sgr(p *params, s vterm.Style) vterm.Style {
	if p.n == 0 {
		return vterm.Style{Link: s.Link}
	}
	for i := 0; i < p.n; {
		next := i + 1
		for next < p.n && p.isSub(next) {
			next++
		}
		switch v := p.get(i, 0); v {
		case 38, 48, 58:
			c, used, ok := p.color(i, next)
			next = i + used
			if ok {
				setColor(&s, v, c)
			}
		case 4:
			s.Underline = vterm.UnderlineSingle
			if n := p.get(i+1, 1); next > i+1 && n <= int(vterm.UnderlineDashed) {
				s.Underline = vterm.Underline(n)
			}
		default:
			if next == i+1 { // sub-parameters mean nothing here
				sgrSimple(&s, v)
			}
		}
		i = next
	}
	return s
}

// sgrSimple applies a parameter without further parameters.
func sgrSimple(s *vterm.Style, v int) {
	switch {
	case v == 0:
		*s = vterm.Style{Link: s.Link}
	case v == 21:
		s.Underline = vterm.UnderlineDouble
	case v == 24:
		s.Underline = vterm.UnderlineNone
	case v < len(onSGR) && onSGR[v] != 0:
		s.Attrs |= onSGR[v]
	case v < len(offSGR) && offSGR[v] != 0:
		s.Attrs &^= offSGR[v]
	case v >= 30 && v <= 37:
		s.FG = vterm.Index(uint8(v - 30))
	case v >= 40 && v <= 47:
		s.BG = vterm.Index(uint8(v - 40))
	case v >= 90 && v <= 97:
		s.FG = vterm.Index(uint8(v - 90 + 8))
	case v >= 100 && v <= 107:
		s.BG = vterm.Index(uint8(v - 100 + 8))
	case v == 39 || v == 49 || v == 59:
		setColor(s, v-1, 0)
	}
}

func setColor(s *vterm.Style, v int, c vterm.Color) {
	switch v {
	case 38:
		s.FG = c
	case 48:
		s.BG = c
	case 58:
		s.ULColor = c
	}
}

// color parses the colour of 38, 48 or 58 at parameter i, whose sub-parameters end before next. used is the number of
// parameters read. The forms are 38;5;n, 38;2;r;g;b, 38:5:n, 38:2:r:g:b and 38:2:space:r:g:b (ITU-T T.416 §13.1.8).
func (p *params) color(i, next int) (c vterm.Color, used int, ok bool) {
	at, end, taken := i+1, next, next-i
	if end == at { // the form with semicolons
		end = p.n
		switch p.get(at, 0) {
		case 5:
			taken = 3
		case 2:
			taken = 5
		default:
			taken = 2
		}
		taken = min(taken, end-i)
		end = i + taken
	}
	switch {
	case p.get(at, 0) == 5 && end-at >= 2:
		n := p.get(at+1, 0)
		return vterm.Index(uint8(n)), taken, n <= 255
	case p.get(at, 0) == 2 && end-at >= 4:
		if p.isSub(at) && end-at >= 5 {
			at++ // the colour space
		}
		r, g, b := p.get(at+1, 0), p.get(at+2, 0), p.get(at+3, 0)
		return vterm.RGB(uint8(r), uint8(g), uint8(b)), taken, max(r, g, b) <= 255
	}
	return 0, taken, false
}
