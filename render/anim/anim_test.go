package anim

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	stdgif "image/gif"
	"image/png"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/pixel"
)

func fail(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const ms = time.Millisecond

// printed is output at a time of a recording, in milliseconds.
type printed struct {
	at   int
	text string
}

// shots records the pictures of a film.
type shots struct {
	got []string
	end time.Duration
}

func (s *shots) Add(shot Shot) error {
	text := strings.TrimSpace(string(render.Text(nil, shot.Screen, render.TextOptions{})))
	s.got = append(s.got, fmt.Sprintf("%d %s", shot.At.Milliseconds(), text))
	return nil
}

func (s *shots) Close(end time.Duration) error {
	s.end = end
	return nil
}

func shoot(t testing.TB, w Writer, o Options, events []printed) {
	t.Helper()
	f := NewFilm(w, 10, 2, o)
	for _, e := range events {
		fail(t, f.Output(time.Duration(e.at)*ms, []byte(e.text)))
	}
	fail(t, f.Close())
}

// FEATURES: R36
func TestFilm(t *testing.T) {
	for _, tt := range []struct {
		name   string
		o      Options
		events []printed
		want   string
		end    time.Duration
	}{
		{"nothing", Options{}, nil, "0 ", 0},
		{"each change", Options{FPS: 50}, []printed{{0, "a"}, {100, "b"}, {200, "c"}}, "0 a|100 ab|200 abc", 200 * ms},
		{"changes in one picture's time", Options{FPS: 10}, []printed{{0, "a"}, {30, "b"}, {60, "c"}, {250, "d"}, {260, "e"}}, "0 abc|250 abcde", 260 * ms},
		{"a flood", Options{FPS: 10}, []printed{{0, "a"}, {90, "b"}, {110, "c"}, {190, "d"}, {210, "e"}, {350, "f"}}, "0 ab|110 abcd|210 abcde|350 abcdef", 350 * ms},
		{"long pause", Options{FPS: 10, IdleLimit: time.Second}, []printed{{0, "a"}, {60000, "b"}}, "0 a|1000 ab", time.Second},
		{"twice as fast", Options{FPS: 50, Speed: 2}, []printed{{0, "a"}, {1000, "b"}}, "0 a|500 ab", 500 * ms},
		{"pause and speed", Options{FPS: 50, Speed: 2, IdleLimit: time.Second, Hold: time.Second}, []printed{{0, "a"}, {5000, "b"}}, "0 a|500 ab", 1500 * ms},
		{"synchronized", Options{FPS: 50}, []printed{{0, "\x1b[?2026ha"}, {100, "b\x1b[?2026l"}, {200, "c"}}, "0 ab|200 abc", 200 * ms},
		{"time goes back", Options{FPS: 50}, []printed{{500, "a"}, {100, "b"}, {600, "c"}}, "0 |500 ab|600 abc", 600 * ms},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s shots
			shoot(t, &s, tt.o, tt.events)
			if got := strings.Join(s.got, "|"); got != tt.want || s.end != tt.end {
				t.Errorf("got %q, end %v; want %q, end %v", got, s.end, tt.want, tt.end)
			}
		})
	}
}

func lookOf(t testing.TB, theme string) pixel.Options {
	th, err := render.ThemeFor(theme, nil)
	fail(t, err)
	return pixel.Options{PictureOptions: render.PictureOptions{Theme: th, Padding: 2}}
}

var story = []printed{
	{0, "$ "}, {300, "make\r\n"}, {700, "\x1b[31mred\x1b[m ─┐"}, {705, ""}, {900, "\x1b[H"}, {1200, "\x1b[2J\x1b[44mblue你"},
	{1300, "\x1b]11;#102030\x07"},
}

// stills are the pictures that the story has, drawn one by one.
type stills struct {
	t       *testing.T
	painter *pixel.Painter
	images  []*image.RGBA
}

func (s *stills) Add(shot Shot) error {
	s.painter.SetTheme(shot.Theme)
	img := s.painter.Draw(shot.Screen)
	if n := len(s.images); n == 0 || !bytes.Equal(s.images[n-1].Pix, img.Pix) {
		s.images = append(s.images, img)
	}
	return nil
}

func (s *stills) Close(time.Duration) error { return nil }

