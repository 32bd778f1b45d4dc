package boxdraw

import (
	"encoding/xml"
	"math/bits"
	"strings"
	"testing"
)

// rects returns the rectangles of a shape that consists of rectangles, as (x1, y1, x2, y2).
func rects(t *testing.T, s Shape) [][4]float32 {
	t.Helper()
	var out [][4]float32
	for i := 0; i < len(s.Path); i += 5 {
		p := s.Path[i : i+5]
		if p[0].Op != MoveTo || p[4].Op != Close {
			t.Fatalf("no rectangle: %v", p)
		}
		out = append(out, [4]float32{p[0].P[0], p[0].P[1], p[2].P[0], p[2].P[1]})
	}
	return out
}

// grid is which units of a cell a shape covers.
func grid(t *testing.T, r rune, w, h int) []bool {
	t.Helper()
	s, ok := Draw(r, float32(w), float32(h), 1)
	if !ok {
		t.Fatalf("%U is not drawn", r)
	}
	out := make([]bool, w*h)
	for _, b := range rects(t, s) {
		for _, v := range b {
			if v != float32(int(v)) {
				t.Fatalf("%U has an edge at %g", r, v)
			}
		}
		if b[0] < 0 || b[1] < 0 || int(b[2]) > w || int(b[3]) > h {
			t.Fatalf("%U leaves its cell of %d×%d: %v", r, w, h, b)
		}
		for y := int(b[1]); y < int(b[3]); y++ {
			for x := int(b[0]); x < int(b[2]); x++ {
				out[y*w+x] = true
			}
		}
	}
	return out
}

// edge is a side of a cell as a string of # and dots.
func edge(g []bool, w, h int, side byte) string {
	var b strings.Builder
	at := func(x, y int) {
		if g[y*w+x] {
			b.WriteByte('#')
		} else {
			b.WriteByte('.')
		}
	}
	for i := range h * w {
		x, y := i%w, i/w
		if side == 'l' && x == 0 || side == 'r' && x == w-1 || side == 'u' && y == 0 || side == 'd' && y == h-1 {
			at(x, y)
		}
	}
	return b.String()
}

// FEATURES: R36
func TestLinesJoin(t *testing.T) {
	for _, size := range [][2]int{{10, 20}, {9, 17}, {15, 30}, {20, 41}} {
		w, h := size[0], size[1]
		horizontal, vertical := map[weight]string{}, map[weight]string{}
		for i, a := range arms {
			if a == "" {
				continue
			}
			g := grid(t, rune(0x2500+i), w, h)
			for n, side := range []byte("urdl") {
				seen := horizontal
				if side == 'u' || side == 'd' {
					seen = vertical
				}
				got := edge(g, w, h, side)
				if want, ok := seen[weight(a[n])]; ok && got != want {
					t.Fatalf("%d×%d: side %c of %c (%s) is %s, of others with that arm %s", w, h, side, 0x2500+i, a, got, want)
				}
				seen[weight(a[n])] = got
			}
			connected(t, rune(0x2500+i), g, w, h)
		}
		if horizontal[light] == horizontal[heavy] || horizontal[light] == horizontal[double] || strings.Contains(horizontal[none], "#") {
			t.Fatalf("%d×%d: arms are equal: %v", w, h, horizontal)
		}
	}
}

// connected checks that single lines of a crossing touch each other.
func connected(t *testing.T, r rune, g []bool, w, h int) {
	t.Helper()
	if strings.ContainsRune(arms[r-0x2500], rune(double)) {
		return
	}
	seen := make([]bool, len(g))
	parts := 0
	for start := range g {
		if !g[start] || seen[start] {
			continue
		}
		parts++
		for todo := []int{start}; len(todo) > 0; {
			i := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if seen[i] || !g[i] {
				continue
			}
			seen[i] = true
			x, y := i%w, i/w
			for _, n := range [][2]int{{x - 1, y}, {x + 1, y}, {x, y - 1}, {x, y + 1}} {
				if n[0] >= 0 && n[0] < w && n[1] >= 0 && n[1] < h {
					todo = append(todo, n[1]*w+n[0])
				}
			}
		}
	}
	if parts != 1 {
		t.Errorf("%c falls apart into %d pieces", r, parts)
	}
}

