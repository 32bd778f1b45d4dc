//go:build unix

package tmuxcompat

import (
	"path"
	"strconv"
	"strings"
	"time"
)

// shortNames maps one-letter format variables to their long names.
var shortNames = map[byte]string{
	'D': "pane_id", 'F': "window_flags", 'H': "host", 'h': "host_short", 'I': "window_index", 'P': "pane_index",
	'S': "session_name", 'T': "pane_title", 'W': "window_name",
}

// maxFormat limits the nesting of formats, which come from callers.
const maxFormat = 20

// expand replaces the variables of a format by their values.
func expand(format string, value func(string) string) string { return expandAt(format, value, 0) }

func expandAt(format string, value func(string) string, depth int) string {
	if depth > maxFormat {
		return ""
	}
	var out strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '#' || i+1 == len(format) {
			out.WriteByte(format[i])
			continue
		}
		i++
		switch c := format[i]; {
		case c == '{':
			end := closing(format, i)
			if end < 0 {
				return out.String()
			}
			out.WriteString(evaluate(format[i+1:end], value, depth+1))
			i = end
		case c == '(': // a command's output: nothing is run for a format
			if end := strings.IndexByte(format[i:], ')'); end >= 0 {
				i += end
			}
		case c == '#' || c == ',' || c == '}':
			out.WriteByte(c)
		case c == '[': // colours of a status line
			out.WriteString("#[")
		case shortNames[c] != "":
			out.WriteString(value(shortNames[c]))
		default:
			out.WriteByte('#')
			out.WriteByte(c)
		}
	}
	return out.String()
}

// closing returns the index of the } that matches a {, or -1.
func closing(s string, open int) int {
	for i, depth := open, 0; i < len(s); i++ {
		switch {
		case s[i] == '#' && i+1 < len(s) && (s[i+1] == '{' || s[i+1] == '}' || s[i+1] == ',' || s[i+1] == '#'):
			if i++; s[i] == '{' {
				depth++
			}
		case s[i] == '{' && i == open:
			depth++
		case s[i] == '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// splitParts splits s at commas outside of braces.
func splitParts(s string) (all []string) {
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '#' && i+1 < len(s) && s[i+1] != '{':
			i++
		case s[i] == '{':
			depth++
		case s[i] == '}':
			depth--
		case s[i] == ',' && depth == 0:
			all, from = append(all, s[from:i]), i+1
		}
	}
	return append(all, s[from:])
}

// truth reports whether tmux takes a value as true: neither empty nor 0.
func truth(s string) bool { return s != "" && s != "0" }

func bit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// evaluate returns the value of the expression between #{ and }.
func evaluate(s string, value func(string) string, depth int) string {
	if rest, ok := strings.CutPrefix(s, "?"); ok {
		p := splitParts(rest)
		cond := p[0]
		if strings.ContainsAny(cond, "#{") {
			cond = expandAt(cond, value, depth)
		} else {
			cond = value(cond)
		}
		switch {
		case truth(cond) && len(p) > 1:
			return expandAt(p[1], value, depth)
		case !truth(cond) && len(p) > 2:
			return expandAt(p[2], value, depth)
		}
		return ""
	}
	modifier, rest, ok := strings.Cut(s, ":")
	if !ok {
		return value(s)
	}
	if modifier == "S" || modifier == "W" || modifier == "P" {
		return value(loop + modifier + rest) // of each session, window or pane
	}
	both := func() (a, b string) {
		p := append(splitParts(rest), "")
		return expandAt(p[0], value, depth), expandAt(p[1], value, depth)
	}
	text := func() string { // a variable's name, or a format
		if strings.Contains(rest, "#") {
			return expandAt(rest, value, depth)
		}
		return evaluate(rest, value, depth+1)
	}
	switch modifier {
	case "==":
		a, b := both()
		return bit(a == b)
	case "!=":
		a, b := both()
		return bit(a != b)
	case "||":
		a, b := both()
		return bit(truth(a) || truth(b))
	case "&&":
		a, b := both()
		return bit(truth(a) && truth(b))
	case "m":
		pattern, text := both()
		matched, _ := path.Match(pattern, text) // an invalid pattern matches nothing
		return bit(matched)
	case "l":
		return rest
	case "b":
		return path.Base(text())
	case "d":
		return path.Dir(text())
	case "n":
		return strconv.Itoa(len(text()))
	case "q":
		return quoteShell(text())
	case "E", "T":
		return expandAt(text(), value, depth)
	case "t":
		n, err := strconv.ParseInt(text(), 10, 64)
		if err != nil {
			return ""
		}
		return time.Unix(n, 0).Format(time.ANSIC)
	}
	if out, ok := operate(modifier, both, text); ok {
		return out
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(modifier, "=")); err == nil && modifier[0] == '=' {
		return truncate([]rune(text()), n)
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(modifier, "p")); err == nil && modifier[0] == 'p' && n > -1000 && n < 1000 {
		s := text()
		pad := strings.Repeat(" ", max(0, max(n, -n)-len([]rune(s))))
		if n < 0 {
			return pad + s
		}
		return s + pad
	}
	return ""
}

// truncate returns the first n characters of a text, or the last -n if n is negative.
func truncate(s []rune, n int) string {
	switch {
	case n >= 0 && n < len(s):
		return string(s[:n])
	case n < 0 && -n > 0 && -n < len(s):
		return string(s[len(s)+n:])
	}
	return string(s)
}

// quoteShell puts a backslash before characters that are special to a shell.
func quoteShell(s string) string {
	var out strings.Builder
	for _, r := range s {
		if strings.ContainsRune("|&;<>()$`\\\"'*?[# =%", r) {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}
