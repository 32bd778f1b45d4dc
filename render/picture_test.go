package render

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/longterm-dev/longterm/vterm"
)

func lookOf(t testing.TB, theme string) PictureOptions {
	th, err := ThemeFor(theme, nil)
	if err != nil {
		t.Fatal(err)
	}
	return PictureOptions{Theme: th, Padding: 8}
}

// pictures lists screens of which every picture in text form is pinned, beside all other forms.
var pictures = map[string]string{
	"boxes": "┌─┬╮\x1b[31m╔═╗\x1b[m▀▄█░▒▓\r\n│ ⣿⠋\x1b[44m\ue0b0\x1b[m🬀\x1b[5mblink\x1b[m \x1b[8mhidden\x1b[m",
	"hostile": "\x1b]2;<script>\"'&\x07<script>alert(1)</script>&amp;\"'\r\n" +
		"\x1b]8;;javascript:alert(1)\x1b\\js\x1b]8;;\x1b\\ \x1b]8;;JAVAscript:x\x1b\\JS\x1b]8;;\x1b\\ \x1b]8;;data:text/html,x\x1b\\data\x1b]8;;\x1b\\ " +
		"\x1b]8;;https://x/\"><script>\x1b\\ok\x1b]8;;\x1b\\\r\nab\u202ecd\u2066\ufffe\r\n````` ```",
	"sizes": "\x1b#6wide\r\n\x1b#3tall\r\n\x1b#4tall\r\n",
}

// FEATURES: R30, R32, R36
func TestPictureGolden(t *testing.T) {
	all := map[string]string{}
	for _, m := range []map[string]string{goldens, pictures} {
		for name, output := range m {
			all[name] = output
		}
	}
	for name, output := range all {
		s := screenOf(native(30, 6), output)
		for ext, got := range map[string][]byte{
			"html": AppendHTML(nil, s, lookOf(t, "")),
			"svg":  AppendSVG(nil, s, lookOf(t, "light")),
			"md":   AppendMarkdown(nil, s, MarkdownOptions{State: "running", Style: true}),
		} {
			t.Run(name+"."+ext, func(t *testing.T) {
				file := filepath.Join("testdata", "golden", name+"."+ext)
				if *update {
					fail(t, os.WriteFile(file, got, 0o644))
				}
				want, err := os.ReadFile(file)
				fail(t, err)
				if !bytes.Equal(got, want) {
					t.Errorf("got\n%s\nwant\n%s\n(go test ./render -run Golden -update accepts it)", got, want)
				}
				switch ext {
				case "html":
					checkHTML(t, got, s)
				case "svg":
					checkSVG(t, got)
				}
			})
		}
	}
}

// checkHTML parses a page as browsers do: nothing in it can run, and its text is the
// screen's.
func checkHTML(t testing.TB, page []byte, s *Screen) {
	t.Helper()
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	allowed := " html head meta title style body main pre span a "
	var text strings.Builder
	inPre := false
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.ElementNode {
			if !strings.Contains(allowed, " "+n.Data+" ") {
				t.Fatalf("element %q in\n%s", n.Data, page)
			}
			for _, a := range n.Attr {
				checkAttribute(t, a.Key, a.Val)
			}
		}
		if n.Type == html.TextNode && inPre {
			text.WriteString(n.Data)
		}
		if n.Data == "pre" && n.Type == html.ElementNode {
			inPre = true
			defer func() { inPre = false }()
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(doc)
	if want := gridText(s); s != nil && text.String() != want {
		t.Fatalf("the page's text is\n%q\nand the screen's\n%q", text.String(), want)
	}
}

func checkAttribute(t testing.TB, key, value string) {
	t.Helper()
	if strings.HasPrefix(key, "on") || key == "src" || key == "style" {
		t.Fatalf("attribute %s=%q", key, value)
	}
	if key != "href" {
		return
	}
	if encoded, ours := strings.CutPrefix(value, "data:image/png;base64,"); ours {
		b, err := base64.StdEncoding.DecodeString(encoded)
		if err == nil {
			_, err = png.Decode(bytes.NewReader(b))
		}
		if err != nil {
			t.Fatalf("an image that is none: %v", err)
		}
		return
	}
	if strings.HasPrefix(value, "#i") { // an image within the document
		return
	}
	u, err := url.Parse(value)
	if err != nil || !strings.Contains(" http https mailto ftp file ", " "+u.Scheme+" ") {
		t.Fatalf("link to %q", value)
	}
}

// gridText is the text that a page has to have, each line padded to where its last piece
// ends.
func gridText(s *Screen) string {
	if s == nil {
		return ""
	}
	var b strings.Builder
	o := PictureOptions{}
	shape, row, col := o.CursorOn(s)
	for y, l := range s.Grid() {
		at := 0
		cursorCol := -1
		if y == row {
			cursorCol = col
		}
		put := func(text string, from, width int) {
			b.WriteString(strings.Repeat(" ", max(from-at, 0)) + cleanText(text))
			at = from + width
		}
		drawn := cursorCol < 0 || shape == ""
		for i := range l.Spans {
			sp := &l.Spans[i]
			if sp.Col < at || sp.Width < 1 || sp.Col >= s.Cols {
				continue
			}
			if !drawn && sp.Col > cursorCol {
				put(" ", cursorCol, 1)
			}
			drawn = drawn || sp.Col+sp.Width > cursorCol
			sp.Characters(func(text string, col, width int) bool { put(text, col, width); return true })
			at = sp.Col + sp.Width
		}
		if !drawn {
			put(" ", cursorCol, 1)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// checkSVG reads a picture as strict XML.
func checkSVG(t testing.TB, doc []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(doc))
	elements := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, doc)
		}
		if e, ok := token.(xml.StartElement); ok {
			elements++
			if !strings.Contains(" svg title style rect g a text path defs image use filter feGaussianBlur circle ", " "+e.Name.Local+" ") {
				t.Fatalf("element %q", e.Name.Local)
			}
			for _, a := range e.Attr {
				checkAttribute(t, a.Name.Local, a.Value)
			}
		}
	}
	if elements < 4 || !utf8.Valid(doc) {
		t.Fatalf("no picture: %s", doc)
	}
}

