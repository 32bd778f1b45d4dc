// Package bound finds lines that are too deep or too large to parse, by their text alone.
package bound

import "strings"

// Limits of parsed lines. The parser recurses per nesting level, so a level costs stack: lines beyond these limits need
// approval unparsed. Users and agents stay far below. Long lines mostly contain much text, in quotes and
// here-documents, or many words; both are bounded, so that judging takes time linear in the size of the line.
const (
	maxBytes  = 1 << 20
	maxTokens = 40000 // words and operators of a longer line
	maxTexts  = 100   // here-documents of a longer line
	maxDepth  = 150
	maxChain  = 3000 // operators in a row that the parser nests: &&, ||, |, unary signs, assignments
	// maxHereDocs bounds the here-documents per line of the text.
	maxHereDocs = 200
)

// MaxShort is the size up to which only the depth of a line is checked, and up to which the readers of Windows shells
// read.
const MaxShort = 64 << 10

// openers and closers are words that start and end compound commands.
var openers = map[string]int{"if": 1, "while": 1, "until": 1, "for": 1, "case": 1, "select": 1, "time": 1,
	"coproc": 1, "function": 1,
	"fi": -1, "done": -1, "esac": -1}

// IsTooLarge reports whether a line is too long, has too many tokens or nests too deeply for the parser. It ignores quotes:
// quoted text with hundreds of open brackets also counts.
func IsTooLarge(s string) bool {
	if len(s) > maxBytes || len(s) > MaxShort && hasTooManyTokens(s) {
		return true
	}
	depth, words, signs, chain, ticks := 0, 0, 0, 0, 0
	word := 0
	for i := 0; i <= len(s); i++ {
		c := byte(' ')
		if i < len(s) {
			c = s[i]
		}
		letter := c >= 'a' && c <= 'z'
		if !letter {
			if i-word >= 2 && i-word <= 8 {
				words = max(0, words+openers[s[word:i]])
			}
			word = i + 1
		}
		switch c {
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			depth = max(0, depth-1)
		case '`':
			ticks++
		case '&', '|', '=', '?', ',', '*', '<', '>':
			chain++
		case '\n', ';':
			chain = 0
		}
		switch c {
		case '!', '~', '-', '+', '\\':
			signs++
		case ' ', '\t':
		default:
			signs = 0
		}
		if depth > maxDepth || words > maxDepth || signs > maxChain || chain > maxChain || ticks > maxChain {
			return true
		}
	}
	return strings.Count(s, "<<") > maxHereDocs && heredocs(s) > maxHereDocs
}

// hasTooManyTokens estimates whether a long line has too many words and operators. Text in quotes and here-documents
// counts little; where that is wrong, parsing takes a few times as long at most.
func hasTooManyTokens(s string) bool {
	tokens, texts, outside := 0, 0, true // outside of a word
	var ends []hereDoc                   // that the line opened
	missing := map[string]bool{}         // ends that no longer follow
	skip := func(to int) int { tokens += 1 + to/64; return to }
	for i := 0; i < len(s) && tokens <= maxTokens && texts <= maxTexts; i++ {
		switch c := s[i]; c {
		case ' ', '\t':
			outside = true
			continue
		case '\\':
			i++
		case '\'':
			if end := strings.IndexByte(s[i+1:], '\''); end >= 0 { // also of '': each is a part of a word
				i += 1 + skip(end)
			}
		case '"':
			end := i + 1
			for end < len(s) && s[end] != '"' {
				if s[end] == '\\' {
					end++
				} else if s[end] == '$' || s[end] == '`' {
					tokens++
				}
				end++
			}
			i += skip(end - i)
		case '<':
			if here, ok := hereEnd(s[i:]); ok && !missing[here.end] {
				ends = append(ends, here)
				texts++
			}
			tokens++
		case '\n':
			tokens++
			for _, here := range ends {
				size := hereSize(s[i:], here.end)
				if missing[here.end] = size < 0; size > 0 {
					if !here.quoted { // what is expanded in it is parsed
						for _, sign := range [...]string{"$", "`", "(", ")"} {
							tokens += strings.Count(s[i:i+size], sign)
						}
					}
					i += skip(size)
				}
			}
			ends = nil
		case ';', '&', '|', '(', ')', '$', '`', '{', '}', '>', '#', ',':
			tokens++
		default:
			if outside {
				tokens++
			}
		}
		outside = false
	}
	return tokens > maxTokens || texts > maxTexts
}

// hereDoc is the end word of a here-document; the text of a quoted one has no expansions.
type hereDoc struct {
	end    string
	quoted bool
}

// hereEnd returns the here-document that is opened at the beginning of s.
func hereEnd(s string) (hereDoc, bool) {
	rest, ok := strings.CutPrefix(s, "<<")
	if !ok {
		return hereDoc{}, false
	}
	word := strings.TrimLeft(strings.TrimPrefix(rest, "-"), " ")
	rest = strings.TrimLeft(word, `'"\`)
	end := 0
	for end < len(rest) && end < 100 && isWord(rest[end]) {
		end++
	}
	return hereDoc{rest[:end], len(rest) < len(word)}, end > 0 && (rest[0] < '0' || rest[0] > '9')
}

// hereSize returns the number of bytes up to the end of a here-document, or -1. With <<- tabs may precede the end.
func hereSize(s, end string) int {
	for _, tabs := range []string{"", "\t", "\t\t"} {
		line := "\n" + tabs + end
		if at := strings.Index(s, line+"\n"); at >= 0 {
			return at + len(line)
		} else if strings.HasSuffix(s, line) {
			return len(s)
		}
	}
	return -1
}

// heredocs returns the largest number of here-documents that one line of s opens.
func heredocs(s string) int {
	most := 0
	for line := range strings.Lines(s) {
		most = max(most, strings.Count(line, "<<"))
	}
	return most
}

// isWord reports whether a byte belongs to a word.
func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