func storyStills(t *testing.T, o Options) []*image.RGBA {
	p, err := pixel.NewPainter(10, 2, lookOf(t, ""))
	fail(t, err)
	s := &stills{t: t, painter: p}
	shoot(t, s, o, story)
	return s.images
}

func same(t *testing.T, what string, got, want *image.RGBA, tolerance int) {
	t.Helper()
	if got.Rect != want.Rect {
		t.Fatalf("%s: size %v, want %v", what, got.Rect, want.Rect)
	}
	for i := range got.Pix {
		if d := int(got.Pix[i]) - int(want.Pix[i]); d > tolerance || d < -tolerance {
			t.Fatalf("%s: byte %d is %d, want %d", what, i, got.Pix[i], want.Pix[i])
		}
	}
}

// FEATURES: R36
func TestGIF(t *testing.T) {
	o := Options{FPS: 50, Hold: time.Second}
	var b bytes.Buffer
	w, err := NewGIF(&b, 10, 2, lookOf(t, ""))
	fail(t, err)
	shoot(t, w, o, story)
	g, err := stdgif.DecodeAll(&b)
	fail(t, err)
	want := storyStills(t, o)
	if len(g.Image) != len(want) || g.LoopCount != 0 {
		t.Fatalf("%d pictures, loop %d; want %d, 0", len(g.Image), g.LoopCount, len(want))
	}
	canvas := image.NewRGBA(image.Rect(0, 0, g.Config.Width, g.Config.Height))
	total := 0
	for i, part := range g.Image {
		draw.Draw(canvas, part.Bounds(), part, part.Bounds().Min, draw.Src)
		same(t, fmt.Sprintf("picture %d", i), canvas, want[i], 24)
		total += g.Delay[i]
	}
	if total != 230 {
		t.Errorf("it takes %d hundredths of a second, want 230", total)
	}
}

// FEATURES: R36
func TestAPNG(t *testing.T) {
	o := Options{FPS: 50, Hold: time.Second}
	file, err := os.Create(filepath.Join(t.TempDir(), "a.png"))
	fail(t, err)
	defer file.Close()
	w, err := NewAPNG(file, 10, 2, lookOf(t, ""))
	fail(t, err)
	shoot(t, w, o, story)
	data, err := os.ReadFile(file.Name())
	fail(t, err)
	first, err := png.Decode(bytes.NewReader(data))
	fail(t, err)
	want := storyStills(t, o)
	same(t, "what other readers show", toRGBA(first), want[0], 0)
	pictures, total := decodeAPNG(t, data)
	if len(pictures) != len(want) || total != 2300*ms {
		t.Fatalf("%d pictures in %v, want %d in 2.3s", len(pictures), total, len(want))
	}
	for i := range want {
		same(t, fmt.Sprintf("picture %d", i), pictures[i], want[i], 0)
	}
}

func toRGBA(img image.Image) *image.RGBA {
	out := image.NewRGBA(img.Bounds())
	draw.Draw(out, out.Rect, img, img.Bounds().Min, draw.Src)
	return out
}

// decodeAPNG reads an animated PNG by the specification: every picture becomes a separate PNG.
func decodeAPNG(t *testing.T, file []byte) (pictures []*image.RGBA, total time.Duration) {
	t.Helper()
	be := binary.BigEndian
	var header, control, pixels []byte
	var canvas *image.RGBA
	announced, sequence := uint32(0), uint32(0)
	finish := func() {
		if pixels == nil {
			return
		}
		h := bytes.Clone(header)
		copy(h, control[4:12])
		single := appendChunk([]byte(pngSignature), "IHDR", h)
		single = appendChunk(appendChunk(single, "IDAT", pixels), "IEND", nil)
		img, err := png.Decode(bytes.NewReader(single))
		fail(t, err)
		at := image.Pt(int(be.Uint32(control[12:])), int(be.Uint32(control[16:])))
		draw.Draw(canvas, img.Bounds().Add(at), img, image.Point{}, draw.Src)
		pictures = append(pictures, toRGBA(canvas))
		total += time.Duration(be.Uint16(control[20:])) * time.Second / time.Duration(be.Uint16(control[22:]))
		pixels = nil
	}
	number := func(b []byte) {
		if got := be.Uint32(b); got != sequence {
			t.Fatalf("sequence number %d, want %d", got, sequence)
		}
		sequence++
	}
	for at := len(pngSignature); at < len(file); {
		n := int(be.Uint32(file[at:]))
		kind, body := string(file[at+4:at+8]), file[at+8:at+8+n]
		if want := appendChunk(nil, kind, body); !bytes.Equal(want, file[at:at+12+n]) {
			t.Fatalf("chunk %s has a wrong checksum", kind)
		}
		switch kind {
		case "IHDR":
			header = body
			canvas = image.NewRGBA(image.Rect(0, 0, int(be.Uint32(body)), int(be.Uint32(body[4:]))))
		case "acTL":
			announced = be.Uint32(body)
		case "fcTL":
			finish()
			number(body)
			control = body
		case "IDAT":
			pixels = append(pixels, body...)
		case "fdAT":
			number(body)
			pixels = append(pixels, body[4:]...)
		case "IEND":
			finish()
		}
		at += 12 + n
	}
	if int(announced) != len(pictures) {
		t.Fatalf("%d pictures are announced, %d exist", announced, len(pictures))
	}
	return pictures, total
}

