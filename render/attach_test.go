package render

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image/png"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/render/termimage"
	"github.com/longterm-dev/longterm/vterm"
)

// TestJoinsInTheMiddle attaches a client in the middle of output. Later output has the same effect as for a client
// attached from the start.
//
// FEATURES: R75, R90
func TestJoinsInTheMiddle(t *testing.T) {
	for _, c := range []struct{ before, after string }{
		{"plain", " more"},
		{"shell\r\n$ \x1b[?1049h\x1b[2J\x1b[3;4Heditor", "x"},
		{"shell\r\n$ \x1b[?1049h\x1b[2J\x1b[3;4Heditor", "x\x1b[?1049ly"},
		{"\x1b[1;31;48;5;100mred", " still\r\n\x1b[mnot"},
		{"\x1b[4:3;58;2;1;2;3mcurly", "x"},
		{"0123456789", "x"},              // the cursor waits behind the last column
		{"\x1b[31m0123456789", "x\n\ny"}, // with a pen
		{"\x1b[2;4r\x1b[4;1Hend", "\n\n\nscrolled"},
		{"\x1b[2;4r\x1b[?6h\x1b[2;2H", "x\x1b[1;1Hy"},
		{"\x1b[?69h\x1b[3;7s\x1b[1;3H", "abcdefghijk"},
		{"\x1b(0qqq", "xxx\x1b(Bx"},
		{"\x1b)0a\x0eq", "q\x0fq"},
		{"\x1b.A\x1b-A", "\x1bnx"},
		{"abc\x1b[1;2H\x1b[4h", "xyz"},
		{"\x1b[?7l", "0123456789abc"},
		{"\x1b[2;3H\x1b[32m\x1b7\x1b[m\x1b[5;5H", "x\x1b8y"},
		{"\x1b[2;3H\x1b(0\x1b7\x1b(B\x1b[H", "q\x1b8q"},
	} {
		program, client := native(10, 5), native(10, 5)
		_, _ = client.Write([]byte("\x1b[2;3r\x1b[?6h\x1b[4h\x1b(0\x1b[7;33mgarbage"))
		_, _ = program.Write([]byte(c.before))
		var f, behind vterm.Frame
		program.Frame(&f, vterm.Query{})
		program.Frame(&behind, vterm.Query{Screen: vterm.ScreenPrimary})
		_, _ = client.Write(AppendTerminal(nil, program, &f, &behind))
		want, got := frameOf(program, c.after), frameOf(client, c.after)
		got.Cursor.Blink = want.Cursor.Blink // the user's own setting
		if picture(got) != picture(want) || got.Cursor != want.Cursor {
			t.Errorf("%q then %q:\n%s%+v\nwant\n%s%+v", c.before, c.after, picture(got), got.Cursor, picture(want), want.Cursor)
		}
		for i := range want.Lines {
			for col, cell := range want.Lines[i].Cells {
				if a, b := want.Style(cell), got.Style(got.Lines[i].Cells[col]); cell.Rune() > ' ' && !reflect.DeepEqual(a, b) {
					t.Errorf("%q then %q: row %d column %d is %+v, want %+v", c.before, c.after, i, col, b, a)
				}
			}
		}
	}
}

// TestJoinsWithSettings checks that a client that attaches later gets the settings that no frame shows: its terminal
// answers queries and restores saved settings as the session's does.
//
// FAULT: H16
func TestJoinsWithSettings(t *testing.T) {
	const ask = "\x1b]4;1;?\x07\x1b]4;200;?\x07\x1b]5;0;?\x07\x1b]10;?\x07\x1b]11;?\x07\x1b]12;?\x07\x1b]17;?\x07\x1b[?u\x1b[2$w" +
		"\x1b[?45$p\x1b[?2027$p\x1b[?1036$p\x1b[?80$p\x1b[?1$p\x1b[?2004$p"
	for before, after := range map[string]string{
		"\x1b]4;1;#102030;200;#405060\x07":                          "\x1b]104;1\x07",
		"\x1b]10;#111111\x07\x1b]11;#222222\x07\x1b]12;#333333\x07": "\x1b]111\x07",
		"\x1b]17;#444444\x07\x1b]5;0;#555555\x07":                   "",
		"\x1b[3g\x1b[5G\x1bH\x1b[8G\x1bH\r":                         "\t\x1b[g",
		"\x1b[2 q":                                                  "",
		"\x1b[5 q":                                                  "",
		"\x1b[=1u\x1b[>5u\x1b[>9u":                                  "\x1b[<u",
		"\x1b[>1u\x1b[?1049h\x1b[>3u\x1b[>7u":                       "\x1b[<u",
		"\x1b[>1u\x1b[?1049h\x1b[>3u":                               "\x1b[?1049l\x1b[<u",
		"\x1b[?45;80h\x1b[?2027l\x1b[?1036h":                        "",
		"\x1b[?1;45h\x1b[?1;45;2004s\x1b[?1;45l\x1b[?2004h":         "\x1b[?1;45;2004r",
	} {
		program, client := native(20, 5), native(20, 5)
		_, _ = program.Write([]byte(before))
		var f, behind vterm.Frame
		program.Frame(&f, vterm.Query{})
		program.Frame(&behind, vterm.Query{Screen: vterm.ScreenPrimary})
		_, _ = client.Write(AppendTerminal(nil, program, &f, &behind))
		for _, then := range []string{"", after} {
			if then += ask; strings.Contains(before, " q") { // else the user's own counts
				then += "\x1bP$q q\x1b\\"
			}
			_, _ = program.Write([]byte(then))
			_, _ = client.Write([]byte(then))
			if want, got := program.Replies(nil), client.Replies(nil); !bytes.Equal(got, want) {
				t.Errorf("%q then %q:\n%q, want\n%q", before, then, got, want)
			}
		}
	}
	program := vterm.New(vterm.Options{})
	_, _ = program.Write([]byte("\x1b]22;pointer\x1b\\\x1b]22;?__current__\x1b\\"))
	if got := string(program.AppendSettings(nil)); got != "\x1b]22;pointer\x1b\\" {
		t.Errorf("the mouse pointer is %q", got)
	}
}

