package pattern

import (
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

// needs are necessary conditions for a match. Most lines match nothing, and running many patterns step by step takes a
// hundred times as long as seeing that a line has no bracket or does not end with a colon.
type needs struct {
	has  *chars // one of these at least; nil: nothing is known
	ends *chars // one of these at its end; nil: nothing is known
}

// needsOf returns the needs of a pattern.
func needsOf(expr string) needs {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return needs{}
	}
	return needs{has: within(tree), ends: atEnd(tree)}
}

// in reports whether a text may match.
func (n *needs) in(text string) bool {
	return (n.ends == nil || text != "" && n.ends.have(text[len(text)-1])) && (n.has == nil || n.has.some(text))
}

// chars are characters; of those that are not ASCII only whether there are any.
type chars struct {
	ascii [2]uint64 // a bit for each
	other bool
}

// have reports whether a character with this byte may be one of them.
func (c *chars) have(b byte) bool {
	if b >= utf8.RuneSelf {
		return c.other
	}
	return c.ascii[b>>6]&(1<<(b&63)) != 0
}

func (c *chars) some(text string) bool {
	for i := range len(text) {
		if c.have(text[i]) {
			return true
		}
	}
	return false
}

func (c *chars) add(from, to rune) {
	for r := from; r <= min(to, unicode.MaxASCII); r++ {
		c.ascii[r>>6] |= 1 << (r & 63)
	}
	c.other = c.other || to > unicode.MaxASCII
}

func (c *chars) addAll(of *chars) {
	c.ascii[0] |= of.ascii[0]
	c.ascii[1] |= of.ascii[1]
	c.other = c.other || of.other
}

// like returns a character and, folded, its case variants.
func like(r rune, folded bool) *chars {
	c := &chars{}
	c.add(r, r)
	for other := unicode.SimpleFold(r); folded && other != r; other = unicode.SimpleFold(other) {
		c.add(other, other)
	}
	return c
}

func class(re *syntax.Regexp) *chars {
	c := &chars{}
	for i := 0; i+1 < len(re.Rune); i += 2 {
		c.add(re.Rune[i], re.Rune[i+1])
	}
	return c
}

// within returns characters of which each match contains at least one; nil: unknown.
func within(re *syntax.Regexp) *chars {
	switch re.Op {
	case syntax.OpLiteral:
		var best *chars
		for _, r := range re.Rune {
			best = rarer(best, like(r, re.Flags&syntax.FoldCase != 0))
		}
		return best
	case syntax.OpCharClass:
		return class(re)
	case syntax.OpCapture, syntax.OpPlus:
		return within(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return within(re.Sub[0])
		}
	case syntax.OpConcat:
		var best *chars
		for _, sub := range re.Sub {
			best = rarer(best, within(sub))
		}
		return best
	case syntax.OpAlternate:
		all := &chars{}
		for _, sub := range re.Sub {
			c := within(sub)
			if c == nil {
				return nil
			}
			all.addAll(c)
		}
		return all
	}
	return nil
}

// rarer returns the rarer of two sets: letters and blanks are common, signs are not.
func rarer(a, b *chars) *chars {
	if a == nil || b != nil && b.weight() < a.weight() {
		return b
	}
	return a
}

// weight estimates how common the characters are.
func (c *chars) weight() (sum int) {
	for r := range rune(utf8.RuneSelf) {
		switch {
		case !c.have(byte(r)):
		case r == ' ', unicode.IsLower(r):
			sum += 20
		case unicode.IsLetter(r), unicode.IsDigit(r):
			sum += 5
		default:
			sum++
		}
	}
	return sum
}

// atEnd returns characters of which a matching text ends with one; nil: unknown.
func atEnd(re *syntax.Regexp) *chars {
	switch re.Op {
	case syntax.OpCapture:
		return atEnd(re.Sub[0])
	case syntax.OpConcat:
		end := len(re.Sub) - 1
		if re.Sub[end].Op != syntax.OpEndText {
			return atEnd(re.Sub[end])
		}
		if c, empty := lastOfAll(re.Sub[:end]); !empty {
			return c
		}
	case syntax.OpAlternate:
		all := &chars{}
		for _, sub := range re.Sub {
			c := atEnd(sub)
			if c == nil {
				return nil
			}
			all.addAll(c)
		}
		return all
	}
	return nil
}

// last returns the possible last characters of a match; empty: the match may be empty.
func last(re *syntax.Regexp) (c *chars, empty bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return like(re.Rune[len(re.Rune)-1], re.Flags&syntax.FoldCase != 0), false
	case syntax.OpCharClass:
		return class(re), false
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		c = &chars{}
		c.add(0, unicode.MaxRune)
		return c, false
	case syntax.OpCapture, syntax.OpPlus:
		return last(re.Sub[0])
	case syntax.OpStar, syntax.OpQuest:
		c, _ = last(re.Sub[0])
		return c, true
	case syntax.OpRepeat:
		c, empty = last(re.Sub[0])
		return c, empty || re.Min == 0
	case syntax.OpConcat:
		return lastOfAll(re.Sub)
	case syntax.OpAlternate:
		c = &chars{}
		for _, sub := range re.Sub {
			some, none := last(sub)
			c.addAll(some)
			empty = empty || none
		}
		return c, empty
	}
	return &chars{}, re.Op != syntax.OpNoMatch // a place, as ^ and \b are
}

// lastOfAll is last of a concatenation.
func lastOfAll(subs []*syntax.Regexp) (c *chars, empty bool) {
	c, empty = &chars{}, true
	for i := len(subs) - 1; i >= 0 && empty; i-- {
		var some *chars
		some, empty = last(subs[i])
		c.addAll(some)
	}
	return c, empty
}
