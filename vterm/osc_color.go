package vterm

import (
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/vterm/internal/color"
	"github.com/longterm-dev/longterm/vterm/internal/parse"
)

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
			t.replyOSC("4;%d;%s", n, color.Format(t.palette.Palette.Colors[n]))
		} else if c, ok := color.Parse(f[i+1]); ok {
			t.palette.Change(func(p *Palette) { p.Colors[n] = c })
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
	if n >= color.SpecialCount {
		return
	}
	if spec == "?" {
		t.replyOSC("%d;%d;%s", osc, base+n, color.Format(t.palette.Special[n]))
	} else if c, ok := color.Parse(spec); ok {
		t.palette.Special[n] = c
	}
}

// oscDynamic is OSC 10 to 19: several specs set consecutive colours.
func (t *Terminal) oscDynamic(n int, s string) {
	for _, spec := range strings.Split(s, ";") {
		i := n - 10
		if i >= color.DynamicCount {
			return
		}
		if spec == "?" {
			t.replyOSC("%d;%s", n, color.Format(t.palette.Dynamic[i]))
		} else if c, ok := color.Parse(spec); ok {
			t.palette.SetDynamic(i, c)
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
	next := *t.palette.Palette
	eachNumber(s, 256, func(i int) {
		if i < 256 {
			next.Colors[i] = color.Defaults.Colors[i]
		} else if i < 256+color.SpecialCount {
			t.palette.Special[i-256] = color.Defaults.Foreground
		}
	})
	t.palette.Palette = &next
}

func (t *Terminal) oscResetSpecial(_ int, s string) {
	eachNumber(s, color.SpecialCount, func(i int) {
		if i < color.SpecialCount {
			t.palette.Special[i] = color.Defaults.Foreground
		}
	})
}

func (t *Terminal) oscResetDynamic(n int, _ string) {
	var def color.Table
	def.Reset()
	t.palette.SetDynamic(n-110, def.Dynamic[n-110])
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
		c, ok := color.Parse(spec)
		switch {
		case spec == "?" && known && i < 0:
			answers = append(answers, key+"=?")
		case spec == "?" && known:
			answers = append(answers, key+"="+color.Format(t.palette.Dynamic[i]))
		case spec == "?" && indexed:
			answers = append(answers, strconv.Itoa(n)+"="+color.Format(t.palette.Palette.Colors[n]))
		case ok && known && i >= 0:
			t.palette.SetDynamic(i, c)
		case ok && indexed:
			t.palette.Change(func(p *Palette) { p.Colors[n] = c })
		}
	}
	if len(answers) > 0 {
		t.replyOSC("21;%s", strings.Join(answers, ";"))
	}
}

// pushColors is XTPUSHCOLORS; a parameter would name a slot, here only the top is used.
func (t *Terminal) pushColors(*parse.Seq) { t.palette.Push() }

func (t *Terminal) popColors(*parse.Seq) { t.palette.Pop() }

func (t *Terminal) reportColors(*parse.Seq) {
	n := len(t.palette.Stack)
	t.replyCSI("?%d;%d#Q", n, n)
}
