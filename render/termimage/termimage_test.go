package termimage

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"weak"

	"github.com/longterm-dev/longterm/vterm"
)

func sixels(w, h int, data string) *vterm.Image {
	return &vterm.Image{Format: vterm.ImageSixel, Width: w, Height: h, Data: []byte(data)}
}

// rows are an image's pixels, a letter each.
func rows(pic *image.NRGBA) string {
	names := map[color.NRGBA]byte{{}: '.', percent(100, 0, 0): 'r', percent(0, 100, 0): 'g', percent(0, 0, 100): 'b', percent(0, 0, 0): 'k', percent(80, 13, 13): 'd'}
	var b strings.Builder
	for y := range pic.Rect.Dy() {
		for x := range pic.Rect.Dx() {
			c, known := names[pic.NRGBAAt(x, y)]
			if !known {
				c = '?'
			}
			b.WriteByte(c)
		}
		b.WriteByte('/')
	}
	return b.String()
}

// TestSixel checks sixel images. Source: VT330/VT340 Programmer Reference Manual, volume 2, chapter 14.
//
// FEATURES: R112
func TestSixel(t *testing.T) {
	for _, c := range []struct {
		img  *vterm.Image
		want string
	}{
		{sixels(3, 6, "#1;2;100;0;0!3~"), "rrr/rrr/rrr/rrr/rrr/rrr/"},
		{sixels(2, 6, "#1;2;100;0;0@$#2;2;0;100;0A"), "r./g./../../../../"},
		{sixels(2, 7, "#1;2;0;0;100~?-?@"), "b./b./b./b./b./b./.b/"},
		{sixels(1, 2, "#1;1;120;50;100@$#1;1;240;50;100A"), "r/g/"},
		{sixels(1, 1, "#1;1;0;50;100@"), "b/"},
		{sixels(2, 1, "@"), "k./"},
		{sixels(1, 1, "!99999999@#"), "k/"},
		{sixels(1, 1, "#9999999;2;100;0;0@"), "r/"},
		{sixels(2, 1, "#2@#18@"), "dd/"}, // colours that were not set, and as many again
		{sixels(2, 1, "#1;2;100;0;0#1025@#0@"), "rk/"},
		{sixels(2, 1, "!0@@"), "kk/"},
	} {
		pic, err := Decode(c.img)
		if err != nil {
			t.Errorf("%s: %v", c.img.Data, err)
			continue
		}
		if got := rows(pic); got != c.want {
			t.Errorf("%s: %s, want %s", c.img.Data, got, c.want)
		}
	}
}

func deflated(b []byte) []byte {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	_, _ = z.Write(b) // of a buffer they cannot fail
	_ = z.Close()
	return out.Bytes()
}