// FEATURES: R36
func TestSVG(t *testing.T) {
	var b bytes.Buffer
	shoot(t, NewSVG(&b, 10, 2, "<a story>", lookOf(t, "").PictureOptions), Options{FPS: 50, Hold: time.Second}, story)
	d := xml.NewDecoder(bytes.NewReader(b.Bytes()))
	ids, uses := map[string]bool{}, 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		fail(t, err)
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		for _, a := range e.Attr {
			switch {
			case a.Name.Local == "id":
				ids[a.Value] = true
			case e.Name.Local == "use" && a.Name.Local == "href":
				uses++
				if !ids[strings.TrimPrefix(a.Value, "#")] {
					t.Errorf("%s is nowhere", a.Value)
				}
			}
		}
	}
	steps := regexp.MustCompile(`([\d.]+)%\{transform:translate\((-?\d+)px,(-?\d+)px\)\}`).FindAllStringSubmatch(b.String(), -1)
	if want := len(storyStills(t, Options{FPS: 50})); len(steps) != want+1 || len(ids) >= uses {
		t.Errorf("%d steps (and the end), want %d; %d lines are used %d times", len(steps)-1, want, len(ids), uses)
	}
	if got := steps[1][1]; got != "13.04348" { // 300 ms of 2.3 s
		t.Errorf("the second screen is visible from %s%%", got)
	}
	if !strings.Contains(b.String(), "animation:film 2300ms step-end infinite") || !strings.Contains(b.String(), ">red</text>") {
		t.Errorf("no text, or another length: %s", b.String())
	}
}

// FEATURES: R36
func TestTooLarge(t *testing.T) {
	if _, err := NewGIF(io.Discard, 1000, 1000, lookOf(t, "")); err == nil {
		t.Error("a GIF of 200 million pixels was started")
	}
	w := NewSVG(io.Discard, 10, 2, "", lookOf(t, "").PictureOptions)
	f := NewFilm(w, 10, 2, Options{FPS: 50})
	var err error
	for i := 0; err == nil && i < 2*maxSVGShots; i++ {
		err = f.Output(time.Duration(i)*time.Second, fmt.Appendf(nil, "\r%d", i))
	}
	if err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("an endless SVG: %v", err)
	}
}

func TestQuantize(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	img := image.NewRGBA(image.Rect(5, 5, 105, 105))
	frequent := color.RGBA{1, 2, 3, 255}
	for i := range 100 * 100 {
		c := color.RGBA{uint8(r.IntN(256)), uint8(r.IntN(256)), uint8(r.IntN(256)), 255}
		if i%3 == 0 {
			c = frequent
		}
		img.SetRGBA(5+i%100, 5+i/100, c)
	}
	palette, indexes := quantize(img)
	if len(palette) > 256 || len(indexes) != 10000 || palette[0] != 0x010203 {
		t.Fatalf("%d colours, %d pixels, first %06x", len(palette), len(indexes), palette[0])
	}
	var off float64
	for i, n := range indexes {
		c := img.RGBAAt(5+i%100, 5+i/100)
		p := palette[n]
		if i%3 == 0 && p != 0x010203 {
			t.Fatal("the most frequent colour is missing")
		}
		for s, v := range map[int]uint8{16: c.R, 8: c.G, 0: c.B} {
			d := float64(channel(p, s) - int(v))
			off += d * d / 30000
		}
	}
	if off > 900 { // 96 colours for all of RGB: a distance of 30 in a channel
		t.Errorf("colours are off by %.0f squared", off)
	}
	few := image.NewRGBA(image.Rect(0, 0, 2, 1))
	few.Set(1, 0, color.White)
	if palette, indexes := quantize(few); len(palette) != 2 || indexes[0] == indexes[1] {
		t.Errorf("two colours: %06x %v", palette, indexes)
	}
}

