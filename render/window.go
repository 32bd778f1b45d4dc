package render

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"
)

// Window is the look of a picture that shows the screen as a window on a desktop. Its sizes are pixels at scale 1.
const (
	WindowBar     = 32 // height of the title bar
	WindowRadius  = 10 // radius of the corners
	WindowShadow  = 12 // standard deviation of the shadow's blur
	ShadowOffset  = 8  // how much lower than the window the shadow is
	ShadowOpacity = 0.45
	ButtonRadius  = 6
	ButtonGap     = 20  // between the centres of two buttons, and from the left edge to the first
	TitleSize     = 0.8 // of the font
)

// ButtonColors are the colours of the title bar's buttons, from the left.
var ButtonColors = [3]uint32{0xff5f57, 0xfebc2e, 0x28c840}

// Insets returns the space between the edges of the picture and the cells, in pixels at scale 1.
func (o *PictureOptions) Insets() (side, top, bottom int) {
	side = o.Margin + o.Padding
	if o.Window {
		return side, side + WindowBar, side
	}
	return side, side, side
}

// BarColor returns the background of a window's title bar: the theme's, slightly nearer to its text.
func (t *Theme) BarColor() uint32 { return mixColors(t.BG, t.FG, 1, 10) }

// TitleColor returns the colour of a window's title.
func (t *Theme) TitleColor() uint32 { return mixColors(t.BG, t.FG, 7, 10) }

// mixColors returns the colour n/of of the way from a to b.
func mixColors(a, b uint32, n, of int) (c uint32) {
	for shift := 0; shift < 24; shift += 8 {
		from, to := int(a>>shift&0xff), int(b>>shift&0xff)
		c |= uint32(from+(to-from)*n/of) << shift
	}
	return c
}

// ParseColor parses a colour of the form #rrggbb or #rgb; the # may be missing.
func ParseColor(s string) (uint32, error) {
	hex := strings.TrimPrefix(s, "#")
	if len(hex) == 3 {
		hex = strings.Join([]string{hex[:1], hex[:1], hex[1:2], hex[1:2], hex[2:], hex[2:]}, "")
	}
	n, err := strconv.ParseUint(hex, 16, 24)
	if err != nil || len(hex) != 6 {
		return 0, fmt.Errorf("colour %q: give #rrggbb", s)
	}
	return uint32(n), nil
}

// appendBackground appends everything behind the cells; (0, 0) is the first cell's corner.
func (d *SVG) appendBackground(dst []byte) []byte {
	o, t := &d.o, &d.o.Theme
	side, top, bottom := o.Insets()
	w, h := d.cols*CellWidth+2*side, d.rows*CellHeight+top+bottom
	back := t.BG
	if o.Window || o.Margin > 0 {
		back = o.MarginColor
	}
	dst = fmt.Appendf(dst, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>\n", -side, -top, w, h, hexColor(back))
	if !o.Window && o.Margin <= 0 {
		return dst
	}
	x, y := o.Margin-side, o.Margin-top
	w, h = w-2*o.Margin, h-2*o.Margin
	if !o.Window {
		return fmt.Appendf(dst, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>\n", x, y, w, h, hexColor(t.BG))
	}
	dst = fmt.Appendf(dst, "<filter id=\"shadow\" x=\"-50%%\" y=\"-50%%\" width=\"200%%\" height=\"200%%\"><feGaussianBlur stdDeviation=\"%d\"/></filter>\n", WindowShadow)
	dst = fmt.Appendf(dst, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"%d\" opacity=\"%g\" filter=\"url(#shadow)\"/>\n",
		x, y+ShadowOffset, w, h, WindowRadius, ShadowOpacity)
	dst = fmt.Appendf(dst, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"%d\" fill=\"%s\"/>\n", x, y, w, h, WindowRadius, hexColor(t.BG))
	dst = fmt.Appendf(dst, "<path d=\"M%d %dv-%da%d %d 0 0 1 %d -%dh%da%d %d 0 0 1 %d %dv%dz\" fill=\"%s\"/>\n",
		x, y+WindowBar, WindowBar-WindowRadius, WindowRadius, WindowRadius, WindowRadius, WindowRadius,
		w-2*WindowRadius, WindowRadius, WindowRadius, WindowRadius, WindowRadius, WindowBar-WindowRadius, hexColor(t.BarColor()))
	for i, c := range ButtonColors {
		dst = fmt.Appendf(dst, "<circle cx=\"%d\" cy=\"%d\" r=\"%d\" fill=\"%s\"/>\n", x+ButtonGap*(i+1), y+WindowBar/2, ButtonRadius, hexColor(c))
	}
	if title := WindowTitle(d.title, w); title != "" {
		dst = fmt.Appendf(dst, "<text class=\"c title\" x=\"%d\" y=\"%s\">%s</text>\n",
			x+w/2, num(float64(y)+WindowBar/2+FontSize*TitleSize*0.35), html.EscapeString(title))
	}
	return dst
}

// WindowTitle returns the part of a title that fits between the buttons of a window of this width, in pixels at scale 1.
func WindowTitle(title string, width int) string {
	room := int(float64(width-2*(len(ButtonColors)+1)*ButtonGap) / (CellWidth * TitleSize))
	if room < 4 {
		return ""
	}
	if uniseg.StringWidth(title) <= room {
		return title
	}
	end, used := 0, 0
	for g := uniseg.NewGraphemes(title); g.Next() && used+g.Width() < room; used += g.Width() {
		_, end = g.Positions()
	}
	return title[:end] + "…"
}