// checkMarkdown reads the fence as CommonMark does and compares what is inside.
func checkMarkdown(t testing.TB, doc string, s *Screen) {
	t.Helper()
	_, rest, ok := strings.Cut(doc, "\n\n")
	fence := rest[:strings.IndexFunc(rest, func(r rune) bool { return r != '`' })]
	if !ok || len(fence) < 3 {
		t.Fatalf("no fence in %q", doc)
	}
	_, rest, _ = strings.Cut(rest, "\n")
	var inside strings.Builder
	for line := range strings.Lines(rest) {
		trimmed := strings.TrimSpace(line)
		if len(trimmed) >= len(fence) && strings.Trim(trimmed, "`") == "" {
			break
		}
		inside.WriteString(line)
	}
	if want := string(appendLines(Text(nil, s, TextOptions{}))); inside.String() != want {
		t.Fatalf("in the fence is\n%q\nwant\n%q", inside.String(), want)
	}
}

// FEATURES: R36
func TestMarkdownFence(t *testing.T) {
	for _, output := range []string{"", "```", "````\r\n```", strings.Repeat("`", 40), "~~~\r\n`a`", "# head\r\n\r\n- x"} {
		s := screenOf(native(20, 4), output)
		checkMarkdown(t, string(AppendMarkdown(nil, s, MarkdownOptions{})), s)
	}
}

// FAULT: H20
//
// FEATURES: R31
func TestUsualThemes(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range CommonThemeNames() {
		th, err := ThemeFor(name, nil)
		if err != nil || th.Name != name || th.FG == th.BG || th.Cursor == th.BG || seen[themeKey(name)] {
			t.Errorf("%s: %+v, %v", name, th, err)
		}
		seen[themeKey(name)] = true
	}
	for given, want := range map[string]string{
		"dracula": "Dracula", "catppuccin-mocha": "Catppuccin Mocha", "nord": "Nord", "Gruvbox Dark": "Gruvbox Dark", "Builtin Solarized Dark": "Solarized Dark",
		"TokyoNight": "Tokyo Night", "OneDark": "One Dark", "rose-pine": "Rose Pine", "Rosé Pine": "Rose Pine", "github_light": "GitHub Light", "Dark": "dark", "SESSION": "session",
	} {
		if th, err := ThemeFor(given, nil); err != nil || th.Name != want {
			t.Errorf("%s: %s, %v; want %s", given, th.Name, err, want)
		}
	}
}

// FEATURES: R31
func TestTheme(t *testing.T) {
	e := native(10, 2)
	f := frameOf(e, "\x1b[31ma\x1b[32mb\x1b[38;5;196mc\x1b[38;2;1;2;3md\x1b[m\x1b]4;2;#102030\x07\x1b]11;#334455\x07")
	s := &Screen{}
	FromFrame(s, f)
	var got []uint32
	dark, err := ThemeFor("", f.Palette)
	fail(t, err)
	for i := range s.Lines[0].Spans {
		got = append(got, dark.Paint(&s.Lines[0].Spans[i]).FG)
	}
	want := []uint32{themes[0].Colors[1], 0x102030, 0xff0000, 0x010203}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("colours %06x, want %06x", got, want)
	}
	if dark.BG != 0x334455 || dark.FG != themes[0].FG {
		t.Errorf("background %06x, text %06x: the program's background wins, the theme's text stays", dark.BG, dark.FG)
	}
	own, err := ThemeFor(SessionTheme, f.Palette)
	fail(t, err)
	if own.FG != f.Palette.Foreground || own.Colors[1] != f.Palette.Colors[1] {
		t.Errorf("the session's theme is %+v", own)
	}
	if _, err := ThemeFor("mauve", nil); err == nil {
		t.Error("no error for an unknown theme")
	}
	if r := dark.ReverseVideo(); r.FG != dark.BG || r.BG != dark.FG {
		t.Errorf("reversed: %+v", r)
	}
}

