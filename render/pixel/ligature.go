package pixel

import "encoding/binary"

// ligature is a sequence of glyphs that a font replaces by one (OpenType, "GSUB", lookup type 4).
type ligature struct {
	rest  []uint16 // glyphs after the first
	glyph uint16   // the replacement
}

// maxLigatures limits the ligatures read from a font.
const maxLigatures = 1 << 16

// ligatures returns the ligatures of a GSUB table, by their first glyph. It ignores features and languages: emoji fonts
// have ligatures for sequences only.
func ligatures(gsub []byte) map[uint16][]ligature {
	out := map[uint16][]ligature{}
	left := maxLigatures
	lookups := from(gsub, u16(gsub, 8))
	for i := range u16(lookups, 0) {
		lookup := from(lookups, u16(lookups, 2+2*i))
		kind := u16(lookup, 0)
		for j := range u16(lookup, 4) {
			subtable, kind := from(lookup, u16(lookup, 6+2*j)), kind
			if kind == 7 && u16(subtable, 0) == 1 { // an offset of 4 bytes leads on
				kind = u16(subtable, 2)
				subtable = from(subtable, u16(subtable, 4)<<16|u16(subtable, 6))
			}
			if left--; kind == 4 && u16(subtable, 0) == 1 && left > 0 {
				readLigatures(out, subtable, &left)
			}
		}
	}
	return out
}

func readLigatures(out map[uint16][]ligature, subtable []byte, left *int) {
	firsts := coverageGlyphs(from(subtable, u16(subtable, 2)))
	for i := range min(u16(subtable, 4), len(firsts)) {
		set := from(subtable, u16(subtable, 6+2*i))
		for j := range u16(set, 0) {
			if *left--; *left < 0 {
				return
			}
			l := from(set, u16(set, 2+2*j))
			made := ligature{glyph: uint16(u16(l, 0))}
			for k := range min(u16(l, 2), 32) - 1 {
				made.rest = append(made.rest, uint16(u16(l, 4+2*k)))
			}
			out[firsts[i]] = append(out[firsts[i]], made)
		}
	}
}

// coverageGlyphs returns the glyphs of a coverage table, in order.
func coverageGlyphs(table []byte) []uint16 {
	var out []uint16
	for i := range u16(table, 2) {
		switch u16(table, 0) {
		case 1:
			out = append(out, uint16(u16(table, 4+2*i)))
		case 2:
			for g := u16(table, 4+6*i); g <= u16(table, 6+6*i) && len(out) < maxLigatures; g++ {
				out = append(out, uint16(g))
			}
		}
	}
	return out
}

// join replaces the longest sequences of glyphs that have a ligature.
func join(glyphs []uint16, known map[uint16][]ligature) []uint16 {
	var out []uint16
	for len(glyphs) > 0 {
		best := ligature{glyph: glyphs[0]}
		for _, l := range known[glyphs[0]] {
			if len(l.rest) > len(best.rest) && hasPrefix(glyphs[1:], l.rest) {
				best = l
			}
		}
		out = append(out, best.glyph)
		glyphs = glyphs[1+len(best.rest):]
	}
	return out
}

func hasPrefix(glyphs, with []uint16) bool {
	if len(glyphs) < len(with) {
		return false
	}
	for i := range with {
		if glyphs[i] != with[i] {
			return false
		}
	}
	return true
}

// from returns the data from an offset on, or nothing past the end; u16 returns a number in it, or 0 past the end.
func from(data []byte, at int) []byte {
	if at <= 0 || at >= len(data) {
		return nil
	}
	return data[at:]
}

func u16(data []byte, at int) int {
	if at+2 > len(data) {
		return 0
	}
	return int(binary.BigEndian.Uint16(data[at:]))
}
