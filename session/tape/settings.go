package tape

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/session/suggestname"
)

// settings are the settings of Set; set parses a value and reports whether it is valid.
var settings = map[string]struct {
	want string
	set  func(p *parser, v string) bool
}{
	"Shell":   {"a shell", func(p *parser, v string) bool { p.t.Settings.Shell = v; return v != "" && !strings.Contains(v, "\x00") }},
	"Theme":   {"a theme's name", func(p *parser, v string) bool { p.theme(v); return v != "" }},
	"Columns": {"1 to 1000 cells", func(p *parser, v string) bool { return whole(v, 1, 1000, &p.t.Settings.Cols) }},
	"Rows":    {"1 to 1000 cells", func(p *parser, v string) bool { return whole(v, 1, 1000, &p.t.Settings.Rows) }},
	"Width":   {"1 to 10000 pixels", func(p *parser, v string) bool { return whole(v, 1, 10_000, &p.t.Settings.Width) }},
	"Height":  {"1 to 10000 pixels", func(p *parser, v string) bool { return whole(v, 1, 10_000, &p.t.Settings.Height) }},
	"Padding": {"0 to 500 pixels", func(p *parser, v string) bool { return whole(v, 0, 500, &p.t.Settings.Padding) }},
	"Margin":  {"0 to 500 pixels", func(p *parser, v string) bool { return whole(v, 0, 500, &p.t.Settings.Margin) }},
	"MarginFill": {"a colour, as #rrggbb", func(p *parser, v string) bool {
		if _, err := render.ParseColor(v); err == nil {
			p.t.Settings.MarginColor = v
		} else { // VHS also fills it with a picture
			p.t.Ignored = append(p.t.Ignored, fmt.Sprintf("MarginFill %q", v))
		}
		return true
	}},
	"WindowBar": {"Colorful, ColorfulRight, Rings or RingsRight", func(p *parser, v string) bool { // all are drawn alike
		p.t.Settings.Window = v != ""
		return slices.Contains([]string{"", "Colorful", "ColorfulRight", "Rings", "RingsRight"}, v)
	}},
	"FontSize": {"4 to 100 pixels", func(p *parser, v string) bool { return number(v, 4, 100, &p.t.Settings.FontSize) }},
	"Framerate": {"1 to 50 pictures a second", func(p *parser, v string) bool {
		ok := number(v, 1, 240, &p.t.Settings.FPS)
		p.t.Settings.FPS = min(p.t.Settings.FPS, 50) // VHS tapes often use 60
		return ok
	}},
	"PlaybackSpeed": {"0.1 to 20", func(p *parser, v string) bool { return number(v, 0.1, 20, &p.t.Settings.Speed) }},
	"TypingSpeed": {"a time, as in 50ms", func(p *parser, v string) bool {
		d, err := p.delay(v, -1)
		p.speed = d
		return err == nil && d >= 0
	}},
	"WaitTimeout": {"a time, as in 30s", func(p *parser, v string) bool {
		d, err := p.delay(v, -1)
		p.t.Settings.WaitTimeout = d
		return err == nil && d > 0
	}},
	"WaitPattern": {"a regular expression between slashes", func(p *parser, v string) bool {
		re, err := regexp.Compile(v)
		p.t.Settings.WaitPattern = re
		return err == nil
	}},
}

// ignored are settings of VHS for what our pictures do not have.
var ignored = []string{
	"BorderRadius", "CursorBlink", "FontFamily", "LetterSpacing", "LineHeight", "LoopOffset", "WindowBarSize",
}

// theme sets a theme. It ignores unknown ones of VHS's list and colours in JSON, with a warning.
func (p *parser) theme(v string) {
	if strings.HasPrefix(v, "{") {
		v, p.words = "{…}", nil
	}
	if _, err := render.ThemeFor(v, nil); err == nil {
		p.t.Settings.Theme = v
	} else if name := fmt.Sprintf("Theme %q", v); v != "" && !slices.Contains(p.t.Ignored, name) {
		p.t.Ignored = append(p.t.Ignored, name)
	}
}

func (p *parser) set() error {
	name, err := p.next("a setting and its value")
	if err != nil {
		return err
	}
	s, known := settings[name.text]
	if !known && !slices.Contains(ignored, name.text) {
		all := slices.Sorted(maps.Keys(settings))
		if near := suggestname.Nearest(name.text, all); near != "" {
			return p.fail("%s is no setting; did you mean %s?", name.text, near)
		}
		return p.fail("%s is no setting; there are %s", name.text, strings.Join(all, ", "))
	}
	v, err := p.next("a value")
	if err != nil {
		return err
	}
	if !known {
		for len(p.words) > 0 { // a font's name may be several words
			p.at, p.words = p.words[0], p.words[1:]
		}
		if !slices.Contains(p.t.Ignored, name.text) {
			p.t.Ignored = append(p.t.Ignored, name.text)
		}
		return nil
	}
	if !s.set(p, v.text) {
		return p.fail("Set %s %s: give %s", name.text, v.text, s.want)
	}
	return nil
}

func whole(v string, least, most int, to *int) (ok bool) {
	n, err := strconv.Atoi(v)
	*to = n
	return err == nil && n >= least && n <= most
}

func number(v string, least, most float64, to *float64) (ok bool) {
	n, err := strconv.ParseFloat(v, 64)
	*to = n
	return err == nil && n >= least && n <= most
}
