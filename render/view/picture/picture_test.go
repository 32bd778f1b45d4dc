package picture

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"reflect"
	"testing"

	"github.com/longterm-dev/longterm/render/termimage"
	"github.com/longterm-dev/longterm/vterm"
)

// TestAnswers checks that a terminal's replies about its image support are found in the input, in any pieces, and that
// replies which look like keys are removed.
//
// FEATURES: R120
func TestAnswers(t *testing.T) {
	for text, want := range map[string]Support{
		"\x1b_Gi=31;OK\x1b\\\x1b[?62;4c":                    {Kind: Kitty},
		"\x1b_Gi=31;ENOTSUP:no\x1b\\\x1b[?62;22c":           {},
		"ab\x1b[A\x1b[?63;1;2;4;6;9;15;22c":                 {Kind: Sixel},
		"\x1b[?4c\x1b[4;40;20t":                             {},
		"\x1bP>|iTerm2 3.5.0\x1b\\\x1b[6;30;14t\x1b[?62;4c": {Kind: ITerm, Cell: image.Pt(14, 30)},
		"\x1bP>|WezTerm 2024\x1b\\":                         {Kind: ITerm},
		"\x1bP>|XTerm(390)\x1b\\\x1b[?1;0;16S\x1b[?62;4c":   {Kind: Sixel, Colors: 16},
		"\x1b[?1;3;0S\x1b[?2;0;800;600S\x1b[6;0;0t":         {},
		"\x1b[6;999999;3t\x1b[6;-1;3t\x1b[?1;0;;S":          {},
	} {
		for size := 1; size <= len(text); size++ {
			var a Answers
			var passed []byte
			a.ExpectReply()
			for at := 0; at < len(text); at += size {
				p := []byte(text[at:min(at+size, len(text))])
				a.Feed(p)
				passed = append(passed, p...)
			}
			if a.Support() != want {
				t.Fatalf("%q in pieces of %d: %+v; want %+v", text, size, a.Support(), want)
			}
			if bytes.HasSuffix(passed, []byte("S")) || bytes.HasSuffix(passed, []byte("2c")) || bytes.Contains(passed, []byte("\x1bP")) || len(passed) != len(text) {
				t.Errorf("%q reaches the keys as %q", text, passed)
			}
		}
	}
	var a Answers
	a.ExpectReply()
	a.Feed([]byte("\x1b[?62;4c")) // the last answer
	if p := []byte("\x1bP>x"); a.Feed(p) || string(p) != "\x1bP>x" {
		t.Errorf("Alt-Shift-P has become %q", p)
	}
	keys := []byte("\x1bOS\x1b[S\x1b[1;2S\x1b[c") // F4 and Shift-Right stay unchanged
	if (&Answers{}).Feed(keys); string(keys) != "\x1bOS\x1b[S\x1b[1;2S\x1b[c" {
		t.Errorf("keys have become %q", keys)
	}
}

func FuzzAnswers(f *testing.F) {
	f.Add([]byte("\x1b_Gi=31;OK\x1b\\\x1b[?62;4c\x1b[6;16;8t\x1b[?1;0;256S\x1bP>|iTerm2\x1b\\"), 3)
	f.Fuzz(func(t *testing.T, b []byte, size int) {
		size = max(1, min(size, len(b)+1))
		var a, whole Answers
		a.ExpectReply()
		whole.ExpectReply()
		all := bytes.Clone(b)
		whole.Feed(all)
		for at := 0; at < len(b); at += size {
			p := bytes.Clone(b[at:min(at+size, len(b))])
			a.Feed(p)
			if !bytes.Equal(p, all[at:at+len(p)]) {
				t.Fatalf("in pieces of %d %q reaches the keys, at once %q", size, p, all[at:at+len(p)])
			}
		}
		if m := a.Support(); m != whole.Support() || len(a.held) > maxAnswer || m.Cell.X > maxCell || m.Cell.Y > maxCell {
			t.Fatalf("%+v in pieces, %+v at once, %d bytes held back", m, whole.Support(), len(a.held))
		}
	})
}

// scene is an image with areas of a few colours and one that is transparent.
func scene(w, h int) *image.NRGBA {
	pic := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.NRGBA{uint8(x / 8 * 51), uint8(y / 8 * 51), 102, 255}
			if x >= w-8 && y < 8 {
				c = color.NRGBA{}
			}
			pic.SetNRGBA(x, y, c)
		}
	}
	return pic
}

