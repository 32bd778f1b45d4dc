package building

import (
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// token matches one piece of an expression: a text without interpolation, a number, a dotted name, or an operator.
var token = pattern.Lazy(`^(?:"(?:[^"\\{]|\\.)*"|'(?:[^'\\{]|\\.)*'|0[xX][0-9a-fA-F]+|[0-9]+(?:\.[0-9]+)?(?:e[0-9]+)?|[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*|[-+*/%(),.\[\]:<>!&|? ]|==|!=|<=|>=)`)

// language is the known part of a language. A name in an expression must be one of these: other names may mean code,
// set by a loop or as a method. Lists are words separated by blanks.
type language struct {
	functions string // which only compute and print, by their names
	methods   string // the same, behind a dot
	values    string
	operators string // operators that are words
}

var (
	python = &language{
		functions: "print len str int float bool round sum min max sorted reversed repr abs range list dict set tuple hex oct bin ord type divmod pow any all zip enumerate",
		methods:   "is_available device_count upper lower strip split join",
		values: "True False None sys.version sys.version_info sys.version_info.major sys.version_info.minor sys.executable sys.path sys.platform sys.prefix " +
			"sys.base_prefix sys.maxsize sys.byteorder sys.argv os.name os.sep math.pi math.e math.inf torch.version.cuda",
		operators: "and or not in is if else",
	}
	node = &language{
		functions: "parseInt parseFloat Number String Boolean",
		methods:   "log stringify isInteger floor ceil round sqrt toFixed toString toUpperCase toLowerCase",
		values: "true false null undefined process.version process.versions process.versions.node process.versions.v8 process.platform process.arch process.argv " +
			"process.execPath Math.PI Math.E Number.MAX_SAFE_INTEGER",
		operators: "typeof",
	}
)

// IsPure reports whether code of a language only computes and prints: imports, and expressions with only harmless calls.
// It knows a small part of each language and rejects the rest.
func IsPure(lang, code string) bool {
	known := map[string]*language{"python": python, "node": node}[lang]
	if known == nil || len(code) > 4096 || strings.ContainsAny(code, "\n\r`") {
		return false
	}
	statements := strings.Split(code, ";")
	return !slices.ContainsFunc(statements, func(s string) bool {
		s = strings.TrimSpace(s)
		return s != "" && !(known == python && imports(s)) && !known.isExpression(s)
	})
}

// imports reports whether a statement imports modules under their own names.
func imports(s string) bool {
	modules, is := strings.CutPrefix(s, "import ")
	return is && !slices.ContainsFunc(strings.Split(modules, ","), func(m string) bool {
		m = strings.TrimSpace(m)
		return m == "" || strings.Contains(m, "__") || token.FindString(m) != m || !isName(m)
	})
}

// isExpression reports whether text is an expression with known names only.
func (l *language) isExpression(text string) bool {
	before := ""
	for text != "" {
		t := token.FindString(text)
		if t == "" {
			return false
		}
		text = text[len(t):]
		switch {
		case t == " ":
			continue
		case isName(t) && !l.knows(t, before, text), isText(t) && (isText(before) || isName(before) && !l.isOperator(before)):
			return false // also a prefix that gives a text another meaning, and """
		case isName(t) && (isText(before) || isName(before) && !l.isOperator(before)) && !l.isOperator(t):
			return false // two words of a statement
		case t == "/" && l == node && (before == "" || !strings.Contains("0123456789)]", before[len(before)-1:]) || isName(before)),
			t == "*" && l == node && before == "/":
			return false // it may start a pattern or a comment, in which quotes have no meaning
		case t == "(" && before != "" && !strings.Contains("(,[+-*/%<>=!&|?:", before[len(before)-1:]) && !isName(before):
			return false // a value is called
		}
		before = t
	}
	return true
}

// knows reports whether a name is known and properly used: functions only called, other names never.
func (l *language) knows(name, before, after string) bool {
	if l.isOperator(name) {
		return before != "."
	}
	if !strings.HasPrefix(strings.TrimLeft(after, " "), "(") {
		return before != "." && listHas(l.values, name)
	}
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 || before == "." {
		return !strings.Contains(name, "__") && listHas(l.methods, name[dot+1:])
	}
	return listHas(l.functions, name)
}

// isOperator reports whether a word is an operator.
func (l *language) isOperator(t string) bool { return listHas(l.operators, t) }

// isName reports whether a token is a name.
func isName(t string) bool {
	return t != "" && (t[0] == '_' || t[0] >= 'a' && t[0] <= 'z' || t[0] >= 'A' && t[0] <= 'Z')
}

// isText reports whether a token is a quoted text.
func isText(t string) bool { return t != "" && (t[0] == '"' || t[0] == '\'') }
