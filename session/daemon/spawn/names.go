//go:build unix

package spawn

import (
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/api"
)

// isName reports whether a name is valid: first a letter, digit or _, then also . : @ + and -.
func isName(name string) bool {
	for i, r := range name {
		if unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_' || i > 0 && strings.ContainsRune(".:@+-", r) {
			continue
		}
		return false
	}
	return name != ""
}

// CheckName returns an error for an invalid session name.
func CheckName(name string) error {
	if len(name) > 128 || !isName(name) {
		return api.Errorf(api.CodeInvalid, "session name %q", name).
			WithHint("use letters, digits and _ . : @ + -, not more than 128 bytes, beginning with a letter, digit or _")
	}
	return nil
}

// CheckLabels returns an error for invalid labels.
func CheckLabels(labels map[string]string) error {
	for k, v := range labels {
		if !isName(k) || len(k) > 128 || len(v) > 1024 || !utf8.ValidString(v) || strings.ContainsFunc(v, isUnprintable) {
			return api.Errorf(api.CodeInvalid, "label %q", k).
				WithHint("names use letters, digits and _ . : @ + -; values have at most 1024 bytes of printable characters")
		}
	}
	return nil
}

// isUnprintable reports whether a rune must not be in a name or label.
func isUnprintable(r rune) bool { return !unicode.IsPrint(r) }

// program returns the word of a line that names its program: the first after variable assignments.
func program(words []string) string {
	for i := 0; i < len(words); i++ {
		name, value, set := strings.Cut(words[i], "=")
		if !set || !isName(name) {
			return words[i]
		}
		if q := strings.TrimLeft(value, `"'`); q != value { // its blanks are no ends
			for quote := value[:1]; i < len(words)-1 && (words[i] == name+"="+quote || !strings.HasSuffix(words[i], quote)); {
				i++
			}
		}
	}
	return words[0]
}

// NameFor makes a name from a command: its program's.
func NameFor(argv []string) string {
	base := filepath.Base(argv[0])
	if len(argv) > 2 && argv[1] == "-c" {
		if f := strings.Fields(argv[2]); len(f) > 0 {
			base = filepath.Base(program(f))
		}
	}
	clean := strings.Map(func(r rune) rune {
		if isName(string(r)) {
			return r
		}
		return -1
	}, base)
	if clean == "" {
		return "session"
	}
	return clean[:min(len(clean), 40)]
}