func TestChanged(t *testing.T) {
	a, b := image.NewRGBA(image.Rect(0, 0, 20, 10)), image.NewRGBA(image.Rect(0, 0, 20, 10))
	if r := changedArea(a, b); !r.Empty() {
		t.Errorf("nothing changed in %v", r)
	}
	b.Set(3, 2, color.White)
	b.Set(10, 7, color.RGBA{0, 0, 1, 0})
	if r := changedArea(a, b); r != image.Rect(3, 2, 11, 8) {
		t.Errorf("changed is %v", r)
	}
}

// FuzzFilm makes pictures of recordings with any output, sizes and times.
// FEATURES: R36
func FuzzFilm(f *testing.F) {
	for _, p := range story {
		f.Add([]byte(p.text), int64(p.at), 3)
	}
	f.Fuzz(func(t *testing.T, data []byte, step int64, cols int) {
		look := lookOf(t, "session")
		look.Scale = 0.3
		var g, s bytes.Buffer
		gw, err := NewGIF(&g, 8, 2, look)
		fail(t, err)
		for _, w := range []Writer{gw, NewSVG(&s, 8, 2, string(data), look.PictureOptions)} {
			film := NewFilm(w, 8, 2, Options{FPS: 30, IdleLimit: time.Second})
			for i := 0; i < len(data) && i < 400; i += 40 {
				at := time.Duration(step) * time.Duration(i)
				fail(t, film.Output(at, data[i:min(i+40, len(data))]))
				fail(t, film.Resize(at, cols%30, cols%7))
			}
			fail(t, film.Close())
		}
		_, err = stdgif.DecodeAll(&g)
		fail(t, err)
		d := xml.NewDecoder(&s)
		for err = nil; err == nil; {
			_, err = d.Token()
		}
		if !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
	})
}

// frameLog collects a video's frames. It fails after some.
type frameLog struct {
	frames [][]byte
	most   int
}

func (l *frameLog) Write(p []byte) (int, error) {
	if len(l.frames) == l.most {
		return 0, errors.New("the encoder has ended")
	}
	l.frames = append(l.frames, bytes.Clone(p))
	return len(p), nil
}

func (l *frameLog) Close() error { return nil }

// TestVideo_DrawsOnSeveralCores checks that frames which are drawn concurrently are encoded in order, equal to those of
// a single painter, and that an error of the encoder ends the video.
//
// FEATURES: R36
func TestVideo_DrawsOnSeveralCores(t *testing.T) {
	const shots = 60
	o := pixel.Options{PictureOptions: render.PictureOptions{Scale: 0.5}}
	video := func(most int) (*frameLog, error) {
		l := &frameLog{most: most}
		w, err := NewVideo(10, 3, 10, o, func(image.Point) (io.WriteCloser, error) { return l, nil })
		if err != nil {
			t.Fatal(err)
		}
		f := NewFilm(w, 10, 3, Options{FPS: 10})
		for n := range shots {
			if err := f.Output(time.Duration(n)*200*time.Millisecond, fmt.Appendf(nil, "\r%d", n)); err != nil {
				return l, errors.Join(err, w.Close(0))
			}
		}
		return l, f.Close()
	}
	one := runtime.GOMAXPROCS(1)
	want, err := video(1000)
	runtime.GOMAXPROCS(max(4, one))
	got, err2 := video(1000)
	_, err3 := video(7)
	runtime.GOMAXPROCS(one)
	if err != nil || err2 != nil || len(got.frames) < shots || !slices.EqualFunc(got.frames, want.frames, bytes.Equal) {
		t.Errorf("%d frames, by one painter %d: %v, %v", len(got.frames), len(want.frames), err, err2)
	}
	if err3 == nil || !strings.Contains(err3.Error(), "the encoder has ended") {
		t.Errorf("a video whose encoder ended: %v", err3)
	}
}
