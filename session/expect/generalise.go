package expect

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/pattern"
	"go.yaml.in/yaml/v3"
)

// Prompts are rarely the same twice: they have the time in them, a directory, a count.

// varying are the parts of a prompt that vary, and what stands for them. The first that
// matches somewhere is taken.
var varying = []struct{ part, instead string }{
	{`\d{4}-\d{2}-\d{2}`, `\d{4}-\d{2}-\d{2}`},
	{`\d{1,2}:\d{2}(?::\d{2})?`, `\d{1,2}:\d{2}(:\d{2})?`},
	{`\b[0-9a-f]*\d[0-9a-f]*[a-f][0-9a-f]{5,}\b|\b[0-9a-f]*[a-f][0-9a-f]*\d[0-9a-f]{5,}\b`, `[0-9a-f]+`},
	{`(?:^|[\s:(\["'])(?:~|\.{0,2}/)[^\s:$#>)\]"']*`, `\S+`}, // the character before it is kept
	{`\d+(?:\.\d+)*`, `[\d.]+`},
}

var varyingPart = pattern.Lazy(func() string {
	var parts []string
	for _, v := range varying {
		parts = append(parts, "("+v.part+")")
	}
	return strings.Join(parts, "|")
}())

const (
	// maxPrompt is how much of a prompt is looked for, in characters.
	maxPrompt = 80
	// plainPrompt is how long a prompt must be to be told from other output without
	// looking at where it stands.
	plainPrompt = 6
)

// generalise is a pattern that matches a prompt, and the same prompt another time.
func generalise(prompt string) Pattern {
	begin := "^"
	for utf8.RuneCountInString(prompt) > maxPrompt {
		_, n := utf8.DecodeRuneInString(prompt)
		prompt, begin = prompt[n:], ""
	}
	var b strings.Builder
	at := 0
	for _, m := range varyingPart.FindAllStringSubmatchIndex(prompt, -1) {
		from, instead := m[0], ""
		for i, v := range varying {
			if m[2+2*i] >= 0 {
				instead = v.instead
			}
		}
		if instead == `\S+` && !strings.ContainsRune("~./", rune(prompt[from])) {
			from++ // what stands before a path
		}
		b.WriteString(quote(prompt[at:from]) + instead)
		at = m[1]
	}
	if at == 0 && len(strings.TrimSpace(prompt)) >= plainPrompt {
		return Pattern{Text: prompt}
	}
	b.WriteString(quote(prompt[at:]))
	return Pattern{Regexp: begin + b.String() + "$"}
}

// quote makes text part of a regexp in a template.
func quote(s string) string { return literal(regexp.QuoteMeta(s)) }

// node is a pattern as it is written.
func (p Pattern) node() *yaml.Node {
	if p.Text != "" {
		return text(literal(p.Text))
	}
	return mapping("regexp", text(p.Regexp))
}