// FEATURES: R30
func TestPaint(t *testing.T) {
	o := lookOf(t, "high-contrast")
	for _, tt := range []struct {
		span   Span
		fg, bg uint32
		filled bool
	}{
		{Span{}, 0xffffff, 0, false},
		{Span{Inverse: true}, 0, 0xffffff, true},
		{Span{BG: "#102030"}, 0xffffff, 0x102030, true},
		{Span{Dim: true}, 0x999999, 0, false},
		{Span{FG: "nonsense", BG: "#12345"}, 0xffffff, 0, true},
	} {
		if p := o.Theme.Paint(&tt.span); p.FG != tt.fg || p.BG != tt.bg || p.Filled != tt.filled {
			t.Errorf("%+v is painted %+v", tt.span, p)
		}
	}
}

// FEATURES: R33
func TestPictureCursor(t *testing.T) {
	s := screenOf(native(10, 2), "ab\x1b[D\x1b[6 q")
	shape := func(o PictureOptions) string { got, _, _ := o.CursorOn(s); return got }
	if shape(PictureOptions{}) != "bar" || shape(PictureOptions{CursorShape: "block"}) != "block" || shape(PictureOptions{NoCursor: true}) != "" {
		t.Error("the cursor does not have the requested shape")
	}
	o := lookOf(t, "")
	with := string(AppendHTML(nil, s, o))
	o.NoCursor = true
	without := string(AppendHTML(nil, s, o))
	if !strings.Contains(with, "inset 2px 0 #d8dee9") || strings.Contains(without, "inset 2px 0") {
		t.Error("the bar is missing, or was not removed")
	}
}

// FEATURES: R36
func TestImagesInPictures(t *testing.T) {
	s := &Screen{}
	// Four pixels over 4 by 2 cells, two cells to the right, with text beside it; and once more below.
	pixels := base64.StdEncoding.EncodeToString([]byte{255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255})
	FromFrame(s, frameOf(vterm.New(vterm.Options{Cols: 20, Rows: 6}),
		"ab\x1b_Ga=T,f=24,s=2,v=2,c=4,r=2,i=7;"+pixels+"\x1b\\cd\r\n\x1b_Ga=p,i=7,c=2,r=1\x1b\\\x1b_Ga=T,f=100,c=2,r=1;AAAA\x1b\\"))
	page, doc := string(AppendHTML(nil, s, lookOf(t, ""))), string(AppendSVG(nil, s, lookOf(t, "")))
	checkHTML(t, []byte(page), s)
	checkSVG(t, []byte(doc))
	for name, text := range map[string]string{"HTML": page, "SVG": doc} {
		if n := strings.Count(text, "data:image/png;base64,"); n != 1 {
			t.Errorf("%s has %d images", name, n)
		}
	}
	for _, want := range []string{"background-size:4ch 40px;background-position:0ch 0px", "background-size:4ch 40px;background-position:0ch -20px", "background-size:2ch 20px;background-position:0ch 0px"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in\n%s", want, page)
		}
	}
	for _, want := range []string{
		`<svg x="20" y="0" width="40" height="20" viewBox="0 0 40 20"><use href="#i0" transform="scale(40 40)"/></svg>`,
		`<svg x="20" y="0" width="40" height="20" viewBox="0 20 40 20"><use href="#i0" transform="scale(40 40)"/></svg>`,
		`<svg x="0" y="0" width="20" height="20" viewBox="0 0 20 20"><use href="#i0" transform="scale(20 20)"/></svg>`,
	} {
		if !strings.Contains(doc, want) {
			t.Errorf("no %s in\n%s", want, doc)
		}
	}
}

// FuzzPicture draws any output, and frames that no engine would make, in every text form.
//
// FEATURES: R30, R36
func FuzzPicture(f *testing.F) {
	for _, output := range goldens {
		f.Add([]byte(output))
	}
	for _, output := range pictures {
		f.Add([]byte(output))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e := vterm.New(vterm.Options{Cols: 20, Rows: 5})
		for _, frame := range []*vterm.Frame{frameOf(e, string(data)), garbage(data)} {
			s := &Screen{}
			FromFrame(s, frame)
			checkHTML(t, AppendHTML(nil, s, lookOf(t, "")), s)
			checkSVG(t, AppendSVG(nil, s, lookOf(t, "session")))
			checkSVG(t, AppendSVG(nil, s, window(t, 0)))
			checkMarkdown(t, string(AppendMarkdown(nil, s, MarkdownOptions{Style: true})), s)
		}
	})
}
