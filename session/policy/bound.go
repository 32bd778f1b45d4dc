package policy

import "strings"

// Limits of what is parsed. The parser calls itself for each level of nesting, so that a level costs
// stack: lines beyond these limits are asked about unparsed. People and agents stay far below.
const (
	maxBytes  = 64 << 10
	maxDepth  = 150
	maxChain  = 3000 // operators in a row that the parser nests: &&, ||, |, unary signs, assignments
	maxHeredo = 200
)

// openers and closers are words that begin and end compound commands.
var openers = map[string]int{"if": 1, "while": 1, "until": 1, "for": 1, "case": 1, "select": 1, "time": 1,
	"coproc": 1, "function": 1,
	"fi": -1, "done": -1, "esac": -1}

// tooDeep scans a line for what would make the parser nest too deep, without regard to quotes: text in
// quotes with hundreds of open brackets is asked about too.
func tooDeep(s string) bool {
	if len(s) > maxBytes {
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
	return strings.Count(s, "<<") > maxHeredo && heredocs(s) > maxHeredo
}

// heredocs returns the largest number of here-documents that one line of s opens.
func heredocs(s string) int {
	most := 0
	for line := range strings.Lines(s) {
		most = max(most, strings.Count(line, "<<"))
	}
	return most
}
