package prompt

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Subject is a kind of thing that can be completed.
type Subject string

// Subjects.
const (
	Files    Subject = "files"
	Commands Subject = "commands"
	Sessions Subject = "sessions"
	Themes   Subject = "themes"
	Layouts  Subject = "layouts"
)

// Completer lists completions. It is called when Tab is pressed and must return at once.
type Completer interface {
	// Complete returns the completions of a word; directories end in a slash.
	Complete(what Subject, word string) []string
}

// maxChoices limits the candidates of a completion.
const maxChoices = 500

// choice is a completion with several candidates.
type choice struct {
	from       int // start of the word in the line
	candidates []string
	at         int // index of the candidate in the line; -1: none yet
	escape     bool
}

// complete completes the word before the cursor.
func (p *Prompt) complete() {
	from, what, escape := p.subject()
	word := p.line.text[from:p.line.cursor]
	if escape {
		word = unescape(word)
	}
	list := p.candidates(what, word)
	if len(list) == 0 {
		p.message = "no completions"
		return
	}
	common := list[0]
	for _, c := range list[1:] {
		common = commonPrefix(common, c)
	}
	single := len(list) == 1
	if len(common) > len(word) || single {
		if single && !strings.HasSuffix(common, "/") {
			p.put(from, common, escape)
			p.line.insert(" ")
			return
		}
		p.put(from, common, escape)
	}
	if !single {
		p.choice = &choice{from: from, candidates: list, at: -1, escape: escape}
	}
}

// subject returns the kind and the start of the word before the cursor.
func (p *Prompt) subject() (from int, what Subject, escape bool) {
	before := p.line.text[:p.line.cursor]
	from = wordStart(before, p.shell)
	head := strings.TrimRightFunc(before[:from], unicode.IsSpace)
	if p.shell {
		word := before[from:]
		starts := head == "" || strings.ContainsRune("|&;(", rune(head[len(head)-1]))
		if starts && !strings.Contains(word, "/") {
			return from, Commands, true
		}
		return from, Files, true
	}
	if !strings.HasPrefix(before, "/") {
		return from, Files, false
	}
	name, _, args := strings.Cut(before[1:], " ")
	if !args {
		return 0, "slashes", false
	}
	for _, c := range p.o.Slashes {
		if c.Name == name {
			return from, c.Complete, false
		}
	}
	return from, "", false
}

// wordStart returns the start of the last word of a text. In a shell, a backslash escapes a blank.
func wordStart(text string, shell bool) int {
	for i := len(text); i > 0; {
		r, n := utf8.DecodeLastRuneInString(text[:i])
		hidden := shell && i-n > 0 && text[i-n-1] == '\\'
		if !hidden && (unicode.IsSpace(r) || shell && strings.ContainsRune("|&;()<>=", r)) {
			return i
		}
		i -= n
	}
	return 0
}

func (p *Prompt) candidates(what Subject, word string) []string {
	var list []string
	switch {
	case what == "slashes":
		for _, c := range p.o.Slashes {
			list = append(list, "/"+c.Name)
		}
	case p.o.Completer != nil && what != "":
		list = p.o.Completer.Complete(what, word)
	}
	list = slices.DeleteFunc(slices.Clone(list), func(s string) bool { return !strings.HasPrefix(s, word) || strings.ContainsFunc(s, unicode.IsControl) })
	slices.Sort(list)
	list = slices.Compact(list)
	return list[:min(len(list), maxChoices)]
}

// put replaces the word that starts at from.
func (p *Prompt) put(from int, text string, escape bool) {
	if escape {
		text = escapeWord(text)
	}
	p.line.save(false)
	p.line.cut(from, p.line.cursor)
	p.line.insert(text)
}

// choiceKey handles a key while candidates are shown. It returns false for other keys.
func (p *Prompt) choiceKey(name string) bool {
	c := p.choice
	switch name {
	case "Tab", "Down":
		c.at = (c.at + 1) % len(c.candidates)
	case "Backtab", "Up":
		c.at = (max(c.at, 0) + len(c.candidates) - 1) % len(c.candidates)
	case "Enter":
		if c.at < 0 {
			return false
		}
		p.endCompletion()
		return true
	case "Esc":
		p.endCompletion()
		return true
	default:
		return false
	}
	p.put(c.from, c.candidates[c.at], c.escape)
	return true
}

func (p *Prompt) endCompletion() { p.choice = nil }

func commonPrefix(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && !utf8.RuneStart(a[n]) {
		n--
	}
	return a[:n]
}

// special lists the characters that a shell interprets.
const special = " \t\\'\"`$&|;<>()*?[]{}!#~"

func escapeWord(s string) string {
	var b strings.Builder
	for i, r := range s {
		if strings.ContainsRune(special, r) && (r != '~' || i > 0) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
