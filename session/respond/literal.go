package respond

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// maxNeeds is the greatest number of alternatives that are worth a search.
const maxNeeds = 16

// requiredTexts returns a set of lower-case texts: each match contains at least one of them, without regard to the case of
// ASCII letters. It returns nil if no such set was found.
func requiredTexts(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return neededLiteral(re)
	case syntax.OpCharClass:
		return neededClass(re.Rune)
	case syntax.OpCapture, syntax.OpPlus:
		return requiredTexts(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return requiredTexts(re.Sub[0])
		}
	case syntax.OpConcat:
		return neededConcat(re.Sub)
	case syntax.OpAlternate:
		return neededAlternate(re.Sub)
	}
	return nil
}

func neededLiteral(re *syntax.Regexp) []string {
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

// neededClass returns the members of a small class.
func neededClass(ranges []rune) []string {
	var set []string
	for i := 0; i < len(ranges); i += 2 {
		if int(ranges[i+1]-ranges[i]) >= maxNeeds-len(set) {
			return nil
		}
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			set = append(set, lowerASCII(string(r)))
		}
	}
	return set
}

// neededConcat returns the most selective set of the parts.
func neededConcat(subs []*syntax.Regexp) []string {
	var best []string
	for _, sub := range subs {
		if set := requiredTexts(sub); shortest(set) > shortest(best) {
			best = set
		}
	}
	return best
}

func neededAlternate(subs []*syntax.Regexp) []string {
	var all []string
	for _, sub := range subs {
		set := requiredTexts(sub)
		if len(set) == 0 || len(all)+len(set) > maxNeeds {
			return nil
		}
		all = append(all, set...)
	}
	return all
}

// shortest returns the least length in a set, or 0 for an empty set.
func shortest(set []string) int {
	n := 0
	for i, s := range set {
		if i == 0 || len(s) < n {
			n = len(s)
		}
	}
	return n
}

// lowerASCII converts ASCII letters only, as the filter does.
func lowerASCII(s string) string {
	b := []byte(s)
	for i := range b {
		b[i] = foldByte(b[i])
	}
	return string(b)
}

func foldByte(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}
