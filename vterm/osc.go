package vterm

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// command is a row of the table of operating system commands (OSC).
type command struct {
	numbers []int
	name    string
	source  string
	run     func(t *Terminal, number int, data string)
}

var oscTable = []command{
	{[]int{0, 1, 2}, "icon label and window title", "xterm", (*Terminal).oscTitle},
	{[]int{4}, "palette colours: set, ask", "xterm", oscColors((*colors).palette)},
	{[]int{5}, "special colours: set, ask", "xterm", oscColors((*colors).specials)},
	{[]int{7}, "working directory", "VTE", notifyOnly(oscCwd)},
	{[]int{8}, "hyperlink", "VTE", (*Terminal).oscLink},
	{[]int{9}, "notification; 9;4 progress; 9;9 working directory", "iTerm2, ConEmu", notifyOnly(oscNotify)},
	{[]int{10, 11, 12, 13, 14, 15, 16, 17, 18, 19}, "dynamic colours: set, ask", "xterm", oscColors((*colors).dynamic)},
	{[]int{21}, "colours by name: set, ask", "kitty", oscColors((*colors).byName)},
	{[]int{22}, "shape of the mouse pointer", "xterm, kitty", (*Terminal).oscPointer},
	{[]int{52}, "clipboard", "xterm", (*Terminal).oscClipboard},
	{[]int{99}, "notification", "kitty", notifyOnly(oscNotifyKitty)},
	{[]int{104}, "reset palette colours", "xterm", oscColors((*colors).resetPalette)},
	{[]int{105}, "reset special colours", "xterm", oscColors((*colors).resetSpecials)},
	{[]int{110, 111, 112, 113, 114, 115, 116, 117, 118, 119}, "reset dynamic colours", "xterm", oscColors((*colors).resetDynamic)},
	{[]int{133}, "prompt and command marks", "FinalTerm", (*Terminal).oscMark},
	{[]int{633}, "prompt and command marks", "VS Code", (*Terminal).oscMark},
	{[]int{777}, "notification", "rxvt", notifyOnly(oscNotifyRxvt)},
	{[]int{1337}, "CurrentDir, SetUserVar; inline images: File, or MultipartFile, FilePart and FileEnd", "iTerm2", (*Terminal).oscITerm},
	{[]int{3008}, "context", "systemd", notifyOnly(oscContext)},
}

// osc runs an operating system command. It makes its text valid UTF-8.
func (t *Terminal) osc(p []byte) {
	t.bell = t.parser.Bell
	head, rest, _ := bytes.Cut(p, []byte{';'})
	n, ok := oscNumber(head)
	if !ok {
		if len(p) > 0 && (p[0] == 'l' || p[0] == 'L' || p[0] == 'I') {
			t.oscSun(p[0], strings.ToValidUTF8(string(p[1:]), "\uFFFD"))
		}
		return
	}
	for i := range oscTable {
		for _, number := range oscTable[i].numbers {
			if number == n {
				oscTable[i].run(t, n, strings.ToValidUTF8(string(rest), "\uFFFD"))
				return
			}
		}
	}
}

func oscNumber(b []byte) (int, bool) {
	if len(b) == 0 || len(b) > 5 {
		return 0, false
	}
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// printable returns r, or -1 for control characters, in text that is shown elsewhere.
func printable(r rune) rune {
	if r < 0x20 || r >= 0x7f && r < 0xa0 {
		return -1
	}
	return r
}

// clip truncates a string to a number of bytes, at a character boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func fromHex(s string) string {
	b := make([]byte, 0, len(s)/2)
	for i := 0; i+1 < len(s); i += 2 {
		v, err := strconv.ParseUint(s[i:i+2], 16, 8)
		if err != nil {
			return ""
		}
		b = append(b, byte(v))
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

const (
	linkMax   = 2083 // longest URI in bytes, as in VTE
	linkIDMax = 256
)

// oscLink handles OSC 8 ; params ; URI.
func (t *Terminal) oscLink(_ int, s string) {
	params, uri, ok := strings.Cut(s, ";")
	if !ok {
		return
	}
	t.penChanged()
	if uri == "" || len(uri) > linkMax {
		t.pen.Link = 0
		return
	}
	link := Link{URI: uri}
	for _, p := range strings.Split(params, ":") {
		if id, ok := strings.CutPrefix(p, "id="); ok && len(id) <= linkIDMax {
			link.ID = id
		}
	}
	t.pen.Link = t.tables.Links.ID(link)
}
