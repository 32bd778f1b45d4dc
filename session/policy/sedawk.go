package policy

import (
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
	"mvdan.cc/sh/v3/syntax"
)

// sedCommand is one command of a sed script.
type sedCommand struct {
	name  byte
	arg   string // text after the name: a file, a command, text; of s the replacement
	flags string // flags of s, with the file of its w
}

// sedReading is a sed variant's rule for the end of a pattern.
type sedReading uint8

// A script is read by each of these rules, as versions of sed differ.
const (
	sedBrackets sedReading = iota // GNU: within brackets, the delimiter is an ordinary character
	sedEscapes                    // like sedBrackets, and a backslash escapes the end of brackets
	sedPlain                      // the first delimiter without a backslash ends the pattern
	sedReadings
)

// sedCommands splits a sed script. ok reports whether all of it was understood; substitutes reports whether the part
// that was not is a substitution. Where sed versions disagree about an end (a label, text after a), the following text
// is also read as commands.
func sedCommands(s string, how sedReading) (list []sedCommand, ok, substitutes bool) {
	for {
		s = strings.TrimLeft(s, " \t\n;{}")
		if s == "" {
			return list, true, false
		}
		if s[0] == '#' {
			_, s, _ = strings.Cut(s, "\n")
			continue
		}
		if s, ok = sedAddresses(s, how); !ok || s == "" {
			return list, false, !ok
		}
		c := sedCommand{name: s[0]}
		switch s = s[1:]; c.name {
		case 'p', 'd', 'D', 'P', 'n', 'N', 'g', 'G', 'h', 'H', 'x', '=', 'z', 'F':
		case 'l', 'q', 'Q':
			s = strings.TrimLeft(strings.TrimLeft(s, " \t"), "0123456789")
		case '{', '}':
			continue
		case 'b', 't', 'T', ':':
			s = strings.TrimLeft(s, " \t")
			s = s[len(s)-len(strings.TrimLeftFunc(s, func(r rune) bool { return !strings.ContainsRune(" \t\n;}", r) })):]
			continue
		case 'a', 'i', 'c':
			c.arg, s, _ = strings.Cut(s, "\n")
		case 'e', 'r', 'R', 'w', 'W':
			c.arg, s, _ = strings.Cut(s, "\n")
			c.arg = strings.TrimLeft(c.arg, " \t")
		case 's', 'y':
			reading := how
			if c.name == 'y' {
				reading = sedPlain
			}
			if c.arg, c.flags, s, ok = sedSubstitution(s, reading); !ok {
				return list, false, c.name == 's'
			}
		default:
			return list, false, false
		}
		list = append(list, c)
		if s = strings.TrimLeft(s, " \t"); s != "" && s[0] != ';' && s[0] != '\n' && s[0] != '}' && s[0] != '#' && !strings.ContainsRune("aiceErRwW", rune(c.name)) && !strings.Contains(c.flags, "w") {
			return list, false, c.name == 's'
		}
	}
}

// sedAddresses skips the addresses before a command.
func sedAddresses(s string, how sedReading) (string, bool) {
	s, ok := sedAddress(s, how)
	if !ok {
		return s, false
	}
	s = strings.TrimLeft(s, " \t")
	if rest, more := strings.CutPrefix(s, ","); more {
		rest = strings.TrimLeft(rest, " \t")
		if rest, ok = sedAddress(strings.TrimLeft(rest, "+~"), how); !ok {
			return rest, false
		}
		s = rest
	} else if rest, more := strings.CutPrefix(s, "~"); more {
		s = strings.TrimLeft(rest, "0123456789")
	}
	return strings.TrimLeft(s, " \t!"), true
}

// sedAddress skips one address, if there is one.
func sedAddress(s string, how sedReading) (string, bool) {
	switch {
	case s == "":
	case s[0] == '$':
		return s[1:], true
	case s[0] >= '0' && s[0] <= '9':
		return strings.TrimLeft(s, "0123456789"), true
	case s[0] == '/', s[0] == '\\' && len(s) > 1 && s[1] != '\n' && s[1] != '\\':
		if s[0] == '\\' {
			s = s[1:]
		}
		if end := sedPattern(s, how); end > 0 && !strings.Contains(s[:end], "\n") {
			return strings.TrimLeft(s[end+1:], "IM"), true
		}
		return s, false
	}
	return s, true
}

// sedPattern returns the end of the pattern after the delimiter at the start of s, or -1 if ambiguous.
func sedPattern(s string, how sedReading) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if i++; strings.HasPrefix(s[i:], "c[") && how != sedPlain {
				return -1 // one sign, or brackets
			}
		case s[0]:
			return i
		case '[':
			if how == sedPlain {
				continue
			}
			end := sedBracketEnd(s[i:], how)
			if end < 0 {
				return -1
			}
			i += end
		}
	}
	return -1
}