// FEATURES: R36
func TestAreas(t *testing.T) {
	for _, tt := range []struct {
		r       rune
		covered int // of 10×24
	}{
		{'█', 240}, {'▀', 120}, {'▄', 120}, {'▌', 120}, {'▐', 120}, {'▁', 30}, {'▔', 30}, {'▎', 72}, {'▙', 180},
		{'\U0001fb00', 40}, {'\U0001fb3b', 200}, {'\U0001fb14', 120}, {'\U0001fb28', 160}, {'\U0001fb82', 60}, {'\U0001fb8b', 216},
		{'\u2800', 0}, {'\u28ff', 8 * 9}, {'\u2801', 9},
	} {
		n := 0
		for _, on := range grid(t, tt.r, 10, 24) {
			if on {
				n++
			}
		}
		if n != tt.covered {
			t.Errorf("%U covers %d units, want %d", tt.r, n, tt.covered)
		}
	}
	for n, r := range []rune("░▒▓") {
		if s, _ := Draw(r, 10, 20, 1); int(s.Alpha) != 64*(n+1) {
			t.Errorf("%c has alpha %d", r, s.Alpha)
		}
	}
	for i := range 256 { // all dots of each pattern exist, and they do not touch
		s, _ := Draw(rune(0x2800+i), 10, 20, 1)
		if got := len(rects(t, s)); got != bits.OnesCount(uint(i)) {
			t.Errorf("U+%x has %d dots", 0x2800+i, got)
		}
	}
}

// TestEveryShape draws all there is at many sizes, and reads the paths as SVG.
func TestEveryShape(t *testing.T) {
	for r := rune(0x2400); r < 0x1fc00; r++ {
		if r == 0x2900 {
			r = 0xe000
		}
		if r == 0xe100 {
			r = 0x1fb00
		}
		for _, w := range []float32{1, 2, 7, 10, 33} {
			s, ok := Draw(r, w, 2*w, w/8)
			if ok != Has(r) {
				t.Fatalf("%U: drawn is %v", r, ok)
			}
			for _, seg := range s.Path {
				for _, v := range seg.P {
					if v != v || v < -2*w-2 || v > 4*w+2 {
						t.Fatalf("%U at %g: %v", r, w, seg)
					}
				}
			}
			if ok && len(s.Path) == 0 && r != 0x2800 && w > 2 {
				t.Fatalf("%U is empty at %g", r, w)
			}
			if path := s.AppendSVG(nil, 3, 4); len(path) > 0 && xml.Unmarshal([]byte("<p d='"+string(path)+"'/>"), new(struct{})) != nil {
				t.Fatalf("%U: %s", r, path)
			}
		}
	}
}

// FEATURES: R30
func TestDecorate(t *testing.T) {
	lines := func(kind string) int { return len(rects(t, Decorate(kind, 3, 10, 20, 1, 15))) }
	for kind, want := range map[string]int{"single": 1, "double": 2, "dotted": 15, "dashed": 3, "strike": 1, "overline": 1} {
		if got := lines(kind); got != want {
			t.Errorf("%s is %d rectangles, want %d", kind, got, want)
		}
	}
	for _, kind := range []string{"single", "double", "curly", "dotted", "dashed", "strike", "overline"} {
		for _, h := range []float32{4, 8, 20, 33} {
			s := Decorate(kind, 2, h/2, h, h/16, h*0.76)
			for _, seg := range s.Path {
				if seg.Op != CubicTo && (seg.P[1] < -1 || seg.P[1] > h+1) {
					t.Errorf("%s leaves a line of %g: %v", kind, h, seg)
				}
			}
		}
	}
}
