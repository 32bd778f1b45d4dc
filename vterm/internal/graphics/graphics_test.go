package graphics

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// TestSixelImage checks sixel images. Sources: VT330/VT340 Programmer Reference Manual, volume 2, chapter 14.
func TestSixelImage(t *testing.T) {
	for _, tt := range []struct {
		data       string
		macro      int
		w, h       int // of the picture
		wide, high int // in square pixels
	}{
		{"~", 9, 1, 6, 1, 6},
		{"~~-~", 9, 2, 12, 2, 12},
		{"!10~$!3~", 9, 10, 6, 10, 6},
		{"~-~", 0, 1, 12, 1, 24},
		{"~", 2, 1, 6, 1, 27},
		{"~", -1, 1, 6, 1, 12},
		{"\"1;1;17;33", 0, 17, 33, 17, 33},
		{"\"1;1;4;2!4A", 9, 4, 2, 4, 2},
		{"\"1;1;4;8!4~-!4B", 9, 4, 8, 4, 8},
		{"\"1;1;4;8!4~-!4O", 9, 4, 11, 4, 11},
		{"\"2;1;4;4~", 9, 4, 6, 4, 12},
		{"\"1;3;4;4~", 9, 4, 6, 12, 6},
		{"\"100;1;1;1", 9, 1, 1, 1, 10},
		{"#1;2;0;0;0", 0, 0, 0, 0, 0},
		{"", 0, 0, 0, 0, 0},
		{"!99999999~", 9, sixelSideMax, 6, sixelSideMax, 6},
	} {
		img, wide, high := SixelImage([]byte(tt.data), tt.macro)
		w, h := 0, 0
		if img != nil {
			w, h = img.Width, img.Height
		}
		if w != tt.w || h != tt.h || wide != tt.wide || high != tt.high {
			t.Errorf("%q, %d: %d×%d, %d×%d; want %d×%d, %d×%d", tt.data, tt.macro, w, h, wide, high, tt.w, tt.h, tt.wide, tt.high)
		}
	}
}

func collect(t *testing.T, chunks ...string) Command {
	t.Helper()
	var c Command
	for i, chunk := range chunks {
		done, complete := c.Collect([]byte(chunk))
		if complete != (i == len(chunks)-1) {
			t.Fatalf("%q: complete %v", chunk, complete)
		}
		if complete {
			return done
		}
	}
	return c
}

// TestCommandImage checks transfers of images. Source: kitty graphics protocol, "Transferring pixel data".
func TestCommandImage(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x02\x00\x00\x00\x03"
	for _, tt := range []struct {
		chunks []string
		want   string
	}{
		{[]string{"Gf=24,s=1,v=1;AAAA"}, "0 2 false 1×1 3"},
		{[]string{"Gi=7,s=1,v=1,m=1;AA", "Gm=1;AAA", "Gm=0;A=="}, "7 3 false 1×1 4"},
		{[]string{"Gf=100;" + base64.StdEncoding.EncodeToString([]byte(png))}, "0 1 false 258×3 24"},
		{[]string{"Gf=32,o=z,s=5,v=5;AAAA"}, "0 3 true 5×5 3"},
		{[]string{"Gf=24,s=2,v=1;AAAA"}, "EINVAL:data does not match the size"},
		{[]string{"Gf=24,s=4294967295,v=4294967295;AAAA"}, "EINVAL:data does not match the size"},
		{[]string{"Gt=f;L2V0Yy9wYXNzd2Q="}, "EINVAL:only direct transmission is supported"},
		{[]string{"Gf=7;AAAA"}, "EINVAL:unknown format"},
		{[]string{"G;!"}, "EINVAL:bad base64"},
	} {
		c := collect(t, tt.chunks...)
		img, err := c.Image()
		if err == "" {
			err = fmt.Sprintf("%d %d %v %d×%d %d", img.ID, img.Format, img.Deflated, img.Width, img.Height, len(img.Data))
		}
		if err != tt.want {
			t.Errorf("%q: %s, want %s", tt.chunks, err, tt.want)
		}
	}
}

func TestCommandThatIsNone(t *testing.T) {
	var c Command
	for _, s := range []string{"", "x", "Ha=T"} {
		if _, complete := c.Collect([]byte(s)); complete || c.Control != nil {
			t.Errorf("%q is accepted", s)
		}
	}
	c.Collect([]byte("Ga=T,m=1;AAAA"))
	if done, complete := c.Collect([]byte("Ga=d")); !complete || done.Control['a'] != "d" || len(done.Data) > 0 {
		t.Error("a deletion does not drop the unfinished image")
	}
}

func TestCommandTooLong(t *testing.T) {
	var c Command
	chunk := []byte("Gm=1;" + strings.Repeat("A", pendingMax/2))
	for range 3 {
		c.Collect(chunk)
	}
	done, _ := c.Collect([]byte("Gm=0"))
	if _, err := done.Image(); !done.TooLong || len(done.Data) > 0 || err != "EFBIG:too much data" {
		t.Errorf("%v, %d bytes, %q", done.TooLong, len(done.Data), err)
	}
}

func TestAnswer(t *testing.T) {
	for _, tt := range []struct{ control, err, want string }{
		{"Gi=1", "", "Gi=1;OK"}, {"Gi=1,p=2", "", "Gi=1,p=2;OK"}, {"GI=3", "", "Gi=9,I=3;OK"}, {"Ga=t", "", ""},
		{"Gi=1,q=1", "", ""}, {"Gi=1,q=1", "EINVAL:x", "Gi=1;EINVAL:x"}, {"Gi=1,q=2", "EINVAL:x", ""},
	} {
		c := collect(t, tt.control)
		c.ID = 9
		body, wanted := c.Answer(tt.err)
		if body != tt.want || wanted != (tt.want != "") {
			t.Errorf("%s %q: %q, %v; want %q", tt.control, tt.err, body, wanted, tt.want)
		}
	}
}

func TestStoreIsBounded(t *testing.T) {
	var s Store
	for i := range 3 * ImagesMax {
		img := &Image{ID: uint32(i + 1), Data: make([]byte, 1000)}
		s.Add(img)
		if _, ok := s.Place(Placement{Image: img}); !ok {
			t.Fatal("no space for a placement")
		}
	}
	total := 0
	for _, img := range s.Images {
		total += len(img.Data)
	}
	if len(s.Images) > ImagesMax || s.Bytes != total {
		t.Errorf("%d images, %d bytes counted, %d there", len(s.Images), s.Bytes, total)
	}
	for i, p := range s.Placements[1:] {
		if (p.Image != nil) != (s.Find(uint32(i+1)) != nil) {
			t.Fatalf("placement %d and its image differ", i+1)
		}
	}
	s.Add(&Image{Data: make([]byte, BytesMax+1)})
	if s.Bytes > BytesMax {
		t.Error("an image above the bound is kept")
	}
}

func TestNumbers(t *testing.T) {
	var s Store
	first := s.Number(5)
	s.Add(&Image{ID: first})
	second := s.Number(6)
	if first == second || s.IDOf(&Command{Control: map[byte]string{'I': "5"}}) != first {
		t.Errorf("ids %d and %d", first, second)
	}
	if s.IDOf(&Command{Control: map[byte]string{'i': "3"}}) != 3 {
		t.Error("an id is not itself")
	}
}