// TestSettingsReset checks that a terminal whose settings a program changed is reset to its own.
//
// FAULT: H16
func TestSettingsReset(t *testing.T) {
	e := vterm.New(vterm.Options{})
	_, _ = e.Write([]byte("\x1b]4;1;#102030\x07\x1b]5;0;#102030\x07\x1b]10;#102030;#102030;#102030;#102030;#102030\x07\x1b]17;#102030\x07\x1b]19;#102030\x07" +
		"\x1b]22;pointer\x07\x1b[3g\x1b[?45;80h\x1b[>4;1f\x1b[>5u"))
	_, _ = e.Write(AppendSettingsReset(AppendModesReset(nil)))
	if got := string(e.AppendKeyStack(e.AppendSettings(nil), false)); got != "\x1b[<16u\x1b[=0;1u" {
		t.Errorf("left: %q", got)
	}
}

// red and green are pictures of 40×48 pixels, 5×3 cells, as sixel and as the kitty protocol has them; flag is as red, but blue
// and half of it white further down.
var (
	redSixel   = "\x1bPq\"1;1;40;48#1;2;100;0;0" + strings.Repeat("#1!40~-", 8) + "\x1b\\"
	flagSixel  = "\x1bPq\"1;1;40;48#1;2;100;0;0#2;2;0;0;100#3;2;100;100;100" + strings.Repeat("#1!40~-", 5) + strings.Repeat("#2!20~#3!20~-", 3) + "\x1b\\"
	greenKitty = func(control string) string {
		return "\x1b_Gf=24,s=40,v=48,q=2," + control + ";" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{0, 255, 0}, 40*48)) + "\x1b\\"
	}
)

// TestJoinsWithImages attaches a client while images are shown. It shows them as far as possible, and they disappear
// like the originals.
//
// FEATURES: R123, R90
func TestJoinsWithImages(t *testing.T) {
	stands := func(e vterm.Engine) (lines []Line, images int) {
		var f vterm.Frame
		e.Frame(&f, vterm.Query{})
		var s Screen
		FromFrame(&s, &f)
		for i := range s.Lines {
			for _, span := range s.Lines[i].Spans {
				if span.Image != nil {
					images++
				}
			}
		}
		(&Blocks{}).Show(t.Context(), &s)
		for i := range s.Lines {
			for j := range s.Lines[i].Spans {
				s.Lines[i].Spans[j].Lost = false // it is not lost that was never there
			}
		}
		return s.Lines, images
	}
	for _, c := range []struct {
		name, before, after string
		images              [2]int // rows that show one, before and after
	}{
		{"sixel", "a\r\n" + redSixel + "\r\nb", "c", [2]int{3, 3}},
		{"kitty", "a\r\n" + greenKitty("a=T,i=7") + "\r\nb", "c", [2]int{3, 3}},
		{"taken away by its id", greenKitty("a=T,i=7"), "\x1b_Ga=d,d=i,i=7\x1b\\", [2]int{3, 0}},
		{"spread", greenKitty("a=T,c=9,r=2"), "x", [2]int{2, 2}},
		{"half above the screen", redSixel + "\r\n\n\n\n\n\nx", "y", [2]int{2, 2}},
		{"its upper half above the screen", flagSixel + "\r\n\n\n\n\n\nx", "y", [2]int{2, 2}},
		{"below the edge", "\x1b[7;3H" + greenKitty("a=T,C=1"), "x", [2]int{2, 2}},
		{"beyond the edge", "\x1b[2;18H" + greenKitty("a=T,C=1"), "x", [2]int{3, 3}},
		{"over what comes later", greenKitty("a=T,z=5,C=1"), "\x1b[H" + redSixel, [2]int{3, 3}},
		{"wide text over it", flagSixel + "\x1b[2;2H字x", "\x1b[3;1Hx", [2]int{4, 4}},
		{"scrolls away", redSixel + "\r\n\n\n\n\n\nx", "\r\n", [2]int{2, 1}},
		{"text over it", redSixel + "\x1b[2;2Hover\x1b[1;1H\x1b[44m \x1b[m", "\x1b[3;1Hx", [2]int{3, 3}},
		{"one over the other", redSixel + "\x1b[2;3H" + greenKitty("a=T,i=3"), "x", [2]int{6, 6}},
		{"erased", redSixel, "\x1b[2J", [2]int{3, 0}},
		{"one image twice", greenKitty("a=t,i=5") + "\x1b_Ga=p,i=5,q=2\x1b\\ \x1b[1;12H\x1b_Ga=p,i=5,q=2\x1b\\", "x", [2]int{6, 6}},
		{"behind an editor", greenKitty("a=T,i=7") + "\x1b[?1049h\x1b[2J\x1b[Heditor" + greenKitty("a=T,i=7"), "\x1b[?1049l", [2]int{3, 0}}, // one id has one image
		{"behind an editor without", redSixel + "\x1b[?1049h\x1b[2J\x1b[Heditor", "\x1b[?1049l", [2]int{0, 3}},
		{"no image", greenKitty("a=T,i=7") + "\x1bPq\"1;1;0;0\x1b\\", "\x1b[2J", [2]int{3, 0}},
	} {
		program, client := native(20, 8), native(20, 8)
		_, _ = program.Write([]byte(c.before))
		var f, behind vterm.Frame
		program.Frame(&f, vterm.Query{})
		program.Frame(&behind, vterm.Query{Screen: vterm.ScreenPrimary})
		_, _ = client.Write(AppendTerminal(nil, program, &f, &behind))
		for i, more := range []string{"", c.after} {
			_, _ = program.Write([]byte(more))
			_, _ = client.Write([]byte(more))
			want, there := stands(program)
			got, have := stands(client)
			if there != c.images[i] || have != there || !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %q: %d rows of images, %d where it was joined, want %d\n%s\nwant\n%s", c.name, more, there, have, c.images[i], picture(frameOf(client, "")), picture(frameOf(program, "")))
			}
		}
	}
}

