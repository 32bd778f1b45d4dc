// Package width provides the properties of Unicode that a terminal needs: the number of columns of a code point, and
// the boundaries of grapheme clusters (UAX #29).
//
// The tables are generated from the Unicode Character Database (Version). Props has the layout that gen.go writes.
package width

//go:generate go run gen.go -ucd ucd
//go:generate go run gen_uniform.go
//go:generate go test -run ^TestSteps$ . -update

// Props is a property word.
//
//	bits 0–1   columns: 0, 1 or 2
//	bit  2     East Asian ambiguous
//	bit  3     has emoji and text variation sequences
//	bit  4     Extended_Pictographic
//	bits 5–8   Grapheme_Cluster_Break
//	bits 9–10  Indic_Conjunct_Break, of no use: see grapheme.go
type Props uint16

const (
	ambiguous  Props = 1 << 2
	emojiVS    Props = 1 << 3
	pictograph Props = 1 << 4
	gcbShift         = 5
)

// Values of Grapheme_Cluster_Break.
const (
	gcbOther = iota
	gcbControl
	gcbExtend
	gcbZWJ
	gcbRegional
	gcbPrepend
	gcbSpacing
	gcbL
	gcbV
	gcbT
	gcbLV
	gcbLVT
)

// Of returns the properties of a code point.
func Of(r rune) Props {
	if uint32(r) > 0x10ffff {
		return 1
	}
	return Props(blocks[index[r>>8]][r&0xff])
}

// Columns returns the width of a code point on its own.
func (p Props) Columns() int { return int(p & 3) }

// Ambiguous reports whether the width is ambiguous: it depends on the reader's conventions (UAX #11).
func (p Props) Ambiguous() bool { return p&ambiguous != 0 }

// HasVariations reports whether VS15 and VS16 choose between text and emoji.
func (p Props) HasVariations() bool { return p&emojiVS != 0 }

// Regional reports whether the code point is a regional indicator, half of a flag.
func (p Props) Regional() bool { return p>>gcbShift&15 == gcbRegional }

// Joins reports whether the code point can continue a cluster. It is false for nearly all, and Step is then
// unnecessary.
func (p Props) Joins() bool { return p>>gcbShift != 0 || p&pictograph != 0 }

// Plain reports whether the code point has no special property but its width: it never joins the previous one and has
// the same width on every terminal.
func (p Props) Plain() bool { return p&^(3|emojiVS) == 0 }

// Starter reports whether the code point starts a cluster unless the previous one requires more (Awaits). This holds
// for all but marks, halves of flags and parts of syllables.
func (p Props) Starter() bool { return (p>>gcbShift&15-1)&15 >= gcbLV-1 }
