// Package width knows what a terminal must know of Unicode: how many columns a code
// point takes and where a grapheme cluster ends (UAX #29).
//
// The tables are generated from the Unicode Character Database (Version); props.go's
// layout and gen.go's are the same.
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

// Of looks a code point up.
func Of(r rune) Props {
	if uint32(r) > 0x10ffff {
		return 1
	}
	return Props(blocks[index[r>>8]][r&0xff])
}

// Columns is the width of a code point standing alone.
func (p Props) Columns() int { return int(p & 3) }

// Ambiguous reports whether the width depends on the reader's habits (UAX #11).
func (p Props) Ambiguous() bool { return p&ambiguous != 0 }

// HasVariations reports whether VS15 and VS16 choose between text and emoji.
func (p Props) HasVariations() bool { return p&emojiVS != 0 }

// Regional reports whether it is a regional indicator, half a flag.
func (p Props) Regional() bool { return p>>gcbShift&15 == gcbRegional }

// Joins reports whether the code point can ever continue a cluster: false for nearly
// all, and then Step need not be asked.
func (p Props) Joins() bool { return p>>gcbShift != 0 || p&pictograph != 0 }

// Plain reports that there is nothing about the code point but its width: it never joins
// what is before it and is as wide for everyone.
func (p Props) Plain() bool { return p&^(3|emojiVS) == 0 }

// Starter reports whether a cluster begins with the code point unless the one before asks
// for more (Awaits): true for all but marks, halves of flags and parts of syllables.
func (p Props) Starter() bool { return (p>>gcbShift&15-1)&15 >= gcbLV-1 }