func pngOf(t *testing.T, pic image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, pic); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestPixels checks transfers of pixels. Source: kitty graphics protocol, "Transferring pixel data".
func TestPixels(t *testing.T) {
	pal := image.NewPaletted(image.Rect(5, 5, 7, 6), color.Palette{percent(100, 0, 0), percent(0, 0, 100)})
	pal.SetColorIndex(6, 5, 1)
	for name, c := range map[string]struct {
		img  vterm.Image
		want string
	}{
		"RGB":           {vterm.Image{Format: vterm.ImageRGB, Width: 2, Height: 1, Data: []byte{255, 0, 0, 0, 255, 0}}, "rg/"},
		"RGBA":          {vterm.Image{Format: vterm.ImageRGBA, Width: 1, Height: 2, Data: []byte{0, 0, 255, 255, 0, 0, 0, 0}}, "b/./"},
		"deflated":      {vterm.Image{Format: vterm.ImageRGB, Deflated: true, Width: 1, Height: 1, Data: deflated([]byte{0, 255, 0})}, "g/"},
		"PNG":           {vterm.Image{Format: vterm.ImagePNG, Data: pngOf(t, pal)}, "rb/"},
		"PNG, deflated": {vterm.Image{Format: vterm.ImagePNG, Deflated: true, Data: deflated(pngOf(t, pal))}, "rb/"},
	} {
		pic, err := Decode(&c.img)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := rows(pic); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// huge returns a PNG that claims a number of pixels, and has none.
func huge(w, h uint32) []byte {
	head := []byte("IHDR")
	head = binary.BigEndian.AppendUint32(head, w)
	head = binary.BigEndian.AppendUint32(head, h)
	head = append(head, 8, 6, 0, 0, 0)
	b := binary.BigEndian.AppendUint32([]byte("\x89PNG\r\n\x1a\n"), uint32(len(head)-4))
	return binary.BigEndian.AppendUint32(append(b, head...), crc32.ChecksumIEEE(head))
}

func TestWhatIsNoImage(t *testing.T) {
	for name, img := range map[string]vterm.Image{
		"no pixels":          {Format: vterm.ImageRGB},
		"negative":           {Format: vterm.ImageRGB, Width: -1, Height: 1},
		"too few":            {Format: vterm.ImageRGB, Width: 2, Height: 1, Data: []byte{1, 2, 3}},
		"too few, RGBA":      {Format: vterm.ImageRGBA, Width: 2, Height: 1, Data: []byte{1, 2, 3}},
		"too many":           {Format: vterm.ImageRGB, Width: 1 << 16, Height: 1 << 16},
		"too wide":           {Format: vterm.ImageRGB, Width: 1 << 24, Height: 1},
		"overflow":           {Format: vterm.ImageRGB, Width: 1 << 62, Height: 4},
		"not deflated":       {Format: vterm.ImageRGB, Deflated: true, Width: 1, Height: 1, Data: []byte{1, 2, 3}},
		"no PNG":             {Format: vterm.ImagePNG, Data: []byte("<svg onload=alert(1)>")},
		"a PNG that is huge": {Format: vterm.ImagePNG, Data: huge(1<<20, 1<<20)},
		"of another format":  {Format: 77, Width: 1, Height: 1},
	} {
		_, err := PNG(&img)
		if err == nil {
			t.Errorf("%s: it is an image", name)
		}
		if large := slices.Contains([]string{"too many", "too wide", "overflow", "a PNG that is huge"}, name); large != errors.Is(err, errTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLargeImages checks that the size of decoded images is bounded, whatever the picture is.
func TestLargeImages(t *testing.T) {
	noise := vterm.Image{Format: vterm.ImageRGB, Width: 1500, Height: 1000, Data: make([]byte, 3*1500*1000)}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range noise.Data {
		noise.Data[i] = byte(r.Uint32())
	}
	b, err := PNG(&noise)
	if err != nil {
		t.Fatal(err)
	}
	flat, err := PNG(&vterm.Image{Format: vterm.ImageSixel, Width: 2000, Height: 2000})
	if err != nil {
		t.Fatal(err)
	}
	if c, err := png.DecodeConfig(bytes.NewReader(flat)); err != nil || c.Width*c.Height > maxSent || c.Width != 1000 {
		t.Errorf("%d×%d, %v", c.Width, c.Height, err)
	}
	c, err := png.DecodeConfig(bytes.NewReader(b))
	if err != nil || len(b) > MaxBytes || c.Width*2 > 3*c.Height+2 || c.Width*2 < 3*c.Height-3 {
		t.Errorf("%d bytes, %d×%d, %v", len(b), c.Width, c.Height, err)
	}
}

// files are images of a colour as files, by their format.
func files(t testing.TB, w, h int) map[vterm.ImageFormat][]byte {
	t.Helper()
	out := map[vterm.ImageFormat][]byte{}
	pic := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.NRGBA{0, 0, 254, 255}})
	var j, g bytes.Buffer
	part := *pic
	part.Rect = image.Rect(2, 0, w, h-1)
	err := gif.EncodeAll(&g, &gif.GIF{Image: []*image.Paletted{&part, pic}, Delay: []int{1, 1}, Config: image.Config{Width: w, Height: h, ColorModel: pic.Palette}})
	if err := errors.Join(err, jpeg.Encode(&j, pic, nil)); err != nil {
		t.Fatal(err)
	}
	out[vterm.ImageJPEG], out[vterm.ImageGIF] = j.Bytes(), g.Bytes()
	return out
}

// TestFiles checks that the pixels of a JPEG and of the first picture of a GIF are returned, and that a truncated or
// too large file is an error.
//
// FEATURES: R112
func TestFiles(t *testing.T) {
	for format, data := range files(t, 30, 20) {
		pic, err := Decode(&vterm.Image{Format: format, Data: data})
		if err != nil {
			t.Fatal(format, err)
		}
		c := pic.NRGBAAt(15, 10)
		if pic.Rect.Dx() != 30 || pic.Rect.Dy() != 20 || c.R > 2 || c.G > 2 || c.B < 250 || c.A != 255 {
			t.Errorf("format %d: %v, %v", format, pic.Rect, c)
		}
		if _, _, _, a := pic.At(15, 19).RGBA(); format == vterm.ImageGIF && a != 0 {
			t.Error("a row that the first picture of a GIF leaves out is drawn")
		}
		if _, _, _, a := pic.At(1, 10).RGBA(); format == vterm.ImageGIF && a != 0 {
			t.Error("a column that the first picture of a GIF leaves out is drawn")
		}
		for n := range len(data) - 16 {
			if _, err := Decode(&vterm.Image{Format: format, Data: data[:n]}); err == nil && format == vterm.ImageJPEG {
				t.Errorf("format %d is shown by %d bytes of %d", format, n, len(data))
			}
		}
	}
	scans := append(files(t, 3, 3)[vterm.ImageJPEG], bytes.Repeat([]byte{0xff, 0xda}, maxScans)...)
	if _, err := Decode(&vterm.Image{Format: vterm.ImageJPEG, Data: scans}); err == nil {
		t.Error("a JPEG with endless scans is decoded")
	}
	large := []byte{'G', 'I', 'F', '8', '9', 'a', 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0x3b}
	if _, err := Decode(&vterm.Image{Format: vterm.ImageGIF, Data: large}); !errors.Is(err, errTooLarge) {
		t.Error(err)
	}
}

func TestKeys(t *testing.T) {
	var k Keys
	a, same, other := sixels(1, 1, "@"), sixels(1, 1, "@"), sixels(1, 2, "@")
	if k.Key(a) != k.Key(same) || k.Key(a) == k.Key(other) || len(k.Key(a)) != KeyLen {
		t.Errorf("%s, %s, %s", k.Key(a), k.Key(same), k.Key(other))
	}
	bare := vterm.Image{Format: vterm.ImageRGB, Width: 1, Height: 1, Data: []byte{1, 2, 3}}
	packed := bare
	if packed.Deflated = true; k.Key(&bare) == k.Key(&packed) {
		t.Error("compressed data has the key of the same uncompressed data")
	}
	for range 10 * maxKeys {
		k.Key(sixels(1, 1, "@"))
	}
	if len(k.known) > maxKeys {
		t.Errorf("%d images are kept", len(k.known))
	}
}

func FuzzPNG(f *testing.F) {
	f.Add(uint8(vterm.ImageSixel), false, 3, 12, []byte("\"1;1;3;12#1;2;100;0;0!3~-#2;1;30;40;50@@$~"))
	f.Add(uint8(vterm.ImagePNG), false, 0, 0, huge(2, 2))
	f.Add(uint8(vterm.ImageRGB), true, 1, 1, deflated([]byte{1, 2, 3}))
	f.Add(uint8(vterm.ImageRGBA), false, 1, 1, []byte{1, 2, 3, 4})
	for format, data := range files(f, 5, 4) {
		f.Add(uint8(format), false, 5, 4, data)
	}
	f.Fuzz(func(t *testing.T, format uint8, z bool, w, h int, data []byte) {
		if w > 300 || h > 300 { // large images take long, and find no other errors
			w, h = w%300, h%300
		}
		b, err := PNG(&vterm.Image{Format: vterm.ImageFormat(format), Deflated: z, Width: w, Height: h, Data: data})
		if err != nil {
			return
		}
		if _, err := png.Decode(bytes.NewReader(b)); err != nil || len(b) > MaxBytes {
			t.Errorf("%d bytes, %v", len(b), err)
		}
	})
}

// FEATURES: R36
func TestDrawer(t *testing.T) {
	img := &vterm.Image{Format: vterm.ImageRGB, Width: 2, Height: 2, Data: []byte{255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255}}
	red, white := color.NRGBA{255, 0, 0, 255}, color.NRGBA{255, 255, 255, 255}
	var d Drawer
	for _, cell := range []image.Point{{4, 4}, {1000, 1000}} { // scaled and stored, or too large for that
		dst := image.NewNRGBA(image.Rect(0, 0, 8, 8))
		d.Draw(dst, image.Pt(0, 0), img, 8, 8, cell, image.Pt(0, 0), 8)
		if got := dst.NRGBAAt(0, 0); got != red {
			t.Errorf("%v: the first pixel is %v", cell, got)
		}
		d.Draw(dst, image.Pt(4-cell.X, 0), img, 8, 8, cell, image.Pt(7, 0), 1)
		if got := dst.NRGBAAt(3, 0); got != (color.NRGBA{0, 255, 0, 255}) {
			t.Errorf("%v: the last pixel of the first row is %v", cell, got)
		}
		dst = image.NewNRGBA(image.Rect(0, 0, 8, 8))
		d.Draw(dst, image.Pt(4-cell.X, 4-cell.Y), img, 8, 8, cell, image.Pt(7, 7), 1) // its last cell, which ends in the middle
		if dst.NRGBAAt(3, 3) != white || dst.NRGBAAt(4, 4) != (color.NRGBA{}) || dst.NRGBAAt(4, 3) != (color.NRGBA{}) {
			t.Errorf("%v: at its end %v, behind it %v", cell, dst.NRGBAAt(3, 3), dst.NRGBAAt(4, 4))
		}
	}
	for _, none := range []*vterm.Image{{Format: vterm.ImagePNG, Data: []byte("no")}, {Format: vterm.ImageRGB, Width: 1 << 30, Height: 1 << 30}} {
		dst := image.NewNRGBA(image.Rect(0, 0, 8, 8))
		d.Draw(dst, image.Point{}, none, 8, 8, image.Pt(1, 1), image.Point{}, 8)
		if dst.NRGBAAt(0, 0) != (color.NRGBA{}) {
			t.Error("an invalid image was drawn")
		}
	}
	for range 300 { // its memory is bounded
		d.Draw(image.NewNRGBA(image.Rect(0, 0, 1, 1)), image.Point{}, &vterm.Image{Format: vterm.ImageRGB, Width: 2, Height: 2, Data: img.Data}, 8, 8, image.Pt(60, 60), image.Point{}, 1)
	}
	if len(d.decoded)+len(d.scaled) > maxCachedImages || d.pixels > maxCachedPixels {
		t.Errorf("%d and %d images are kept, %d pixels", len(d.decoded), len(d.scaled), d.pixels)
	}
}

// TestDecodedImage_DoesNotRetainInput checks that a decoded image does not retain the program's data.
//
// FEATURES: R36
func TestDecodedImage_DoesNotRetainInput(t *testing.T) {
	var d Drawer
	var s Thumbnails
	var gone []weak.Pointer[vterm.Image]
	for i := range 20 {
		img := &vterm.Image{Format: vterm.ImageRGB, Width: 2, Height: 2, Data: make([]byte, 12)}
		if i%2 > 0 {
			img.Format, img.Data = vterm.ImagePNG, make([]byte, 1000) // none
		}
		d.Draw(image.NewNRGBA(image.Rect(0, 0, 8, 8)), image.Point{}, img, 8, 8, image.Pt(4, 4), image.Point{}, 8)
		if got := s.Scaled(t.Context(), img, 3, 3); (got == nil) != (i%2 > 0) || s.Scaled(t.Context(), img, 3, 3) != got {
			t.Fatalf("scaled image %d: %v", i, got)
		}
		gone = append(gone, weak.Make(img))
	}
	if s.Scaled(t.Context(), &vterm.Image{Format: vterm.ImageRGB, Width: 1, Height: 1, Data: make([]byte, 3)}, 1<<21, 2) != nil {
		t.Error("more pixels than the limit are made")
	}
	runtime.GC()
	runtime.GC()
	for i, at := range gone[:len(gone)-1] { // the last one may still be in a register
		if at.Value() != nil {
			t.Errorf("image %d is still there", i)
		}
	}
	runtime.KeepAlive(&d)
	runtime.KeepAlive(&s)
	ended, end := context.WithCancel(t.Context())
	end()
	scaleSlots <- struct{}{} // as if another decoder ran
	if s.Scaled(ended, &vterm.Image{Format: vterm.ImageRGB, Width: 1, Height: 1, Data: make([]byte, 3)}, 1, 1) != nil {
		t.Error("made after the end")
	}
	<-scaleSlots
}
