// Package payload generates output for measuring terminal emulators: logs and listings of typical programs, and
// exercises that isolate one cost each (styles, cursor motion, scrolling, characters of all widths).
//
// The bytes depend only on the payload and the requested size, so that figures of different engines, machines and days
// are comparable. All are for a screen of 80×24.
package payload

import (
	"math/rand/v2"
	"strings"
)

// Payload is a kind of generated output.
type Payload struct {
	Name  string
	About string // description of its content
	unit  func(b *strings.Builder, r *rand.Rand)
}

// All lists the payloads.
var All = []Payload{
	{"dense_cells", "every cell with its own two colours of 256 and three attributes", denseCells},
	{"many_styles", "every cell with a 24-bit colour that hardly comes again", manyStyles},
	{"medium_cells", "words of eight letters, each with one of the eight colours", mediumCells},
	{"light_cells", "full screens of letters, nothing else", lightCells},
	{"cursor_motion", "single letters, each at a different place", cursorMotion},
	{"scrolling", "lines of one letter, into the history", func(b *strings.Builder, _ *rand.Rand) { b.WriteString("y\r\n") }},
	{"scrolling_bottom_region", "the same with a margin below", scrollRegion("\x1b[1;20r", "\x1b[20;1H")},
	{"scrolling_top_region", "the same with a margin above", scrollRegion("\x1b[2;24r", "\x1b[24;1H")},
	{"scrolling_both_region", "the same with margins above and below", scrollRegion("\x1b[3;20r", "\x1b[20;1H")},
	{"unicode", "lines of one script each: Latin to Hebrew, lines and arrows, Han, Hangul", unicodeText},
	{"build_log", "compiler command lines", buildLog},
	{"build_log_coloured", "progress and warnings of a build in colours", buildLogColoured},
	{"cjk_emoji", "Han with emoji, flags and combined characters among them", cjkEmoji},
	{"full_screen", "an editor's full repaint, line by line, in 24-bit colours", fullScreen},
	{"ls_lR", "listings of directories", lsLong},
}

// ByName returns the payload with a name.
func ByName(name string) (Payload, bool) {
	for _, p := range All {
		if p.Name == name {
			return p, true
		}
	}
	return Payload{}, false
}

// Generate returns at least the given number of bytes, always the same: whole lines, screens or other units of the
// payload, so that it can be written repeatedly.
func (p Payload) Generate(bytes int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for b.Len() < bytes {
		p.unit(&b, r)
	}
	return []byte(b.String())
}
