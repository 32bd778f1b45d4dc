package pixel

import (
	"image"
	"testing"
)

// TestWindow checks that a window is drawn around the cells, which stay the same; a later title is drawn too.
func TestWindow(t *testing.T) {
	s := screenOf(24, 3, "\x1b]2;one\x07$ make\r\n\x1b[41mred")
	o := lookOf(t, "", 1.5)
	plain := paint(t, s, o)
	o.Window, o.Margin = true, 20
	p, err := NewPainter(s.Cols, s.Rows, o)
	fail(t, err)
	first := p.Draw(s)
	inner := image.NewRGBA(plain.Rect)
	n := p.cell.X // corners are round
	for y := range plain.Rect.Dy() {
		for x := n; x < plain.Rect.Dx()-n; x++ {
			inner.Set(x, y, first.At(x+p.origin.X, y+p.origin.Y))
			if inner.At(x, y) != plain.At(x, y) {
				t.Fatalf("cells differ at %d, %d: got %v, want %v", x, y, inner.At(x, y), plain.At(x, y))
			}
		}
	}
	s.Title = "another"
	if second := p.Draw(s); string(second.Pix) == string(first.Pix) {
		t.Error("the new title was not drawn")
	}
	for _, title := range []string{"", "\x00\x1b[2J", "漢字漢字漢字漢字漢字漢字漢字漢字漢字", "a\nb"} {
		s.Title = title
		p.DrawOn(first, s)
	}
}

// TestBlur checks that a shadow of a large window has full opacity inside, half at the edge, and none outside.
func TestBlur(t *testing.T) {
	m := image.NewAlpha(image.Rect(0, 0, 100, 100))
	for y := 30; y < 70; y++ {
		for x := 30; x < 70; x++ {
			m.Pix[m.PixOffset(x, y)] = 0xff
		}
	}
	blur(m, 4)
	if in, edge, out := m.AlphaAt(50, 50).A, m.AlphaAt(30, 50).A, m.AlphaAt(10, 50).A; in < 0xf0 || edge < 0x70 || edge > 0x90 || out != 0 {
		t.Errorf("got %d inside, %d at the edge, %d outside", in, edge, out)
	}
}
