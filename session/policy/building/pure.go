package building

import (
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// token is one piece of an expression: a text without what is put into it, a number, a name with its dots, or a sign.
var token = pattern.Lazy(`^(?:"(?:[^"\\{]|\\.)*"|'(?:[^'\\{]|\\.)*'|[0-9][0-9a-zA-Z_.]*|[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*|[-+*/%(),.\[\]:<>!&|? ]|==|!=|<=|>=)`)

// Functions that only compute and print, by the last part of their names.
const (
	harmlessPython = "print len str int float bool round sum min max sorted reversed repr abs range list dict set tuple hex oct bin ord type divmod pow any all zip " +
		"enumerate is_available device_count upper lower strip split join"
	harmlessNode = "log stringify parseInt parseFloat Number String Boolean isInteger floor ceil round sqrt toFixed toString toUpperCase toLowerCase"
)

// Pure reports whether code of a language only computes and prints: imports, and expressions that call nothing but what
// does neither write nor run anything. It knows a small part of each language, and says no to the rest.
func Pure(lang, code string) bool {
	var calls []string
	switch lang {
	case "python":
		calls = strings.Fields(harmlessPython)
	case "node":
		calls = strings.Fields(harmlessNode)
	}
	if calls == nil || len(code) > 4096 || strings.ContainsAny(code, "\n\r`") {
		return false
	}
	statements := strings.Split(code, ";")
	return !slices.ContainsFunc(statements, func(s string) bool {
		s = strings.TrimSpace(s)
		return s != "" && !(lang == "python" && imports(s)) && !expression(s, calls)
	})
}

// imports reports a statement that imports modules, by their own names.
func imports(s string) bool {
	modules, is := strings.CutPrefix(s, "import ")
	return is && !slices.ContainsFunc(strings.Split(modules, ","), func(m string) bool {
		m = strings.TrimSpace(m)
		return m == "" || token.FindString(m) != m || !isName(m)
	})
}

// expression reports whether text is one that calls only some functions.
func expression(text string, calls []string) bool {
	before := ""
	for text != "" {
		t := token.FindString(text)
		if t == "" || strings.Contains(t, "__") || t == "lambda" || t == "await" || t == "yield" || t == "new" || t == "delete" {
			return false
		}
		text = text[len(t):]
		switch {
		case t == " ":
			continue
		case isName(t) && (isText(before) || isName(before) && !operator(before) && !operator(t)), isText(t) && isName(before) && !operator(before):
			return false // a prefix that gives a text another meaning, or two words of a statement
		case t == "(" && before != "" && !strings.Contains("(,[+-*/%<>=!&|?:", before[len(before)-1:]):
			if !isName(before) || !operator(before) && !slices.Contains(calls, before[strings.LastIndexByte(before, '.')+1:]) {
				return false
			}
		}
		before = t
	}
	return true
}

func isName(t string) bool {
	return t != "" && (t[0] == '_' || t[0] >= 'a' && t[0] <= 'z' || t[0] >= 'A' && t[0] <= 'Z')
}
func isText(t string) bool { return t != "" && (t[0] == '"' || t[0] == '\'') }

// operator reports words that stand between others.
func operator(t string) bool {
	return slices.Contains([]string{"and", "or", "not", "in", "is", "if", "else", "for", "typeof"}, t)
}
