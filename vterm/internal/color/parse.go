package color

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Parse parses a colour like XParseColor: rgb:, rgbi:, #, a name, or one of the device-independent spaces of Xcms.
func Parse(s string) (uint32, bool) {
	s = strings.TrimSpace(s)
	if h, ok := strings.CutPrefix(s, "#"); ok {
		return parseHash(h)
	}
	space, values, ok := strings.Cut(s, ":")
	if !ok {
		c, ok := colorNames[strings.ToLower(strings.ReplaceAll(s, " ", ""))]
		return c, ok
	}
	parts := strings.Split(values, "/")
	if len(parts) != 3 {
		return 0, false
	}
	switch space = strings.ToLower(space); space {
	case "rgb":
		return parseRGB(parts)
	case "rgbi":
		v, ok := parseFloats(parts)
		return deviceRGB(v), ok && inGamut(v)
	}
	convert, ok := colorSpaces[space]
	if !ok {
		return 0, false
	}
	v, ok := parseFloats(parts)
	if !ok {
		return 0, false
	}
	return deviceRGB(compress(convert(v))), true
}

// parseHash parses 1 to 4 digits per component; with fewer than four, they are the high ones.
func parseHash(h string) (uint32, bool) {
	n := len(h) / 3
	if len(h) == 0 || len(h)%3 != 0 || n > 4 {
		return 0, false
	}
	var c uint32
	for i := range 3 {
		v, err := strconv.ParseUint(h[i*n:(i+1)*n], 16, 16)
		if err != nil {
			return 0, false
		}
		c = c<<8 | uint32(v<<(16-4*n)>>8)
	}
	return c, true
}

// parseRGB parses 1 to 4 digits per component, scaled to the whole range.
func parseRGB(parts []string) (uint32, bool) {
	var c uint32
	for _, p := range parts {
		v, err := strconv.ParseUint(p, 16, 16)
		if err != nil || len(p) > 4 {
			return 0, false
		}
		c = c<<8 | uint32(v*0xff/(1<<(4*len(p))-1))
	}
	return c, true
}

func parseFloats(parts []string) (v [3]float64, ok bool) {
	for i, p := range parts {
		f, err := strconv.ParseFloat(p, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return v, false
		}
		v[i] = f
	}
	return v, true
}

// colorNames lists the names of X11's rgb.txt that programs use.
var colorNames = map[string]uint32{
	"black": 0x000000, "white": 0xffffff, "red": 0xff0000, "green": 0x00ff00, "blue": 0x0000ff,
	"yellow": 0xffff00, "cyan": 0x00ffff, "magenta": 0xff00ff, "gray": 0xbebebe, "grey": 0xbebebe,
	"darkgray": 0xa9a9a9, "darkgrey": 0xa9a9a9, "lightgray": 0xd3d3d3, "lightgrey": 0xd3d3d3,
	"dimgray": 0x696969, "dimgrey": 0x696969, "slategray": 0x708090, "slategrey": 0x708090,
	"orange": 0xffa500, "darkorange": 0xff8c00, "orangered": 0xff4500, "gold": 0xffd700,
	"brown": 0xa52a2a, "pink": 0xffc0cb, "hotpink": 0xff69b4, "purple": 0xa020f0, "violet": 0xee82ee,
	"maroon": 0xb03060, "navy": 0x000080, "navyblue": 0x000080, "teal": 0x008080, "olive": 0x808000,
	"turquoise": 0x40e0d0, "salmon": 0xfa8072, "coral": 0xff7f50, "tomato": 0xff6347, "khaki": 0xf0e68c,
	"tan": 0xd2b48c, "beige": 0xf5f5dc, "ivory": 0xfffff0, "snow": 0xfffafa, "lavender": 0xe6e6fa,
	"orchid": 0xda70d6, "plum": 0xdda0dd, "indigo": 0x4b0082, "crimson": 0xdc143c, "firebrick": 0xb22222,
	"chocolate": 0xd2691e, "sienna": 0xa0522d, "steelblue": 0x4682b4, "skyblue": 0x87ceeb,
	"royalblue": 0x4169e1, "dodgerblue": 0x1e90ff, "darkblue": 0x00008b, "mediumblue": 0x0000cd,
	"lightblue": 0xadd8e6, "darkgreen": 0x006400, "lightgreen": 0x90ee90, "forestgreen": 0x228b22,
	"seagreen": 0x2e8b57, "limegreen": 0x32cd32, "springgreen": 0x00ff7f, "darkred": 0x8b0000,
	"darkcyan": 0x008b8b, "lightcyan": 0xe0ffff, "darkmagenta": 0x8b008b, "lightyellow": 0xffffe0,
	"goldenrod": 0xdaa520, "wheat": 0xf5deb3, "aquamarine": 0x7fffd4, "midnightblue": 0x191970,
}

// Format returns a colour in the form of answers.
func Format(c uint32) string {
	r, g, b := c>>16&0xff, c>>8&0xff, c&0xff
	return fmt.Sprintf("rgb:%02x%02x/%02x%02x/%02x%02x", r, r, g, g, b, b)
}
