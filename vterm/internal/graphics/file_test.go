package graphics

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"
)

// files are images of 40×30 pixels, by format.
func files(t testing.TB) map[Format]string {
	t.Helper()
	pic := image.NewPaletted(image.Rect(0, 0, 40, 30), color.Palette{color.NRGBA{0xff, 0, 0, 0xff}})
	out := map[Format]string{}
	for format, encode := range map[Format]func(*bytes.Buffer) error{
		PNG:  func(b *bytes.Buffer) error { return png.Encode(b, pic) },
		JPEG: func(b *bytes.Buffer) error { return jpeg.Encode(b, pic, nil) },
		GIF:  func(b *bytes.Buffer) error { return gif.Encode(b, pic, nil) },
	} {
		var b bytes.Buffer
		if err := encode(&b); err != nil {
			t.Fatal(err)
		}
		out[format] = base64.StdEncoding.EncodeToString(b.Bytes())
	}
	return out
}

// TestFile checks files sent completely or in parts. Source: iTerm2, "Images".
func TestFile(t *testing.T) {
	for format, data := range files(t) {
		for _, parts := range [][]string{
			{"File=inline=1;size=99:" + data},
			{"MultipartFile=name=eA==;inline=1", "FilePart=" + data[:8], "FilePart=" + strings.TrimRight(data[8:], "="), "FileEnd"},
			{"FilePart=AAAA", "MultipartFile=inline=1", "FilePart=zzzz", "MultipartFile=inline=1;preserveAspectRatio=1", "FilePart=" + data, "FileEnd"},
		} {
			var g Command
			for i, part := range parts {
				done, complete := g.CollectFile(part)
				if complete != (i == len(parts)-1) {
					t.Fatalf("%d, %.30q: complete %v", format, part, complete)
				}
				if !complete {
					continue
				}
				img := done.File()
				if img == nil || img.Format != format || img.Width != 40 || img.Height != 30 || !img.Fit || base64.StdEncoding.EncodeToString(img.Data) != data {
					t.Errorf("%d, %.30q: %+v", format, parts[0], img)
				}
			}
		}
	}
}

// TestFileRefused checks that files for download, files that are no image, and too long ones show nothing.
func TestFileRefused(t *testing.T) {
	data := files(t)[PNG]
	long := Command{}
	long.CollectFile("MultipartFile=inline=1")
	for range pendingMax/(1<<20) + 1 {
		long.CollectFile("FilePart=" + strings.Repeat("A", 1<<20))
	}
	if len(long.Data) > 0 {
		t.Errorf("%d bytes of a too long file are kept", len(long.Data))
	}
	if done, complete := long.CollectFile("FileEnd"); !complete || done.File() != nil {
		t.Error("a file that is too long is shown")
	}
	for _, s := range []string{
		"File=:" + data, "File=inline=0:" + data, "File=inline=1", "File=inline=1:" + data[:16], "File=inline=1:!!!!", "File=inline=1:R0lGODlh",
		"File=inline=1:R0lGODlhAAAAAAAA", "File=inline=1:/9j/AAAA", "File=inline=1:" + base64.StdEncoding.EncodeToString([]byte("BM, a bitmap")),
	} {
		var g Command
		if done, complete := g.CollectFile(s); !complete || done.File() != nil {
			t.Errorf("%.40q shows %+v", s, done.File())
		}
	}
	var g Command
	for _, s := range []string{"", "FileEnd", "FilePart=AAAA", "Files=x", "CurrentDir=/"} {
		if _, complete := g.CollectFile(s); complete || g.Control != nil {
			t.Errorf("%q is a file", s)
		}
	}
	g.CollectFile("MultipartFile=inline=1") // an image of another protocol in between: the two are not combined
	if done, complete := g.Collect([]byte("Ga=t,i=3,f=24,s=1,v=1;AAAA")); !complete || done.isFile() || done.Number('i') != 3 {
		t.Errorf("%v, %v", done, complete)
	}
}

// TestFilePlacement checks that sizes are in cells, pixels or a fraction of the screen, and that images keep their
// aspect ratio unless requested otherwise.
func TestFilePlacement(t *testing.T) {
	for args, want := range map[string][2]int{ // of 40×30 pixels, in cells of 10×20 on a screen of 80×24, 60 columns right of the cursor
		"":                              {4, 2},
		"width=auto;height=auto":        {4, 2},
		"width=8":                       {8, 3},
		"height=3":                      {8, 3},
		"width=80px":                    {8, 3},
		"width=50%":                     {40, 15},
		"height=100%":                   {60, 23}, // no wider than the rest of the line
		"width=10;height=10":            {10, 4},
		"width=90":                      {60, 23},
		"width=x;height=-4":             {4, 2},
		"width=99999999999":             {4, 2},
		"width=65535":                   {60, 23},
		"width=1px":                     {1, 1},
		"width=0":                       {4, 2},
		"width=10;height=10;" + "p":     {10, 10},
		"width=10;" + "p":               {10, 2},
		"height=10;" + "p":              {4, 10},
		"height=65535;" + "p":           {4, sideMax},
		"width=100%;height=100%;" + "p": {60, 24},
	} {
		args = strings.Replace(args, ";p", ";preserveAspectRatio=0", 1)
		var g Command
		done, _ := g.CollectFile("File=inline=1;" + args + ":" + files(t)[PNG])
		img := done.File()
		if img == nil {
			t.Fatal(args)
		}
		if p := done.FilePlacement(img, 80, 24, 60, 10, 20); p.Cols != want[0] || p.Rows != want[1] {
			t.Errorf("%q covers %d×%d cells, want %v", args, p.Cols, p.Rows, want)
		}
	}
}

// FuzzFile checks that stored data and covered cells are bounded for any files.
func FuzzFile(f *testing.F) {
	for _, data := range files(f) {
		f.Add("MultipartFile=inline=1;width=50%;height=3px", "File=inline=1;preserveAspectRatio=0:"+data, "FilePart="+data)
	}
	f.Add("File=inline=1:/9j/2wBDAA==", "FileEnd", "MultipartFile=")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		var g Command
		for _, s := range []string{a, b, c, "FileEnd"} {
			done, complete := g.CollectFile(s)
			if len(g.Control[fileArgs]) > fileArgsMax || len(g.Data) > pendingMax {
				t.Fatal("too much is kept")
			}
			if !complete {
				continue
			}
			img := done.File()
			if img == nil {
				continue
			}
			p := done.FilePlacement(img, 80, 24, 60, 10, 20)
			if p.Cols < 1 || p.Cols > 60 || p.Rows < 1 || p.Rows > sideMax {
				t.Fatalf("%d×%d pixels cover %d×%d cells", img.Width, img.Height, p.Cols, p.Rows)
			}
		}
	})
}