// on writes the bytes to a terminal, and returns the image that it shows.
func on(t *testing.T, b []byte) *image.NRGBA {
	t.Helper()
	e := vterm.New(vterm.Options{Cols: 40, Rows: 20, CellWidth: 8, CellHeight: 16})
	_, _ = e.Write(b)
	var f vterm.Frame
	e.Frame(&f, vterm.Query{})
	for i := range f.Placed {
		pic, err := termimage.Decode(f.Images[i].Image)
		if err != nil {
			t.Fatal(err)
		}
		return pic
	}
	t.Fatalf("nothing is drawn by %.200q", b)
	return nil
}

// TestDraw checks that each way of drawing shows the part's pixels, the same ones, on our own terminal.
//
// FEATURES: R120
func TestDraw(t *testing.T) {
	pic := scene(32, 32)
	for _, kind := range []Kind{Sixel, ITerm, Kitty} {
		for _, part := range []Part{
			{W: 4, H: 2, Cols: 4, Rows: 2}, {W: 2, H: 1, FromX: 1, FromY: 1, Cols: 4, Rows: 2}, {W: 3, H: 1, FromX: 1, Cols: 4, Rows: 2},
		} {
			t.Run(fmt.Sprint(kind, part), func(t *testing.T) {
				m := Support{Kind: kind, Colors: 64, Cell: image.Pt(8, 16)}
				got := on(t, m.Draw(nil, &part, m.Encode(&part, pic), 7))
				if got.Rect.Dx() != part.W*8 || got.Rect.Dy() != part.H*16 {
					t.Fatalf("%v pixels", got.Rect)
				}
				for y := range part.H * 16 {
					for x := range part.W * 8 {
						want := pic.NRGBAAt(part.FromX*8+x, part.FromY*16+y)
						if c := got.NRGBAAt(x, y); c != want && (c.A != 0 || want.A != 0) {
							t.Fatalf("%d,%d is %v, want %v", x, y, c, want)
						}
					}
				}
			})
		}
	}
}

// TestFewColors checks that an image with more colours than the terminal's is drawn in the nearest ones.
//
// FEATURES: R120
func TestFewColors(t *testing.T) {
	pic := image.NewNRGBA(image.Rect(0, 0, 128, 96))
	for i := range 128 * 96 {
		pic.SetNRGBA(i%128, i/128, color.NRGBA{uint8(i % 128 * 2), uint8(i / 128 * 2), uint8(i % 251), 255})
	}
	for colors, most := range map[int]float64{256: 14, 16: 55, 2: 130, 0: 14} {
		b := appendSixel(nil, pic, colors)
		if most := min(cmp.Or(colors, maxColors), maxColors); bytes.Contains(b, fmt.Appendf(nil, "#%d;2;", most)) {
			t.Errorf("more than %d colours", most)
		}
		got, sum := on(t, b), 0.0
		for i := 0; i < len(pic.Pix); i++ {
			sum += math.Abs(float64(pic.Pix[i]) - float64(got.Pix[i]))
		}
		if off := sum / float64(len(pic.Pix)) * 4 / 3; off > most {
			t.Errorf("%d colours are off by %.1f, at most %.0f", colors, off, most)
		}
		if !bytes.Equal(b, appendSixel(nil, pic, colors)) {
			t.Errorf("%d colours: another picture each time", colors)
		}
	}
}

// TestNothingToDraw checks that parts too large for any terminal, or invalid ones, are not drawn.
func TestNothingToDraw(t *testing.T) {
	m := Support{Kind: Sixel}
	pic := scene(8, 8)
	for _, p := range []Part{
		{W: 1, H: 1}, {W: 0, H: 1, Cols: 1, Rows: 1}, {W: 1 << 20, H: 1 << 20, Cols: 1, Rows: 1}, {W: 1, H: 1, Cols: math.NaN(), Rows: 1},
		{W: 1, H: 1, Cols: math.Inf(1), Rows: 1}, {W: 1, H: 1, FromX: 5, Cols: 1, Rows: 1}, {W: 1, H: 1, Cols: 1e9, Rows: 1e9},
	} {
		if b := m.Encode(&p, pic); b != nil {
			t.Errorf("%+v is drawn: %.80q", p, b)
		}
	}
	if b := m.Encode(&Part{W: 1, H: 1, Cols: 1, Rows: 1}, &image.NRGBA{}); b != nil {
		t.Error("an image without pixels is drawn")
	}
	if b := (&Support{}).Encode(&Part{W: 1, H: 1, Cols: 1, Rows: 1}, pic); b != nil {
		t.Error("drawn without means")
	}
}

