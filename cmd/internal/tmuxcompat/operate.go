//go:build unix

package tmuxcompat

import (
	"regexp"
	"strconv"
	"strings"
)

// loop is the prefix that marks a loop over sessions (S), windows (W) or panes (P) in place of a variable's name.
const loop = "\x00"

// operate evaluates modifiers with arguments: #{e|+:1,2}, #{s/a/b/:x}, #{m/r:a,b}, #{=/3/…:x}, #{<:a,b}.
func operate(modifier string, both func() (a, b string), text func() string) (string, bool) {
	switch modifier {
	case "<", ">", "<=", ">=":
		a, b := both()
		return bit(matchesOrder(modifier, strings.Compare(a, b))), true
	case "w":
		return strconv.Itoa(len([]rune(text()))), true
	}
	if len(modifier) < 3 {
		return "", false
	}
	words := strings.Split(modifier[2:], modifier[1:2])
	switch kind := modifier[0]; {
	case kind == 'e':
		a, b := both()
		return calculate(words[0], a, b), true
	case kind == 'm':
		pattern, text := both()
		if strings.Contains(words[0], "i") {
			pattern = "(?i)" + pattern
		}
		r, err := regexp.Compile(pattern)
		return bit(err == nil && r.MatchString(text)), true
	case kind == 's' && len(words) > 1:
		r, err := regexp.Compile(words[0])
		if err != nil {
			return text(), true
		}
		return r.ReplaceAllString(text(), references(words[1])), true
	case kind == '=' && len(words) > 1:
		n, err := strconv.Atoi(words[0])
		s := []rune(text())
		cut := truncate(s, n)
		switch {
		case err != nil || cut == string(s):
			return string(s), true
		case n < 0:
			return words[1] + cut, true
		}
		return cut + words[1], true
	}
	return "", false
}

// references converts groups \1 to \9 in a replacement to regexp's form.
func references(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '$':
			out.WriteString("$$")
		case text[i] == '\\' && i+1 < len(text) && text[i+1] >= '0' && text[i+1] <= '9':
			i++
			out.WriteString("${" + text[i:i+1] + "}")
		default:
			out.WriteByte(text[i])
		}
	}
	return out.String()
}

func matchesOrder(how string, order int) bool {
	switch how {
	case "<":
		return order < 0
	case ">":
		return order > 0
	case "<=":
		return order <= 0
	}
	return order >= 0
}

// calculate returns the result for two whole numbers, or "" for other operands.
func calculate(how, a, b string) string {
	x, err := strconv.ParseInt(a, 10, 64)
	y, other := strconv.ParseInt(b, 10, 64)
	if err != nil || other != nil {
		return ""
	}
	switch how {
	case "+":
		return strconv.FormatInt(x+y, 10)
	case "-":
		return strconv.FormatInt(x-y, 10)
	case "*":
		return strconv.FormatInt(x*y, 10)
	case "/", "m", "%", "%%":
		switch {
		case y == 0:
			return ""
		case how == "/":
			return strconv.FormatInt(x/y, 10)
		}
		return strconv.FormatInt(x%y, 10)
	case "==":
		return bit(x == y)
	case "!=":
		return bit(x != y)
	case "<", ">", "<=", ">=":
		order := 0
		if x != y {
			order = 1
			if x < y {
				order = -1
			}
		}
		return bit(matchesOrder(how, order))
	}
	return ""
}
