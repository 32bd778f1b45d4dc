package vt10x

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/longterm-dev/longterm/vterm"
)

const (
	maxTitle = 4 << 10 // bytes of a title
	maxURI   = 4 << 10 // bytes of a hyperlink; longer ones are ignored
)

// runString runs a complete string. kind is the byte after ESC.
func (e *Engine) runString(kind byte, s []byte) {
	switch kind {
	case 'k': // the title string of screen
		e.setTitle(string(s))
	case 'P':
		e.runDCS(s)
	case ']':
		num, rest, _ := strings.Cut(strings.ToValidUTF8(string(s), "\uFFFD"), ";")
		if n, err := strconv.Atoi(num); err == nil {
			e.osc(n, rest)
		}
	}
}

func (e *Engine) osc(n int, s string) {
	switch n {
	case 0, 1, 2:
		if n != 2 {
			e.emit(vterm.Event{Kind: vterm.EventIconLabel, Text: clean(s)})
		}
		if n != 1 {
			e.setTitle(s)
		}
	case 4, 10, 11, 12, 104, 110, 111, 112:
		e.oscColor(n, s)
	case 7:
		e.emit(vterm.Event{Kind: vterm.EventCwd, Name: "7", Text: s})
	case 8:
		e.hyperlink(s)
	case 9:
		e.osc9(s)
	case 52:
		e.clipboard(s)
	case 99:
		_, body, _ := strings.Cut(s, ";")
		e.emit(vterm.Event{Kind: vterm.EventNotify, Text: body})
	case 133, 633:
		e.mark(n, s)
	case 777:
		if rest, ok := strings.CutPrefix(s, "notify;"); ok {
			title, body, _ := strings.Cut(rest, ";")
			e.emit(vterm.Event{Kind: vterm.EventNotify, Name: title, Text: body})
		}
	case 1337:
		e.iterm(s)
	case 3008:
		e.emit(vterm.Event{Kind: vterm.EventContext, Text: s})
	}
}

// clean returns a program's title as one line of limited length without control characters.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) > maxTitle {
		s = strings.ToValidUTF8(s[:maxTitle], "")
	}
	return s
}

func (e *Engine) setTitle(s string) {
	e.title = clean(s)
	e.emit(vterm.Event{Kind: vterm.EventTitle, Text: e.title})
}

// progressNames are the states of OSC 9;4 (ConEmu).
var progressNames = [...]string{"none", "normal", "error", "indeterminate", "paused"}

// osc9 handles progress (9;4;state;percent), cwd (9;9;path) or a notification.
func (e *Engine) osc9(s string) {
	kind, rest, _ := strings.Cut(s, ";")
	switch kind {
	case "4":
		state, percent, _ := strings.Cut(rest, ";")
		n, _ := strconv.Atoi(state)
		if n < 0 || n >= len(progressNames) {
			return
		}
		pct, _ := strconv.Atoi(percent)
		e.emit(vterm.Event{Kind: vterm.EventProgress, Name: progressNames[n], Num: min(max(pct, 0), 100)})
	case "9":
		e.emit(vterm.Event{Kind: vterm.EventCwd, Name: "9;9", Text: strings.Trim(rest, `"`)})
	default:
		e.emit(vterm.Event{Kind: vterm.EventNotify, Text: s})
	}
}

// mark handles a mark of shell integration, OSC 133 (FinalTerm) or 633 (VS Code).
func (e *Engine) mark(n int, s string) {
	name, rest, _ := strings.Cut(s, ";")
	e.emit(vterm.Event{Kind: vterm.EventMark, Name: name, Text: rest, Num: n})
	if cwd, ok := strings.CutPrefix(rest, "Cwd="); ok && n == 633 && name == "P" {
		e.emit(vterm.Event{Kind: vterm.EventCwd, Name: "633", Text: cwd})
	}
}

// clipboard handles OSC 52. Queries are never answered.
func (e *Engine) clipboard(s string) {
	selection, data, _ := strings.Cut(s, ";")
	if text, err := base64.StdEncoding.DecodeString(data); err == nil && data != "?" {
		e.emit(vterm.Event{Kind: vterm.EventClipboard, Name: selection, Text: string(text)})
	}
}