// sedBracketEnd returns the end of the brackets at the start of s, or -1.
func sedBracketEnd(s string, how sedReading) int {
	i := 1
	if strings.HasPrefix(s[i:], "^") {
		i++
	}
	if strings.HasPrefix(s[i:], "]") {
		i++
	}
	for ; i < len(s); i++ {
		switch s[i] {
		case ']':
			return i
		case '\\':
			if how == sedEscapes {
				i++
			}
		case '[':
			if i+1 == len(s) || strings.IndexByte(":.=", s[i+1]) < 0 {
				continue
			}
			if end := strings.Index(s[i+2:], s[i+1:i+2]+"]"); end >= 0 { // [:alpha:]
				i += 2 + end + 1
			}
		}
	}
	return -1
}

// sedSubstitution parses /a/b/flags: the replacement, the flags, and the rest.
func sedSubstitution(s string, how sedReading) (with, flags, rest string, ok bool) {
	if len(s) < 3 || s[0] == '\\' || s[0] == '\n' {
		return "", "", "", false
	}
	from := sedPattern(s, how) + 1
	if from == 0 {
		return "", "", "", false
	}
	mark, i := s[0], from
	for i < len(s) && s[i] != mark {
		if s[i] == '\\' {
			i++
		}
		i++
	}
	if i++; i > len(s) {
		return "", "", "", false
	}
	with = strings.ReplaceAll(s[from:i-1], `\`+string(mark), string(mark))
	rest = strings.TrimLeft(s[i:], "gpIiMme0123456789 \t")
	flags = s[i : len(s)-len(rest)]
	if strings.HasPrefix(rest, "w") {
		file, after, _ := strings.Cut(rest, "\n")
		return with, flags + file, after, true
	}
	return with, flags, rest, rest == "" || strings.IndexByte(";\n}#", rest[0]) >= 0
}

// sedReads reports whether a sed script consists of commands that are known to only print.
func sedReads(text string) bool {
	for how := range sedReadings {
		list, ok, _ := sedCommands(text, how)
		for _, c := range list {
			if strings.IndexByte("erRwW", c.name) >= 0 || c.name == 's' && strings.ContainsAny(c.flags, "ew") {
				return false
			}
		}
		if !ok {
			return false
		}
	}
	return true
}

// sed judges the commands that a sed script runs, and the files that it writes.
func (cr *codeReader) sed(text string, x *invocation) {
	var judged []sedCommand
	clear := true
	for how := range sedReadings {
		list, ok, substitutes := sedCommands(text, how)
		if how == sedBrackets || len(list) > 0 && !slices.Equal(list, judged) {
			judged = list
			cr.sedRuns(list, x)
		}
		clear = clear && ok
		if substitutes && how == sedBrackets {
			cr.unknown(x.argv, "how far a substitution of sed goes is not clear, and it can run what it makes")
			return
		}
	}
	if clear {
		return
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(text, ";", "\n"), "\n") {
		line = strings.TrimLeft(line, " \t0123456789,$!~+{")
		if rest, ok := strings.CutPrefix(line, "e "); ok {
			cr.shellText(rest, "sed")
		}
	}
	for _, p := range devicePath.FindAllString(text, 20) {
		if cr.deviceDanger(p) == fatal && strings.Contains(text, "w") {
			cr.unknown(x.argv, "it may write over a disk")
		}
	}
}

// sedRuns judges the commands of a script.
func (cr *codeReader) sedRuns(list []sedCommand, x *invocation) {
	for _, c := range list {
		switch {
		case c.name == 'e' && c.arg != "":
			cr.shellText(c.arg, "sed")
		case c.name == 'e':
			cr.unknown(x.argv, "sed runs the lines that it reads")
		case c.name == 's' && strings.Contains(strings.SplitN(c.flags, "w", 2)[0], "e"):
			cr.unknown(x.argv, "sed runs what the substitution makes")
			cr.judgePossibleShell(c.arg, "sed")
		case c.name == 'w' || c.name == 'W':
			cr.judgeWritten(c.arg)
		}
		if _, file, has := strings.Cut(c.flags, "w"); has && c.name == 's' {
			cr.judgeWritten(strings.TrimLeft(file, " \t"))
		}
	}
}

// judgeWritten judges a file that a script writes.
func (cr *codeReader) judgeWritten(file string) {
	if file != "" {
		cr.writeTo(file)
	}
}

// awkReads reports whether awk code, outside of its strings and patterns, neither writes nor runs anything.
func awkReads(text string) bool {
	bare, ok := bareAwk(text)
	if !ok {
		return false
	}
	for _, word := range []string{"system", "getline", "close", "fflush", "@", "ENVIRON", "PROCINFO", "SYMTAB", "FUNCTAB"} {
		if strings.Contains(bare, word) {
			return false
		}
	}
	// "|" starts a program, but "||" does not; ">" after print writes, in parentheses it compares.
	bare = strings.ReplaceAll(bare, "||", "")
	if strings.Contains(bare, "|") {
		return false
	}
	return !awkPrintsTo(bare)
}

// awkPrintsTo reports whether awk code without strings and patterns prints into files. In other places, and in
// parentheses, ">" compares.
func awkPrintsTo(bare string) bool {
	for rest := bare; ; {
		i := strings.Index(rest, "print")
		if i < 0 {
			return false
		}
		rest = rest[i+5:]
		depth := 0
		for _, c := range rest {
			switch c {
			case '(', '[':
				depth++
			case ')', ']':
				depth--
			case '>':
				if depth <= 0 {
					return true
				}
			}
			if depth <= 0 && (c == ';' || c == '}') { // a statement may continue in the next line
				break
			}
		}
	}
}

// awkPipe matches a command that awk runs by a pipe and that is not literal: a variable, an element, an expression.
var awkPipe = pattern.Lazy(`(\w+|[\])])\s*\|&?\s*getline|[^|]\|&?\s*([A-Za-z_$(]\w*)`)

// awkPipes requires approval for commands that awk reads from or prints to and builds at run time.
func (cr *codeReader) awkPipes(text string, x *invocation) {
	bare, ok := bareAwk(text)
	if !ok || strings.Contains(bare, "|") || strings.Contains(bare, "system") {
		cr.awkVariables(text, x)
	}
	if !ok || !strings.Contains(bare, "|") {
		return
	}
	written := map[string]bool{"getline": true, "": true}
	for _, m := range assignment.FindAllStringSubmatch(text, 200) {
		written[m[1]] = true
	}
	for _, m := range awkPipe.FindAllStringSubmatch(strings.ReplaceAll(bare, "||", "  "), maxCalls) {
		if !written[m[1]+m[2]] {
			cr.unknown(x.argv, "which program "+x.name+" runs is not known before it runs")
			return
		}
	}
}

// awkVariables requires approval for variables passed to code that runs programs: they may name those programs.
func (cr *codeReader) awkVariables(text string, x *invocation) {
	for i, a := range x.argv[1:] {
		if option := x.argv[i]; option != "-v" && option != "--assign" {
			a = strings.TrimPrefix(strings.TrimPrefix(a, "--assign="), "-v")
		}
		if name, value, ok := strings.Cut(a, "="); ok && syntax.ValidName(name) {
			cr.downgradeDenials(func() { cr.source(value) })
		}
	}
	for range maxCalls {
		_, after, found := strings.Cut(text, "ENVIRON[")
		if !found {
			break
		}
		name, rest, _ := strings.Cut(after, "]")
		cr.downgradeDenials(func() { cr.source(cr.scope.get(strings.Trim(name, " \t\"")).text) })
		text = rest
	}
}

// bareAwk returns awk code without comments, strings and patterns. It reports false for ambiguous code: awks disagree
// whether "/" within brackets ends a pattern, and after ")" and "++" only the grammar separates a division from a
// pattern.
func bareAwk(text string) (string, bool) {
	var b strings.Builder
	last := byte('\n') // the last byte that is no blank
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text) && text[i+1] == '\n':
			i++
			continue
		case c == '#':
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
			continue
		case c == '"':
			end := quotedEnd(text, i+1, '"')
			if end < 0 {
				return "", false
			}
			b.WriteString(`""`)
			i, last = end, '"'
			continue
		case c == '/' && (last == ')' || last == '+' || last == '-'):
			if strings.Contains(text[i+1:], "/") {
				return "", false
			}
		case c == '/' && !endsInValue(last, &b):
			end := quotedEnd(text, i+1, '/')
			if end < 0 || continuesInBrackets(text[i+1:end]) {
				return "", false
			}
			b.WriteString("//")
			i, last = end, '"'
			continue
		}
		b.WriteByte(c)
		if c != ' ' && c != '\t' && c != '\r' {
			last = c
		}
	}
	return b.String(), true
}

// endsInValue reports whether the code read so far ends with a value, after which "/" divides.
func endsInValue(last byte, read *strings.Builder) bool {
	switch {
	case last == '"', last == ']', last == '_', last == '.', last >= '0' && last <= '9':
		return true
	case last >= 'a' && last <= 'z' || last >= 'A' && last <= 'Z':
		text := strings.TrimRight(read.String(), " \t\r")
		from := len(text)
		for from > 0 && isWord(text[from-1]) {
			from--
		}
		switch text[from:] {
		case "print", "printf", "return", "in", "case", "do", "else", "exit", "delete", "getline":
			return false
		}
		return true
	}
	return false
}

// quotedEnd returns the end of a string or pattern, or -1 if it does not end in its line.
func quotedEnd(text string, i int, end byte) int {
	for ; i < len(text) && text[i] != '\n'; i++ {
		switch text[i] {
		case '\\':
			i++
		case end:
			return i
		}
	}
	return -1
}

// continuesInBrackets reports whether a pattern would continue if "/" were allowed within brackets.
func continuesInBrackets(p string) bool {
	return sedPattern("/"+p+"/", sedBrackets) <= len(p) || sedPattern("/"+p+"/", sedEscapes) <= len(p)
}
