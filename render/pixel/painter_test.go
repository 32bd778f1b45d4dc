package pixel

import (
	"bytes"
	"encoding/base64"
	"flag"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/vterm"
)

var update = flag.Bool("update", false, "write the golden files anew")

func fail(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// screenOf is the screen after some output.
func screenOf(cols, rows int, output string) *render.Screen {
	e := vterm.New(vterm.Options{Cols: cols, Rows: rows})
	_, _ = e.Write([]byte(output))
	var f vterm.Frame
	e.Frame(&f, vterm.Query{})
	s := &render.Screen{}
	render.FromFrame(s, &f)
	return s
}

func lookOf(t testing.TB, theme string, scale float64) Options {
	t.Helper()
	th, err := render.ThemeFor(theme, nil)
	fail(t, err)
	return Options{PictureOptions: render.PictureOptions{Theme: th, Scale: scale}}
}

func paint(t testing.TB, s *render.Screen, o Options) *image.RGBA {
	t.Helper()
	p, err := NewPainter(s.Cols, s.Rows+len(s.Scrollback), o)
	fail(t, err)
	return p.Draw(s)
}

// goldens are pictures that are pinned: only embedded fonts.
var goldens = []struct {
	name, theme string
	scale       float64
	cols, rows  int
	output      string
}{
	{"styles", "", 1, 24, 4, "\x1b[1mbold\x1b[22;2mdim\x1b[22;3mitalic\x1b[m\r\n\x1b[4ma\x1b[4:2mb\x1b[4:3mc\x1b[4:4md\x1b[4:5;58:2::250:9:9me\x1b[m\x1b[7minv\x1b[27;9mstr\x1b[29;53mover\x1b[m\x1b[8mhid\x1b[m\r\n" +
		"\x1b[31;42mindex\x1b[38;5;208mcube\x1b[38;2;1;2;3;48;2;250;251;252mrgb\x1b[m"},
	{"boxes", "light", 1, 24, 5, "┌─┬╮╔═╦╗┏━┳┓╱╲\r\n│ ├┤║ ╠╣┃ ┣┫╲╱\r\n╰─┴┘╚═╩╝┗━┻┛┄┅\r\n▀▄█▌▐░▒▓▁▃▅▇⣿⠋🬀🬹\ue0b0\ue0b1\ue0b2\ue0b4\ue0a0\ue0a1\ue0a2"},
	{"unicode", "high-contrast", 1, 24, 4, "你好世界 カタ 한글\x1b[1m漢\x1b[m\r\né e\u0301 Ωж שלום ✓❯➜\r\n😀 👩\u200d👩\u200d👧 \u0e01"},
	{"sizes", "", 0.5, 24, 5, "\x1b#6wide 你\r\n\x1b#3tall\r\n\x1b#4tall\r\n\x1b[4 q$ "},
	{"window", "light", 1, 24, 3, "\x1b]2;a title\x07$ make\r\n\r\n\x1b[41mfull width in the corner\x1b[m"},
	{"large", "", 2, 8, 2, "Ag你\r\n─╮█\x1b[6 q"},
}

// FEATURES: R30, R32, R33, R36
func TestGolden(t *testing.T) {
	for _, tt := range goldens {
		t.Run(tt.name, func(t *testing.T) {
			s := screenOf(tt.cols, tt.rows, tt.output)
			var b bytes.Buffer
			o := lookOf(t, tt.theme, tt.scale)
			if tt.name == "window" {
				o.Window, o.Margin, o.MarginColor = true, 30, 0xa9b4c4
			}
			fail(t, WritePNG(&b, s, o))
			file := filepath.Join("testdata", "golden", tt.name+".png")
			if *update {
				fail(t, os.MkdirAll(filepath.Dir(file), 0o755))
				fail(t, os.WriteFile(file, b.Bytes(), 0o644))
			}
			pinned, err := os.ReadFile(file)
			fail(t, err)
			want, err := png.Decode(bytes.NewReader(pinned))
			fail(t, err)
			got, err := png.Decode(&b)
			fail(t, err)
			if at, ok := differ(got, want); ok {
				t.Errorf("%v differs: got %v, want %v (go test ./render/pixel -run Golden -update accepts it)", at, got.At(at.X, at.Y), want.At(at.X, at.Y))
			}
		})
	}
}

// differ finds a pixel that differs by more than how processors add up fractions.
func differ(a, b image.Image) (image.Point, bool) {
	if a.Bounds() != b.Bounds() {
		return image.Point{}, true
	}
	for y := range a.Bounds().Dy() {
		for x := range a.Bounds().Dx() {
			r1, g1, b1, _ := a.At(x, y).RGBA()
			r2, g2, b2, _ := b.At(x, y).RGBA()
			if max(r1, r2)-min(r1, r2) > 0x300 || max(g1, g2)-min(g1, g2) > 0x300 || max(b1, b2)-min(b1, b2) > 0x300 {
				return image.Pt(x, y), true
			}
		}
	}
	return image.Point{}, false
}

// cellOf is the part of a picture without padding that is a cell.
func cellOf(img *image.RGBA, col, row, w, h int) *image.RGBA {
	return img.SubImage(image.Rect(col*w, row*h, (col+1)*w, (row+1)*h)).(*image.RGBA)
}

// colors counts the pixels by colour.
func colors(img *image.RGBA) map[color.Color]int {
	out := map[color.Color]int{}
	for y := img.Rect.Min.Y; y < img.Rect.Max.Y; y++ {
		for x := img.Rect.Min.X; x < img.Rect.Max.X; x++ {
			out[img.At(x, y)]++
		}
	}
	return out
}

// FEATURES: R30
func TestBackgrounds(t *testing.T) {
	s := screenOf(6, 2, "\x1b[48;2;1;2;3ma 你\x1b[m \x1b[7m \x1b[m\x1b[?25l")
	o := lookOf(t, "high-contrast", 1)
	img := paint(t, s, o)
	for col, want := range []uint32{0x010203, 0x010203, 0x010203, 0x010203, 0x000000, 0xffffff} {
		got := colors(cellOf(img, col, 0, 10, 20))
		if most(got) != rgba(want) {
			t.Errorf("cell %d is mostly %v, want %06x", col, most(got), want)
		}
		if blank := col == 1 || col > 3; blank != (len(got) == 1) {
			t.Errorf("cell %d has %d colours", col, len(got))
		}
	}
}

func most(counts map[color.Color]int) color.Color {
	var best color.Color
	for c, n := range counts {
		if best == nil || n > counts[best] {
			best = c
		}
	}
	return best
}

// TestNoSeams checks that boxes have no seam: a frame drawn over several cells is one continuous line.
// FEATURES: R36
func TestNoSeams(t *testing.T) {
	for _, scale := range []float64{0.5, 1, 1.3, 2, 3} {
		s := screenOf(5, 4, "┌───┐\r\n│   │\r\n│   │\r\n└───┘\x1b[?25l")
		img := paint(t, s, lookOf(t, "high-contrast", scale))
		w, h := img.Rect.Dx()/5, img.Rect.Dy()/4
		on := func(x, y int) bool { return img.RGBAAt(x, y).R == 0xff }
		x, y := w/2, h/2
		for !on(x, 2*h) { // the left line
			x--
		}
		for !on(2*w, y) { // the upper line
			y--
		}
		for i := y; i < 3*h+h/2; i++ {
			if !on(x, i) {
				t.Fatalf("scale %g: the left line breaks at %d,%d", scale, x, i)
			}
		}
		for i := x; i < 4*w+w/2; i++ {
			if !on(i, y) {
				t.Fatalf("scale %g: the upper line breaks at %d,%d", scale, i, y)
			}
		}
	}
}

// FEATURES: R33
func TestCursor(t *testing.T) {
	ink := func(shape string, hidden bool) int {
		output := "ab\x1b[D"
		if hidden {
			output += "\x1b[?25l"
		}
		o := lookOf(t, "high-contrast", 1)
		o.CursorShape = shape
		return colors(cellOf(paint(t, screenOf(4, 1, output), o), 1, 0, 10, 20))[rgba(0xffff00)]
	}
	if block, under, bar, none := ink("block", false), ink("underline", false), ink("bar", false), ink("", true); block < 100 || under != 20 || bar != 40 || none != 0 {
		t.Errorf("cursors cover %d (block), %d (underline), %d (bar), %d (hidden) pixels", block, under, bar, none)
	}
}

func TestBounds(t *testing.T) {
	big := &render.Screen{Cols: 1000, Rows: 1000}
	err := WritePNG(&bytes.Buffer{}, big, lookOf(t, "", 1))
	if err == nil || !strings.Contains(err.Error(), "too large") || !strings.Contains(err.Error(), "smaller scale") {
		t.Errorf("a picture of 200 million pixels: %v", err)
	}
	for _, s := range []*render.Screen{{}, {Cols: -1, Rows: 5}, {Cols: 5, Rows: -5}, {Cols: 1 << 40, Rows: 1 << 40}} {
		if WritePNG(&bytes.Buffer{}, s, lookOf(t, "", 1)) == nil {
			t.Errorf("%d×%d was drawn", s.Cols, s.Rows)
		}
	}
	for _, scale := range []float64{-0, 0.1, 9, 1e300} {
		if err := WritePNG(&bytes.Buffer{}, &render.Screen{Cols: 2, Rows: 2}, lookOf(t, "", scale)); (err == nil) != (scale == 0) {
			t.Errorf("scale %g: %v", scale, err)
		}
	}
}

// TestFallback checks that glyphs of any font stay in their cells: they do not cover a neighbour's text. Every
// supported character has ink.
// FEATURES: R32
func TestFallback(t *testing.T) {
	o := lookOf(t, "high-contrast", 1)
	for _, tt := range []struct {
		text  string
		width int
	}{{"a", 1}, {"é", 1}, {"e\u0301", 1}, {"ж", 1}, {"✓", 1}, {"❯", 1}, {"你", 2}, {"の", 2}, {"한", 2}, {"😀", 2}, {"\u0e01", 1}, {"𓀀", 1}} {
		img := paint(t, screenOf(4, 1, tt.text+"\x1b[?25l"), o)
		for col := range tt.width {
			if len(colors(cellOf(img, col, 0, 10, 20))) < 2 {
				t.Errorf("%s leaves cell %d blank", tt.text, col)
			}
		}
		if c := colors(cellOf(img, 3, 0, 10, 20)); len(c) != 1 {
			t.Errorf("%s reaches cell 3", tt.text)
		}
	}
}

// FuzzPNG draws the screen after any output.
// FEATURES: R36
func FuzzPNG(f *testing.F) {
	for _, g := range goldens {
		f.Add([]byte(g.output), byte(4))
	}
	f.Fuzz(func(t *testing.T, data []byte, size byte) {
		s := screenOf(12, 3, string(data))
		var b bytes.Buffer
		fail(t, WritePNG(&b, s, lookOf(t, "session", 0.25+float64(size%8)/4)))
		img, err := png.Decode(&b)
		fail(t, err)
		p, err := NewPainter(s.Cols, s.Rows, lookOf(t, "session", 0.25+float64(size%8)/4)) // programs resize
		fail(t, err)
		if img.Bounds().Max != p.Size() {
			t.Fatalf("size %v, want %v", img.Bounds().Max, p.Size())
		}
	})
}

// FuzzEmojiFont reads fonts that may be anything.
func FuzzEmojiFont(f *testing.F) {
	for _, name := range []string{"CBLC", "CBDT"} {
		f.Add([]byte("\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00" + name + "\x00\x00\x00\x00\x00\x00\x00\x1c\x00\x00\x00\x04abcd"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if e := newBitmapEmoji(bytes.NewReader(data)); e != nil {
			e.draw("😀a", 20, 20)
		}
		half := len(data) / 2
		join([]uint16{1, 2, 3, 1}, ligatures(data))
		e := bitmapEmoji{index: data[:half], data: io.NewSectionReader(bytes.NewReader(data), int64(half), int64(len(data)-half))}
		for g := range uint16(20) {
			e.picture(g)
		}
	})
}

func TestJoin(t *testing.T) {
	// A GSUB table with one lookup of one ligature subtable: glyphs 5 6 make 9, 5 6 7 make 10.
	gsub := []byte{0, 1, 0, 0, 0, 0, 0, 0, 0, 10,
		0, 1, 0, 4, // lookups: one
		0, 4, 0, 0, 0, 1, 0, 8, // of type 4, one subtable
		0, 1, 0, 8, 0, 1, 0, 14, // format 1, coverage, one set
		0, 1, 0, 1, 0, 5, // coverage: glyph 5
		0, 2, 0, 6, 0, 12, // set: two ligatures
		0, 9, 0, 2, 0, 6,
		0, 10, 0, 3, 0, 6, 0, 7,
	}
	known := ligatures(gsub)
	for _, tt := range []struct{ in, want []uint16 }{
		{[]uint16{5, 6}, []uint16{9}}, {[]uint16{5, 6, 7, 5}, []uint16{10, 5}}, {[]uint16{4, 5, 6, 8}, []uint16{4, 9, 8}}, {[]uint16{6, 5}, []uint16{6, 5}},
	} {
		if got := join(tt.in, known); !slices.Equal(got, tt.want) {
			t.Errorf("%v makes %v, want %v", tt.in, got, tt.want)
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	s := screenOf(120, 40, strings.Repeat("The quick brown fox \x1b[31mjumps\x1b[m over ├──┤ ", 90))
	p, err := NewPainter(120, 40, lookOf(b, "", 1))
	fail(b, err)
	img := p.Draw(s)
	for b.Loop() {
		p.DrawOn(img, s)
	}
}

// FEATURES: R36
func TestImages(t *testing.T) {
	pixels := base64.StdEncoding.EncodeToString([]byte{255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255})
	const place = "\x1b_Ga=T,f=24,s=2,v=2,c=8,r=4;"
	for _, scale := range []float64{1, 2, 0.5} {
		img := paint(t, screenOf(20, 6, "\r\n"+place+pixels+"\x1b\\x"), lookOf(t, "dark", scale))
		w, h := int(render.CellWidth*scale), int(render.CellHeight*scale)
		for at, want := range map[image.Point]color.RGBA{
			{0, 1}: {255, 0, 0, 255}, {7, 1}: {0, 255, 0, 255}, {0, 4}: {0, 0, 255, 255}, {7, 4}: {255, 255, 255, 255},
		} {
			corner := image.Pt(at.X*w, at.Y*h)
			if at.X > 0 {
				corner.X += w - 1
			}
			if at.Y > 1 {
				corner.Y += h - 1
			}
			if got := img.RGBAAt(corner.X, corner.Y); got != want {
				t.Errorf("scale %g, %v: %v; want %v", scale, at, got, want)
			}
		}
		if got := img.RGBAAt(8*w+w/2, h); got == (color.RGBA{0, 255, 0, 255}) {
			t.Errorf("scale %g: the image is wider than its cells", scale)
		}
	}
	// An invalid image, and parts beyond the picture, are not drawn.
	s := screenOf(20, 6, place+"AAAA\x1b\\")
	paint(t, s, lookOf(t, "dark", 1))
	s = screenOf(20, 6, place+pixels+"\x1b\\")
	p, err := NewPainter(4, 2, lookOf(t, "dark", 1))
	fail(t, err)
	p.Draw(s)
}
