package building

import (
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// token is one piece of an expression: a text without what is put into it, a number, a name with its dots, or a sign.
var token = pattern.Lazy(`^(?:"(?:[^"\\{]|\\.)*"|'(?:[^'\\{]|\\.)*'|0[xX][0-9a-fA-F]+|[0-9]+(?:\.[0-9]+)?(?:e[0-9]+)?|[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*|[-+*/%(),.\[\]:<>!&|? ]|==|!=|<=|>=)`)

// language is the part of a language that is known. A name in an expression is one of these: what else a name means may be code
// that a value is given to, by a loop or as a method of a class. Lists are words separated by blanks.
type language struct {
	functions string // which only compute and print, by their names
	methods   string // the same, behind a dot
	values    string
	operators string // words that stand between others
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

// Pure reports whether code of a language only computes and prints: imports, and expressions that call nothing but what
// does neither write nor run anything. It knows a small part of each language, and says no to the rest.
func Pure(lang, code string) bool {
	known := map[string]*language{"python": python, "node": node}[lang]
	if known == nil || len(code) > 4096 || strings.ContainsAny(code, "\n\r`") {
		return false
	}
	statements := strings.Split(code, ";")
	return !slices.ContainsFunc(statements, func(s string) bool {
		s = strings.TrimSpace(s)
		return s != "" && !(known == python && imports(s)) && !known.expression(s)
	})
}

// imports reports a statement that imports modules, by their own names.
func imports(s string) bool {
	modules, is := strings.CutPrefix(s, "import ")
	return is && !slices.ContainsFunc(strings.Split(modules, ","), func(m string) bool {
		m = strings.TrimSpace(m)
		return m == "" || strings.Contains(m, "__") || token.FindString(m) != m || !isName(m)
	})
}

// expression reports whether text is one that names only what is known.
func (l *language) expression(text string) bool {
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
		case isName(t) && !l.knows(t, before, text), isText(t) && (isText(before) || isName(before) && !l.operator(before)):
			return false // also a prefix that gives a text another meaning, and """
		case isName(t) && (isText(before) || isName(before) && !l.operator(before)) && !l.operator(t):
			return false // two words of a statement
		case t == "/" && l == node && (before == "" || !strings.Contains("0123456789)]", before[len(before)-1:]) || isName(before)),
			t == "*" && l == node && before == "/":
			return false // it may begin a pattern or a comment, in which quotes mean nothing
		case t == "(" && before != "" && !strings.Contains("(,[+-*/%<>=!&|?:", before[len(before)-1:]) && !isName(before):
			return false // a value is called
		}
		before = t
	}
	return true
}

// knows reports whether a name stands for what is known, where it stands: functions are only called, and nothing else is.
func (l *language) knows(name, before, after string) bool {
	if l.operator(name) {
		return before != "."
	}
	if !strings.HasPrefix(strings.TrimLeft(after, " "), "(") {
		return before != "." && listed(l.values, name)
	}
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 || before == "." {
		return !strings.Contains(name, "__") && listed(l.methods, name[dot+1:])
	}
	return listed(l.functions, name)
}

// operator reports words that stand between others.
func (l *language) operator(t string) bool { return listed(l.operators, t) }

func isName(t string) bool {
	return t != "" && (t[0] == '_' || t[0] >= 'a' && t[0] <= 'z' || t[0] >= 'A' && t[0] <= 'Z')
}
func isText(t string) bool { return t != "" && (t[0] == '"' || t[0] == '\'') }
