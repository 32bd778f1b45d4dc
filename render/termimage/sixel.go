package termimage

import (
	"image"
	"image/color"

	"github.com/longterm-dev/longterm/vterm"
)

// registers are the initial colours of a sixel image (VT340, "Sixel Graphics", table 2-2).
var registers = [16]color.NRGBA{
	percent(0, 0, 0), percent(20, 20, 80), percent(80, 13, 13), percent(20, 80, 20), percent(80, 20, 80), percent(20, 80, 80), percent(80, 80, 20), percent(53, 53, 53),
	percent(26, 26, 26), percent(33, 33, 60), percent(60, 26, 26), percent(33, 60, 33), percent(60, 33, 60), percent(33, 60, 60), percent(60, 60, 33), percent(80, 80, 80),
}

// maxRegisters is the size of the palette; numbers above it wrap around.
const maxRegisters = 1024

func percent(r, g, b int) color.NRGBA {
	part := func(v int) uint8 { return uint8((min(v, 100)*255 + 50) / 100) }
	return color.NRGBA{part(r), part(g), part(b), 0xff}
}

// painter draws sixels: six vertical pixels each, in bands from left to right.
type painter struct {
	out     *image.NRGBA
	palette [maxRegisters]color.NRGBA
	pen     color.NRGBA
	x, y    int
	work    int // number of pixels that may still be drawn: repeats could draw the same ones forever
}

func sixel(img *vterm.Image) (*image.NRGBA, error) {
	out, err := newImage(img.Width, img.Height)
	if err != nil {
		return nil, err
	}
	p := painter{out: out, work: 16*MaxPixels + len(img.Data)}
	for i := range p.palette {
		p.palette[i] = registers[i%len(registers)]
	}
	p.pen = p.palette[0]
	p.draw(img.Data)
	return out, nil
}

func (p *painter) draw(data []byte) {
	repeat := 1
	var room [8]int
	for i := 0; i < len(data) && p.work > 0 && p.y < p.out.Rect.Dy(); i++ {
		switch c := data[i]; {
		case c >= '?' && c <= '~':
			p.put(c-'?', repeat)
			repeat = 1
		case c == '$':
			p.x = 0
		case c == '-':
			p.x = 0
			p.y += 6
		case c == '!' || c == '"' || c == '#':
			params, n := numbers(data[i+1:], room[:0])
			i += n
			switch {
			case c == '!':
				repeat = max(params[0], 1)
			case c == '#':
				p.choose(params)
			}
		}
	}
}

// put draws the set pixels of a sixel, repeat times.
func (p *painter) put(bits byte, repeat int) {
	to := min(p.x+repeat, p.out.Rect.Dx())
	for dy := 0; bits != 0; dy, bits = dy+1, bits>>1 {
		y := p.y + dy
		if bits&1 == 0 || y >= p.out.Rect.Dy() {
			continue
		}
		for x := p.x; x < to && p.work > 0; x++ {
			p.out.SetNRGBA(x, y, p.pen)
			p.work--
		}
	}
	p.work--
	p.x = max(p.x, to)
}

// choose selects a colour, after defining it if the parameters do so.
func (p *painter) choose(params []int) {
	i := params[0] % maxRegisters
	if len(params) >= 5 {
		switch params[1] {
		case 1:
			p.palette[i] = hls(params[2], params[3], params[4])
		case 2:
			p.palette[i] = percent(params[2], params[3], params[4])
		}
	}
	p.pen = p.palette[i]
}

// hls returns a colour by hue (0 is blue, as in DEC's terminals), lightness and saturation.
func hls(hue, light, sat int) color.NRGBA {
	h := float64((hue+240)%360) / 60
	l, s := float64(min(light, 100))/100, float64(min(sat, 100))/100
	c := s * (1 - abs(2*l-1))
	second := h - 2*float64(int(h/2)) - 1
	x := c * (1 - abs(second))
	r, g, b := 0.0, 0.0, 0.0
	switch int(h) {
	case 0:
		r, g = c, x
	case 1:
		r, g = x, c
	case 2:
		g, b = c, x
	case 3:
		g, b = x, c
	case 4:
		r, b = x, c
	default:
		r, b = c, x
	}
	m := l - c/2
	part := func(v float64) uint8 { return uint8(min(max((v+m)*255+0.5, 0), 255)) }
	return color.NRGBA{part(r), part(g), part(b), 0xff}
}

func abs(v float64) float64 { return max(v, -v) }

// numbers parses numbers separated by semicolons, at least one, and returns the number of bytes read.
func numbers(b []byte, dst []int) ([]int, int) {
	v := 0
	for i, c := range b {
		switch {
		case c >= '0' && c <= '9':
			v = min(v*10+int(c-'0'), 1<<20)
		case c == ';':
			if len(dst) < cap(dst)-1 {
				dst = append(dst, v)
			}
			v = 0
		default:
			return append(dst, v), i
		}
	}
	return append(dst, v), len(b)
}