// FEATURES: R120
func TestParts(t *testing.T) {
	row := Part{X: 2, Y: 1, W: 6, H: 1, Key: "k", FromX: 3, Cols: 9, Rows: 4}
	for _, c := range []struct {
		from, to int
		want     string
	}{
		{0, 2, "2+6@3"}, {8, 9, "2+6@3"}, {2, 8, ""}, {0, 100, ""}, {4, 5, "2+2@3 5+3@6"}, {0, 3, "3+5@4"}, {7, 8, "2+5@3"}, {5, 5, "2+6@3"},
	} {
		got := ""
		for _, p := range row.Cut(c.from, c.to) {
			got += fmt.Sprintf(" %d+%d@%d", p.X, p.W, p.FromX)
		}
		if got != "" {
			got = got[1:]
		}
		if got != c.want {
			t.Errorf("without %d to %d: %q, want %q", c.from, c.to, got, c.want)
		}
	}
	below, beside := row, row
	below.Y, below.FromY, beside.X = 2, 1, 20
	other := below
	other.Y, other.FromY, other.Key = 3, 2, "other"
	joined := row
	joined.H = 2
	if got, want := Join([]Part{row, beside, below, other}), []Part{joined, beside, other}; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}
}

// TestStore checks that a store drops the oldest images if there are too many, and remembers an invalid one.
//
// FEATURES: R120
func TestStore(t *testing.T) {
	var s Store
	var b bytes.Buffer
	if err := png.Encode(&b, scene(16, 16)); err != nil {
		t.Fatal(err)
	}
	s.Put("none", Decode([]byte("no image")))
	if pic, ok := s.Get("none"); !ok || !pic.Rect.Empty() {
		t.Errorf("an image that is none: %v %v", pic, ok)
	}
	for i := range maxImages + 1 {
		s.Begin()
		s.Put(fmt.Sprint(i), Decode(b.Bytes()))
		s.Put(fmt.Sprint(i), Decode([]byte("not taken")))
	}
	if _, ok := s.Get("0"); ok || len(s.images) != maxImages || s.pixels != maxImages*16*16 {
		t.Errorf("the oldest: %v; %d images, %d pixels", ok, len(s.images), s.pixels)
	}
	if pic, ok := s.Get(fmt.Sprint(maxImages)); !ok || !bytes.Equal(pic.Pix, scene(16, 16).Pix) {
		t.Error("the newest image differs from the stored one")
	}
}

// TestStoreIsFull checks that with more visible images than the store holds, drawn ones stay, and the rest is not
// requested repeatedly. It is requested once an image is hidden.
func TestStoreIsFull(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2048, maxImage/2048))); err != nil {
		t.Fatal(err)
	}
	var s Store
	draw := func(keys ...string) (asked string) {
		s.Begin()
		for _, k := range keys {
			if _, ok := s.Get(k); !ok {
				asked += k
			}
		}
		for _, k := range asked {
			s.Put(string(k), Decode(b.Bytes()))
		}
		return asked
	}
	for i, step := range []struct {
		keys []string
		want string
	}{
		{[]string{"a", "b", "c"}, "abc"}, {[]string{"a", "b", "c"}, ""}, {[]string{"a", "b", "c", "d"}, "d"}, {[]string{"a", "b", "c", "d"}, ""},
		{[]string{"b", "c"}, ""}, {[]string{"b", "c"}, "c"}, {[]string{"b", "c"}, ""},
	} {
		if got := draw(step.keys...); got != step.want {
			t.Errorf("drawing %d requests %q, want %q", i, got, step.want)
		}
	}
	if pic, ok := s.Get("c"); !ok || pic.Rect.Empty() || s.pixels > maxPixels {
		t.Errorf("%v %v, %d pixels", pic.Rect, ok, s.pixels)
	}
}

func FuzzStore(f *testing.F) {
	var b bytes.Buffer
	_ = png.Encode(&b, scene(8, 8))
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		var s Store
		s.Put("k", Decode(b))
		if pic, ok := s.Get("k"); !ok || area(pic) > maxImage {
			t.Fatal("the image is missing, or too large")
		}
	})
}