// TestJoinedImagesAreBounded checks that the images sent to a client are bounded, in sequences of a length that clients
// accept, and as sharp as the original.
//
// FEATURES: R123
func TestJoinedImagesAreBounded(t *testing.T) {
	noise := func(w, h int) string {
		b := make([]byte, 3*w*h)
		r := rand.New(rand.NewPCG(1, 2))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return base64.StdEncoding.EncodeToString(b)
	}
	joined := func(cols, rows int, output string) []string {
		e := native(cols, rows)
		_, _ = e.Write([]byte(output))
		var f vterm.Frame
		e.Frame(&f, vterm.Query{})
		return strings.Split(string(joinImages(nil, &f, true)), "\x1b_G")[1:]
	}
	var many strings.Builder
	for i := range maxImages + 9 {
		fmt.Fprintf(&many, "\x1b[%d;%dH\x1b_Ga=T,f=24,s=1,v=1,c=1,r=1,C=1,q=2;AAAA\x1b\\", i/70+1, i%70+1)
	}
	if n := len(joined(80, 24, many.String())); n != maxImages {
		t.Errorf("%d images are sent", n)
	}
	large := "\x1b[H\x1b_Ga=T,f=24,s=480,v=480,c=20,r=10,C=1,q=2;" + noise(480, 480) + "\x1b\\"
	var data strings.Builder
	for i, part := range joined(80, 24, large) {
		control, text, _ := strings.Cut(strings.TrimSuffix(part, "\x1b\\"), ";")
		if text, _, _ = strings.Cut(text, "\x1b"); len(text) > maxChunk || i == 0 && !strings.Contains(control, "c=20,r=10,") {
			t.Errorf("%d bytes in a sequence, %s", len(text), control)
		}
		data.WriteString(text)
	}
	b, err := base64.StdEncoding.DecodeString(data.String())
	if err != nil {
		t.Fatal(err)
	}
	// Cells of 8×16 pixels are three times as many per side, as far as the size limit allows.
	if c, err := png.DecodeConfig(bytes.NewReader(b)); err != nil || c.Width != 480 || c.Height != 480 {
		t.Errorf("it has %d×%d pixels, %v", c.Width, c.Height, err)
	}
	size := 0
	for _, part := range joined(300, 30, strings.Repeat(large, 40)) {
		size += len(part)
	}
	if limit := maxImageBytes*4/3 + 2*termimage.MaxBytes; size == 0 || size > limit {
		t.Errorf("%d bytes are sent, at most %d are to be", size, limit)
	}
}

// TestRepaintHasNoImages checks that a repaint of a user's own terminal has no images: it may not support them.
func TestRepaintHasNoImages(t *testing.T) {
	e := native(20, 8)
	_, _ = e.Write([]byte(redSixel))
	var f vterm.Frame
	e.Frame(&f, vterm.Query{})
	if b := AppendANSI(nil, &f, ANSIOptions{Repaint: true}); bytes.Contains(b, []byte("\x1b_")) || bytes.Contains(b, []byte("\x1bP")) {
		t.Errorf("%q", b)
	}
}