// iterm handles two keys of OSC 1337.
func (e *Engine) iterm(s string) {
	key, value, _ := strings.Cut(s, "=")
	switch key {
	case "CurrentDir":
		e.emit(vterm.Event{Kind: vterm.EventCwd, Name: "1337", Text: value})
	case "SetUserVar":
		name, data, _ := strings.Cut(value, "=")
		if text, err := base64.StdEncoding.DecodeString(data); err == nil {
			e.emit(vterm.Event{Kind: vterm.EventUserVar, Name: name, Text: string(text)})
		}
	}
}

// hyperlink handles OSC 8: params;URI.
func (e *Engine) hyperlink(s string) {
	opts, uri, ok := strings.Cut(s, ";")
	if !ok {
		return
	}
	e.pen.Link = 0
	if uri == "" || len(s) > maxURI {
		return
	}
	l := vterm.Link{URI: uri}
	for o := range strings.SplitSeq(opts, ":") {
		if id, ok := strings.CutPrefix(o, "id="); ok {
			l.ID = id
		}
	}
	e.pen.Link = e.link(l)
}

// oscColor sets, resets and reports colours. The palette is copied before it changes, because frames refer to it.
func (e *Engine) oscColor(n int, s string) {
	pal := *e.paletteNow()
	args := strings.Split(s, ";")
	switch n {
	case 4:
		for ; len(args) >= 2; args = args[2:] {
			if i, err := strconv.Atoi(args[0]); err == nil && i >= 0 && i < 256 {
				e.oneColor(&pal.Colors[i], fmt.Sprintf("4;%d", i), args[1])
			}
		}
	case 104:
		for _, a := range args {
			i, err := strconv.Atoi(a)
			switch {
			case s == "":
				pal.Colors = vterm.DefaultPalette().Colors
			case err == nil && i >= 0 && i < 256:
				pal.Colors[i] = vterm.DefaultPalette().Colors[i]
			}
		}
	case 10, 11, 12: // several values go to the following numbers
		for i := 0; i < len(args) && n+i <= 12; i++ {
			e.oneColor(dynamicColor(&pal, n+i), strconv.Itoa(n+i), args[i])
		}
	default:
		*dynamicColor(&pal, n-100) = *dynamicColor(vterm.DefaultPalette(), n-100)
	}
	if pal != *e.paletteNow() {
		e.palette = &pal
	}
}

var defaultPalette = vterm.DefaultPalette()

func (e *Engine) paletteNow() *vterm.Palette {
	if e.palette == nil {
		return defaultPalette
	}
	return e.palette
}

func dynamicColor(p *vterm.Palette, n int) *uint32 {
	switch n {
	case 10:
		return &p.Foreground
	case 11:
		return &p.Background
	default:
		return &p.Cursor
	}
}

// oneColor sets c, or reports it if spec is "?".
func (e *Engine) oneColor(c *uint32, name, spec string) {
	if spec == "?" {
		r, g, b := *c>>16&0xff, *c>>8&0xff, *c&0xff
		e.reply(fmt.Sprintf("\x1b]%s;rgb:%04x/%04x/%04x\x1b\\", name, r*0x101, g*0x101, b*0x101))
		return
	}
	if v, ok := parseColor(spec); ok {
		*c = v
	}
}

// parseColor parses the numeric forms of XParseColor: #rgb … #rrrrggggbbbb and rgb:r/g/b.
func parseColor(s string) (uint32, bool) {
	var parts []string
	scaled := false
	if hex, ok := strings.CutPrefix(s, "#"); ok && len(hex)%3 == 0 && len(hex) <= 12 {
		n := len(hex) / 3
		parts = []string{hex[:n], hex[n : 2*n], hex[2*n:]}
	} else if rgb, ok := strings.CutPrefix(strings.ToLower(s), "rgb:"); ok {
		parts, scaled = strings.Split(rgb, "/"), true
	}
	if len(parts) != 3 {
		return 0, false
	}
	var c uint32
	for _, p := range parts {
		v, err := strconv.ParseUint(p, 16, 16)
		if err != nil || len(p) > 4 {
			return 0, false
		}
		c = c<<8 | channel(uint32(v), len(p), scaled)
	}
	return c, true
}

// channel converts n hexadecimal digits to 8 bits: rgb: scales, # pads with zeroes.
func channel(v uint32, n int, scaled bool) uint32 {
	if scaled {
		return v * 255 / (1<<(4*n) - 1)
	}
	return v << (16 - 4*n) >> 8
}
