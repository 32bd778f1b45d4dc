package respond

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// maxNeeds is how many alternatives are worth looking for.
const maxNeeds = 16

// needed is a set of lower-case texts of which each match holds at least one, compared
// without regard to the case of ASCII letters. nil: no such set was found.
func needed(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return neededLiteral(re)
	case syntax.OpCharClass:
		return neededClass(re.Rune)
	case syntax.OpCapture, syntax.OpPlus:
		return needed(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needed(re.Sub[0])
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

// longestASCII is the longest run of characters whose cases are all ASCII: k and s
// have cases that are not (U+212A, U+017F).
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

// neededClass takes a class apart if it is small.
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

// neededConcat is the set of the part that says most.
func neededConcat(subs []*syntax.Regexp) []string {
	var best []string
	for _, sub := range subs {
		if set := needed(sub); shortest(set) > shortest(best) {
			best = set
		}
	}
	return best
}

func neededAlternate(subs []*syntax.Regexp) []string {
	var all []string
	for _, sub := range subs {
		set := needed(sub)
		if len(set) == 0 || len(all)+len(set) > maxNeeds {
			return nil
		}
		all = append(all, set...)
	}
	return all
}

// shortest is the least length in a set, 0 for none.
func shortest(set []string) int {
	n := 0
	for i, s := range set {
		if i == 0 || len(s) < n {
			n = len(s)
		}
	}
	return n
}

// lowerASCII lowers ASCII letters and nothing else, as the filter does.
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
