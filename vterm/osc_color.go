package vterm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/vterm/internal/parse"
)

const (
	specialColors = 5  // bold, underline, blink, reverse, italic
	dynamicColors = 10 // OSC 10 to 19
	colorStackMax = 10
)

// palette is every colour that can be set. What frames hold of it is replaced, never
// changed.
type palette struct {
	shared  *Palette // what frames get
	special [specialColors]uint32
	dynamic [dynamicColors]uint32
	stack   []paletteState
}

type paletteState struct {
	colors  Palette
	special [specialColors]uint32
	dynamic [dynamicColors]uint32
}

func (p *palette) init() {
	p.shared = defaultPalette
	p.special = [specialColors]uint32{}
	fg, bg := p.shared.Foreground, p.shared.Background
	for i := range p.special {
		p.special[i] = fg
	}
	p.dynamic = [dynamicColors]uint32{fg, bg, p.shared.Cursor, fg, bg, fg, bg, fg, fg, bg}
}

var defaultPalette = DefaultPalette()

func (p *palette) reset() {
	p.stack = nil
	p.init()
}

// change replaces the shared palette by a copy that f has changed.
func (p *palette) change(f func(*Palette)) {
	next := *p.shared
	f(&next)
	p.shared = &next
}

func (p *palette) setDynamic(i int, c uint32) {
	p.dynamic[i] = c
	if i <= 2 {
		p.change(func(s *Palette) {
			*[]*uint32{&s.Foreground, &s.Background, &s.Cursor}[i] = c
		})
	}
}

// oscPalette is OSC 4 ; index ; spec ; …. Indices above 255 are special colours.
func (t *Terminal) oscPalette(_ int, s string) {
	f := strings.Split(s, ";")
	for i := 0; i+1 < len(f); i += 2 {
		n, err := strconv.Atoi(f[i])
		if err != nil || n < 0 {
			return
		}
		if n >= 256 {
			t.special(4, 256, n-256, f[i+1])
			continue
		}
		if f[i+1] == "?" {
			t.replyOSC("4;%d;%s", n, formatColor(t.palette.shared.Colors[n]))
		} else if c, ok := parseColor(f[i+1]); ok {
			t.palette.change(func(p *Palette) { p.Colors[n] = c })
		}
	}
}

// oscSpecial is OSC 5 ; index ; spec ; ….
func (t *Terminal) oscSpecial(_ int, s string) {
	f := strings.Split(s, ";")
	for i := 0; i+1 < len(f); i += 2 {
		if n, err := strconv.Atoi(f[i]); err == nil && n >= 0 {
			t.special(5, 0, n, f[i+1])
		}
	}
}

func (t *Terminal) special(osc, base, n int, spec string) {
	if n >= specialColors {
		return
	}
	if spec == "?" {
		t.replyOSC("%d;%d;%s", osc, base+n, formatColor(t.palette.special[n]))
	} else if c, ok := parseColor(spec); ok {
		t.palette.special[n] = c
	}
}

// oscDynamic is OSC 10 to 19: several specs set consecutive colours.
func (t *Terminal) oscDynamic(n int, s string) {
	for _, spec := range strings.Split(s, ";") {
		i := n - 10
		if i >= dynamicColors {
			return
		}
		if spec == "?" {
			t.replyOSC("%d;%s", n, formatColor(t.palette.dynamic[i]))
		} else if c, ok := parseColor(spec); ok {
			t.palette.setDynamic(i, c)
		}
		n++
	}
}

// eachNumber calls f for each number of a list, or for 0 to n-1 when it is empty.
func eachNumber(s string, n int, f func(i int)) {
	if s == "" {
		for i := range n {
			f(i)
		}
		return
	}
	for _, field := range strings.Split(s, ";") {
		if i, err := strconv.Atoi(field); err == nil && i >= 0 {
			f(i)
		}
	}
}

func (t *Terminal) oscResetPalette(_ int, s string) {
	next := *t.palette.shared
	eachNumber(s, 256, func(i int) {
		if i < 256 {
			next.Colors[i] = defaultPalette.Colors[i]
		} else if i < 256+specialColors {
			t.palette.special[i-256] = defaultPalette.Foreground
		}
	})
	t.palette.shared = &next
}

func (t *Terminal) oscResetSpecial(_ int, s string) {
	eachNumber(s, specialColors, func(i int) {
		if i < specialColors {
			t.palette.special[i] = defaultPalette.Foreground
		}
	})
}

func (t *Terminal) oscResetDynamic(n int, _ string) {
	var def palette
	def.init()
	t.palette.setDynamic(n-110, def.dynamic[n-110])
}

// kittyColors are the names that OSC 21 knows (kitty, "Color control"): the number of a dynamic colour, or -1 for what
// this terminal does not have. An answer takes its names from here: what is not known gets none, where kitty echoes it,
// because an answer that nobody reads is read by the shell as typed text.
var kittyColors = map[string]int{
	"foreground": 0, "background": 1, "cursor": 2,
	"cursor_text": -1, "visual_bell": -1, "selection_foreground": -1, "selection_background": -1,
	"transparent_background_color1": -1, "transparent_background_color2": -1, "transparent_background_color3": -1,
	"transparent_background_color4": -1, "transparent_background_color5": -1, "transparent_background_color6": -1,
	"transparent_background_color7": -1, "transparent_background_color8": -1,
}

// oscKittyColor is OSC 21 ; name=spec ; …, the names of the main colours and numbers.
func (t *Terminal) oscKittyColor(_ int, s string) {
	var answers []string
	for _, f := range strings.Split(s, ";") {
		key, spec, _ := strings.Cut(f, "=")
		i, known := kittyColors[key]
		n, err := strconv.Atoi(key)
		indexed := err == nil && n >= 0 && n < 256
		c, ok := parseColor(spec)
		switch {
		case spec == "?" && known && i < 0:
			answers = append(answers, key+"=?")
		case spec == "?" && known:
			answers = append(answers, key+"="+formatColor(t.palette.dynamic[i]))
		case spec == "?" && indexed:
			answers = append(answers, strconv.Itoa(n)+"="+formatColor(t.palette.shared.Colors[n]))
		case ok && known && i >= 0:
			t.palette.setDynamic(i, c)
		case ok && indexed:
			t.palette.change(func(p *Palette) { p.Colors[n] = c })
		}
	}
	if len(answers) > 0 {
		t.replyOSC("21;%s", strings.Join(answers, ";"))
	}
}

func formatColor(c uint32) string {
	r, g, b := c>>16&0xff, c>>8&0xff, c&0xff
	return fmt.Sprintf("rgb:%02x%02x/%02x%02x/%02x%02x", r, r, g, g, b, b)
}

// pushColors is XTPUSHCOLORS; a parameter would name a slot, here only the top is used.
func (t *Terminal) pushColors(*parse.Seq) {
	if len(t.palette.stack) < colorStackMax {
		p := &t.palette
		p.stack = append(p.stack, paletteState{*p.shared, p.special, p.dynamic})
	}
}

func (t *Terminal) popColors(*parse.Seq) {
	p := &t.palette
	if n := len(p.stack); n > 0 {
		top := p.stack[n-1]
		p.stack = slices.Clip(p.stack[:n-1])
		p.shared, p.special, p.dynamic = &top.colors, top.special, top.dynamic
	}
}

func (t *Terminal) reportColors(*parse.Seq) {
	n := len(t.palette.stack)
	t.replyCSI("?%d;%d#Q", n, n)
}
