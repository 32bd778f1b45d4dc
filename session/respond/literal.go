package respond

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// maxRequired is the greatest number of alternative literals that the filter searches for a rule.
const maxRequired = 16

// requiredTexts returns a set of lower-case texts: each match contains at least one of them, without regard to the case of
// ASCII letters. It returns nil if no such set was found.
func requiredTexts(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return requiredLiteral(re)
	case syntax.OpCharClass:
		return requiredClass(re.Rune)
	case syntax.OpCapture, syntax.OpPlus:
		return requiredTexts(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return requiredTexts(re.Sub[0])
		}
	case syntax.OpConcat:
		return requiredConcat(re.Sub)
	case syntax.OpAlternate:
		return requiredAlternate(re.Sub)
	}
	return nil
}

// requiredLiteral returns the required text of a literal.
func requiredLiteral(re *syntax.Regexp) []string {
	if re.Flags&syntax.FoldCase == 0 {
		return []string{lowerASCII(string(re.Rune))}
	}
	if run := longestASCII(re.Rune); run != "" {
		return []string{run}
	}
	return nil
}

// longestASCII returns the longest run of characters whose case variants are all ASCII: k and s have others (U+212A,
// U+017F).
func longestASCII(runes []rune) string {
	var run, longest []rune
	for _, r := range runes {
		if r >= utf8.RuneSelf || strings.ContainsRune("kKsS", r) {
			run = run[:0]
			continue
		}
		if run = append(run, r); len(run) > len(longest) {
			longest = append(longest[:0], run...)
		}
	}
	return lowerASCII(string(longest))
}

// requiredClass returns the members of a small character class, or nil.
func requiredClass(ranges []rune) []string {
	var set []string
	for i := 0; i < len(ranges); i += 2 {
		if int(ranges[i+1]-ranges[i]) >= maxRequired-len(set) {
			return nil
		}
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			set = append(set, lowerASCII(string(r)))
		}
	}
	return set
}

// requiredConcat returns the most selective set of the parts: the set with the longest shortest text.
func requiredConcat(subs []*syntax.Regexp) []string {
	var best []string
	for _, sub := range subs {
		if set := requiredTexts(sub); shortestLength(set) > shortestLength(best) {
			best = set
		}
	}
	return best
}

// requiredAlternate returns the texts of all alternatives, or nil if an alternative has none.
func requiredAlternate(subs []*syntax.Regexp) []string {
	var all []string
	for _, sub := range subs {
		set := requiredTexts(sub)
		if len(set) == 0 || len(all)+len(set) > maxRequired {
			return nil
		}
		all = append(all, set...)
	}
	return all
}

// shortestLength returns the least length of a text in a set, or 0 for an empty set.
func shortestLength(set []string) int {
	n := 0
	for i, s := range set {
		if i == 0 || len(s) < n {
			n = len(s)
		}
	}
	return n
}

// lowerASCII lower-cases ASCII letters only, as the filter does.
func lowerASCII(s string) string {
	b := []byte(s)
	for i := range b {
		b[i] = foldByte(b[i])
	}
	return string(b)
}

// foldByte lower-cases an ASCII letter.
func foldByte(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}
