package vterm

import (
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/vterm/internal/color"
)

// colors holds the colours that a program can set and query.
type colors struct {
	color.Table
	out   *replyQueue
	outer *Outer
}

// oscColors adapts a handler of an OSC about colours.
func oscColors(f func(c *colors, number int, data string)) func(*Terminal, int, string) {
	return func(t *Terminal, number int, data string) { f(&t.colors, number, data) }
}

// palette handles OSC 4 ; index ; spec ; …. Indices above 255 are special colours.
func (c *colors) palette(_ int, s string) {
	f := strings.Split(s, ";")
	for i := 0; i+1 < len(f); i += 2 {
		n, err := strconv.Atoi(f[i])
		if err != nil || n < 0 {
			return
		}
		if n >= 256 {
			c.special(4, 256, n-256, f[i+1])
			continue
		}
		if f[i+1] == "?" {
			c.out.replyOSC("4;%d;%s", n, color.Format(c.Palette.Colors[n]))
		} else if v, ok := color.Parse(f[i+1]); ok {
			c.Change(func(p *Palette) { p.Colors[n] = v })
		}
	}
}

// specials handles OSC 5 ; index ; spec ; ….
func (c *colors) specials(_ int, s string) {
	f := strings.Split(s, ";")
	for i := 0; i+1 < len(f); i += 2 {
		if n, err := strconv.Atoi(f[i]); err == nil && n >= 0 {
			c.special(5, 0, n, f[i+1])
		}
	}
}

// special sets or reports special colour n. base is added to n in the answer.
func (c *colors) special(osc, base, n int, spec string) {
	if n >= color.SpecialCount {
		return
	}
	if spec == "?" {
		c.out.replyOSC("%d;%d;%s", osc, base+n, color.Format(c.Special[n]))
	} else if v, ok := color.Parse(spec); ok {
		c.Special[n] = v
	}
}

// dynamic handles OSC 10 to 19: several specs set consecutive colours.
func (c *colors) dynamic(n int, s string) {
	for _, spec := range strings.Split(s, ";") {
		i := n - 10
		if i >= color.DynamicCount {
			return
		}
		if spec == "?" {
			c.out.replyOSC("%d;%s", n, c.spec(i))
		} else if v, ok := color.Parse(spec); ok {
			c.SetDynamic(i, v)
		}
		n++
	}
}

// eachNumber calls f for each number in a list, or for 0 to n-1 if the list is empty.
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

// resetPalette handles OSC 104.
func (c *colors) resetPalette(_ int, s string) {
	next := *c.Palette
	eachNumber(s, 256, func(i int) {
		if i < 256 {
			next.Colors[i] = color.Defaults.Colors[i]
		} else if i < 256+color.SpecialCount {
			c.Special[i-256] = color.Defaults.Foreground
		}
	})
	c.Palette = &next
}

// resetSpecials handles OSC 105.
func (c *colors) resetSpecials(_ int, s string) {
	eachNumber(s, color.SpecialCount, func(i int) {
		if i < color.SpecialCount {
			c.Special[i] = color.Defaults.Foreground
		}
	})
}

// resetDynamic handles OSC 110 to 119.
func (c *colors) resetDynamic(n int, _ string) {
	var def color.Table
	def.Reset()
	c.SetDynamic(n-110, def.Dynamic[n-110])
}

// kittyColors maps the names of OSC 21 (kitty, "Color control") to numbers of dynamic colours. The number is -1 for a colour
// that this terminal lacks. Answers contain only these names. Unknown names get no answer, which kitty would echo: a shell
// would read an unread answer as typed text.
var kittyColors = map[string]int{
	"foreground": 0, "background": 1, "cursor": 2,
	"cursor_text": -1, "visual_bell": -1, "selection_foreground": -1, "selection_background": -1,
	"transparent_background_color1": -1, "transparent_background_color2": -1, "transparent_background_color3": -1,
	"transparent_background_color4": -1, "transparent_background_color5": -1, "transparent_background_color6": -1,
	"transparent_background_color7": -1, "transparent_background_color8": -1,
}

// byName handles OSC 21 ; name=spec ; …, the names of the main colours and numbers.
func (c *colors) byName(_ int, s string) {
	var answers []string
	for _, f := range strings.Split(s, ";") {
		key, spec, _ := strings.Cut(f, "=")
		i, known := kittyColors[key]
		n, err := strconv.Atoi(key)
		indexed := err == nil && n >= 0 && n < 256
		v, ok := color.Parse(spec)
		switch {
		case spec == "?" && known && i < 0:
			answers = append(answers, key+"=?")
		case spec == "?" && known:
			answers = append(answers, key+"="+c.spec(i))
		case spec == "?" && indexed:
			answers = append(answers, strconv.Itoa(n)+"="+color.Format(c.Palette.Colors[n]))
		case ok && known && i >= 0:
			c.SetDynamic(i, v)
		case ok && indexed:
			c.Change(func(p *Palette) { p.Colors[n] = v })
		}
	}
	if len(answers) > 0 {
		c.out.replyOSC("21;%s", strings.Join(answers, ";"))
	}
}

// report implements XTREPORTCOLORS.
func (c *colors) report() {
	n := len(c.Stack)
	c.out.replyCSI("?%d;%d#Q", n, n)
}
